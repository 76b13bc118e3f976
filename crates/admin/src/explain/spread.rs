//! Origin of a number on the ring: slot, raw id, and the epoch that gave it.

use sequent_core::{
    Epoch, Key, Span,
    ledger::{Counter, PastEpoch, Row},
};
use sequent_engine::EngineError;

use super::{Without, before_loss};
use crate::{
    admin::Admin,
    explain::report::{EpochReport, Origin, SpreadOrigin},
};

impl Admin {
    /// The origin of a number of a key, and the same as a sentence. `None` if the key has no such number.
    pub(super) async fn of_ring(
        &self,
        key: Key,
        span: Span,
        number: u64,
    ) -> Result<Option<(Origin, String)>, EngineError> {
        let Some(encoded) = span.encoded(self.layout(), number) else { return Ok(None) };
        let (raw, slot, low) = self.layout().decode(encoded);
        let rows = self.rows_of(&key).await?;
        let counter = Counter { slot, key };
        let row = rows.into_iter().find(|(held, _)| *held == counter).map(|(_, row)| row);
        let history = self.0.within("read the history", self.ledger().history(&counter)).await?;
        let begins = begins(self.0.record.generation, row.as_ref(), &history);
        let (from, history) = begins.map_or((0, &history[..]), |(at, from)| (from, &history[at..]));
        let epoch = epoch_of(raw, row.as_ref(), history);
        let verdict = if raw <= from {
            format!(
                "{number} is from before the ring was resized, when raw ids meant other numbers: given, if at all, by a previous \
                 layout"
            )
        } else {
            let without =
                if epoch.is_none() { self.without(&counter.key, raw).await? } else { Without::Nothing };
            verdict(number, slot, raw, row.as_ref(), (epoch.as_ref(), without))
        };
        Ok(Some((Origin::Spread(SpreadOrigin { encoded, slot, raw, low, epoch }), verdict)))
    }
}

/// The index of the first epoch since the last resize, and the raw id above which the present layout begins.
fn begins(generation: u64, row: Option<&Row>, history: &[PastEpoch]) -> Option<(usize, u64)> {
    let marker = Epoch::of_generation(generation);
    let ended = history.iter().rposition(|past| past.epoch == marker);
    let current = || row.filter(|row| row.epoch == marker).map(|row| (history.len(), row.base));
    ended.map(|at| (at + 1, history[at].ceiling)).or_else(current)
}

/// The epoch whose ids contain `raw`; the one in force is tried first.
fn epoch_of(raw: u64, row: Option<&Row>, history: &[PastEpoch]) -> Option<EpochReport> {
    let in_force = row.filter(|row| raw > row.base && raw <= row.ceiling).map(|row| EpochReport {
        epoch: row.epoch.to_string(),
        base: row.base,
        ceiling: row.ceiling,
        in_force: true,
        seen: Some(raw <= row.seen),
    });
    let past = || {
        history.iter().rev().find(|past| raw > past.base && raw <= past.ceiling).map(|past| EpochReport {
            epoch: past.epoch.to_string(),
            base: past.base,
            ceiling: past.ceiling,
            in_force: false,
            seen: None,
        })
    };
    in_force.or_else(past)
}

fn verdict(
    number: u64,
    slot: u16,
    raw: u64,
    row: Option<&Row>,
    (epoch, without): (Option<&EpochReport>, Without),
) -> String {
    let place = format!("{number} is raw id {raw} of slot {slot}");
    match (row, epoch) {
        (None, None) => format!("{place}, {}", without.unbegun()),
        (_, Some(epoch)) if epoch.seen == Some(true) => {
            format!("{place}, taken in epoch {}, which is in force", epoch.epoch)
        }
        (Some(row), Some(epoch)) if epoch.in_force => {
            let seen = row.seen;
            format!(
                "{place}, permitted in epoch {}, but above the highest reported, {seen}: not given yet, or lately",
                epoch.epoch
            )
        }
        (_, Some(epoch)) => format!("{place}, permitted in epoch {}, which has ended", epoch.epoch),
        (Some(row), None) if raw > row.ceiling => {
            format!("{place}, above the ceiling {}: not given", row.ceiling)
        }
        (Some(_), None) => match without {
            Without::Lost(loss) => {
                format!("{place}, which no epoch on record permitted: {}", before_loss(loss))
            }
            _ => format!("{place}, which no epoch permitted: skipped when an epoch was opened"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::InstanceId;

    fn row(base: u64, ceiling: u64, seen: u64) -> Row {
        let (store, ledger) = (InstanceId::new("s"), InstanceId::new("l"));
        Row { epoch: Epoch::from_stored(9), store, ledger, base, ceiling, seen, opened_at_ms: 0 }
    }

    #[test]
    fn epochs_of_the_layout_before_say_nothing_of_this_one() {
        let past = |epoch, base, ceiling| PastEpoch { epoch, base, ceiling };
        let history = [
            past(Epoch::from_stored(1), 0, 90),
            past(Epoch::of_generation(2), 40, 40),
            past(Epoch::from_stored(2), 40, 60),
        ];
        let row = row(60, 70, 61);
        assert_eq!(begins(2, Some(&row), &history), Some((2, 40)));
        assert_eq!(begins(1, Some(&row), &history[..1]), None);
        let fresh = Row { epoch: Epoch::of_generation(2), ..row };
        assert_eq!(begins(2, Some(&fresh), &history[..1]), Some((1, 60)), "nobody has opened an epoch yet");
    }

    #[test]
    fn a_raw_id_belongs_to_one_epoch_or_to_none() {
        let history = [PastEpoch { epoch: Epoch::from_stored(1), base: 0, ceiling: 5 }];
        let row = row(8, 20, 10);
        let epoch = |raw| epoch_of(raw, Some(&row), &history).map(|epoch| (epoch.in_force, epoch.seen));
        assert_eq!(epoch(5), Some((false, None)));
        assert_eq!(epoch(6), None, "between two epochs");
        assert_eq!(epoch(9), Some((true, Some(true))));
        assert_eq!(epoch(11), Some((true, Some(false))));
        assert_eq!(epoch(21), None);
        let said = |raw| {
            verdict(1, 0, raw, Some(&row), (epoch_of(raw, Some(&row), &history).as_ref(), Without::Nothing))
        };
        assert!(said(7).contains("skipped"), "{}", said(7));
        assert!(said(21).contains("above the ceiling 20"), "{}", said(21));
    }
}
