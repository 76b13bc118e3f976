//! Of a number over the ring: slot, raw id, and the life that gave it.

use sequent_core::{
    Key, Life, Span,
    ledger::{Counter, PastLife, Row},
};

use super::{Without, before_loss};
use crate::{
    EngineError,
    desk::Desk,
    limit::{of_ledger, within},
    report::{LifeReport, Origin, SpreadOrigin},
};

impl Desk {
    /// Where a number of a key comes from, and the same as a sentence; `None`: the key has no such number.
    pub(super) async fn of_ring(
        &self,
        key: Key,
        span: Span,
        number: u64,
    ) -> Result<Option<(Origin, String)>, EngineError> {
        let Some(encoded) = span.encoded(self.layout(), number) else { return Ok(None) };
        let (raw, slot, low) = self.layout().decode(encoded);
        let rows = self.rows_of(&key).await.map_err(|error| of_ledger(&error))?;
        let counter = Counter { slot, key };
        let row = rows.into_iter().find(|(held, _)| *held == counter).map(|(_, row)| row);
        let history = within(self.limit(), "read the history", self.ledger().history(&counter)).await;
        let history = history.map_err(|error| of_ledger(&error))?;
        let begins = begins(self.0.record.epoch, row.as_ref(), &history);
        let (from, history) = begins.map_or((0, &history[..]), |(at, from)| (from, &history[at..]));
        let life = life_of(raw, row.as_ref(), history);
        let verdict = if raw <= from {
            format!(
                "{number} is from before the ring was resized, when raw ids stood for other numbers: given, if at all, by \
                 a layout before this one"
            )
        } else {
            let without =
                if life.is_none() { self.without(&counter.key, raw).await? } else { Without::Nothing };
            verdict(number, slot, raw, row.as_ref(), (life.as_ref(), without))
        };
        Ok(Some((Origin::Spread(SpreadOrigin { encoded, slot, raw, low, life }), verdict)))
    }
}

/// Since the ring was resized: which of the ended lives are of this layout, and the raw id that it begins above.
fn begins(epoch: u64, row: Option<&Row>, history: &[PastLife]) -> Option<(usize, u64)> {
    let marker = Life::of_epoch(epoch);
    let ended = history.iter().rposition(|past| past.life == marker);
    let current = || row.filter(|row| row.life == marker).map(|row| (history.len(), row.base));
    ended.map(|at| (at + 1, history[at].ceiling)).or_else(current)
}

/// The life whose ids hold `raw`; the one in force first.
fn life_of(raw: u64, row: Option<&Row>, history: &[PastLife]) -> Option<LifeReport> {
    let in_force = row.filter(|row| raw > row.base && raw <= row.ceiling).map(|row| LifeReport {
        life: row.life.to_string(),
        base: row.base,
        ceiling: row.ceiling,
        in_force: true,
        seen: Some(raw <= row.seen),
    });
    let past = || {
        history.iter().rev().find(|past| raw > past.base && raw <= past.ceiling).map(|past| LifeReport {
            life: past.life.to_string(),
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
    (life, without): (Option<&LifeReport>, Without),
) -> String {
    let place = format!("{number} is raw id {raw} of slot {slot}");
    match (row, life) {
        (None, None) => format!("{place}, {}", without.unbegun()),
        (_, Some(life)) if life.seen == Some(true) => {
            format!("{place}, taken in life {}, which is in force", life.life)
        }
        (Some(row), Some(life)) if life.in_force => {
            let seen = row.seen;
            format!(
                "{place}, permitted in life {}, but above the highest reported, {seen}: not given yet, or lately",
                life.life
            )
        }
        (_, Some(life)) => format!("{place}, permitted in life {}, which has ended", life.life),
        (Some(row), None) if raw > row.ceiling => {
            format!("{place}, above the ceiling {}: not given", row.ceiling)
        }
        (Some(_), None) => match without {
            Without::Lost(loss) => {
                format!("{place}, which no life on record permitted: {}", before_loss(loss))
            }
            _ => format!("{place}, which no life permitted: skipped when a life was opened"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::Incarnation;

    fn row(base: u64, ceiling: u64, seen: u64) -> Row {
        let (store, ledger) = (Incarnation::new("s"), Incarnation::new("l"));
        Row { life: Life::from_stored(9), store, ledger, base, ceiling, seen, opened_at_ms: 0 }
    }

    #[test]
    fn lives_of_the_layout_before_say_nothing_of_this_one() {
        let past = |life, base, ceiling| PastLife { life, base, ceiling };
        let history = [
            past(Life::from_stored(1), 0, 90),
            past(Life::of_epoch(2), 40, 40),
            past(Life::from_stored(2), 40, 60),
        ];
        let row = row(60, 70, 61);
        assert_eq!(begins(2, Some(&row), &history), Some((2, 40)));
        assert_eq!(begins(1, Some(&row), &history[..1]), None);
        let fresh = Row { life: Life::of_epoch(2), ..row };
        assert_eq!(begins(2, Some(&fresh), &history[..1]), Some((1, 60)), "nobody has opened a life yet");
    }

    #[test]
    fn a_raw_id_belongs_to_one_life_or_to_none() {
        let history = [PastLife { life: Life::from_stored(1), base: 0, ceiling: 5 }];
        let row = row(8, 20, 10);
        let life = |raw| life_of(raw, Some(&row), &history).map(|life| (life.in_force, life.seen));
        assert_eq!(life(5), Some((false, None)));
        assert_eq!(life(6), None, "between two lives");
        assert_eq!(life(9), Some((true, Some(true))));
        assert_eq!(life(11), Some((true, Some(false))));
        assert_eq!(life(21), None);
        let said = |raw| {
            verdict(1, 0, raw, Some(&row), (life_of(raw, Some(&row), &history).as_ref(), Without::Nothing))
        };
        assert!(said(7).contains("skipped"), "{}", said(7));
        assert!(said(21).contains("above the ceiling 20"), "{}", said(21));
    }
}
