//! Bounds from the ledger's history: how far current epochs can have come, and what ended epochs were
//! permitted.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use sequent_core::{
    LedgerExamination, Sight, SourceError,
    ledger::{Counter, Ledger, Row},
};
use sequent_engine::ledger_timeout::within;
use tokio::task::JoinSet;

use super::{Kind, Rows, Speaks, jumps::Likely, keys};
use crate::doctor::{
    Doctor,
    report::{Finding, Severity, Site},
};

/// How many counters have their ended epochs read. The lowest counters are read first, because a row that was
/// lowered is low.
const HISTORIES_MAX: usize = 4096;

/// How many histories are read at once. A ledger serves as many beside the running servers.
const HISTORIES_AT_ONCE: usize = 8;

/// Time limit for all histories together.
const HISTORIES_LIMIT: Duration = Duration::from_secs(10);

/// Bounds on counters that neither their rows nor their cells show.
#[derive(Debug, Default)]
pub(crate) struct Elsewhere {
    /// How far the epochs of doubted counters can have come.
    pub(crate) likely: Likely,
    /// The highest ceiling of each counter's ended epochs.
    pub(crate) ended: BTreeMap<Counter, u64>,
    /// The number of counters whose ended epochs were not read.
    unread: usize,
}

impl Elsewhere {
    pub(crate) fn of(likely: Likely) -> Self {
        Self { likely, ..Self::default() }
    }

    /// The finding that not all histories were read.
    pub(crate) fn findings(&self) -> Option<Finding> {
        let found = format!("the epochs that have ended of {} counters were not read", self.unread);
        let finding = Finding::new(Severity::Info, Site::Ledger, "counter", found);
        let causes =
            "where a hand lowered row and cell of one of them alike, the key's other slots alone tell it";
        (self.unread > 0).then(|| finding.causes(causes))
    }
}

impl Doctor<'_> {
    /// The highest ceilings of ended epochs, by counter. They are read after the rows, so that an epoch that
    /// ends in between is included. A verdict by them rests on the second read of the rows.
    pub(crate) async fn ended(
        &self,
        held: &LedgerExamination,
        rows: &keys::Rows,
        known: Likely,
    ) -> Elsewhere {
        let mut elsewhere = Elsewhere::of(known);
        let Some(record) = &held.layout else { return elsewhere };
        let mut asked: Vec<(&Counter, &Row)> = rows.iter().collect();
        asked.sort_by_key(|(_, row)| row.reached());
        let asked_for = asked.iter().take(HISTORIES_MAX).map(|(counter, _)| (*counter).clone()).collect();
        // Histories that were read before the time limit count.
        let reading = self.read_all(asked_for, record.generation, &mut elsewhere.ended);
        let _ = tokio::time::timeout(HISTORIES_LIMIT, reading).await;
        elsewhere.unread = asked.len() - elsewhere.ended.len();
        elsewhere
    }

    async fn read_all(&self, asked: Vec<Counter>, generation: u64, ended: &mut BTreeMap<Counter, u64>) {
        let limit = self.config.ring.attempt_timeout;
        for some in asked.chunks(HISTORIES_AT_ONCE) {
            let reads =
                some.iter().map(|counter| read(Arc::clone(&self.ledger), counter.clone(), generation, limit));
            let read = reads.collect::<JoinSet<_>>().join_all().await;
            // A history that can't be read leaves out its counter.
            ended.extend(read.into_iter().filter_map(Result::ok));
        }
    }
}

async fn read(
    ledger: Arc<dyn Ledger>,
    counter: Counter,
    generation: u64,
    limit: Duration,
) -> Result<(Counter, u64), SourceError> {
    let past = within(limit, "read a counter's history", ledger.history(&counter)).await?;
    let ended = sequent_guard::ended_in(generation, &past);
    Ok((counter, ended))
}

/// Judges a counter by its ended epochs. Each epoch begins no lower than the previous epoch's ceiling. A row
/// that continues below it was lowered by hand.
pub(crate) fn judge_past(rows: Rows<'_>, sight: &Sight, speaks: Speaks<'_>) -> Option<(Kind, String)> {
    let Row { base, seen, ceiling, .. } = *rows.after;
    let ended = rows.ended;
    let at = goes_on_above(rows.after, sight, speaks);
    let cell = match sight {
        Sight::Held { value, .. } => format!("its cell is at {value}"),
        _ => "there is no cell of it".to_owned(),
    };
    (ended > at).then(|| {
        let text = format!(
            "it goes on above {at} ({cell}; its row has base {base}, seen {seen}, ceiling {ceiling}), below the ceiling {ended} of an \
             epoch of it that has ended"
        );
        (Kind::BelowPast, text)
    })
}

/// The raw id above which the next ids are, in the row's epoch or in the next one.
fn goes_on_above(row: &Row, sight: &Sight, speaks: Speaks<'_>) -> u64 {
    let is_spoken = row.store == *speaks.store && row.ledger == *speaks.ledger;
    match sight {
        Sight::Held { epoch, open: true, value, .. } if is_spoken && *epoch == row.epoch => {
            row.reached().max(*value)
        }
        Sight::Held { value, .. } => row.ceiling.max(*value),
        Sight::Missing | Sight::Odd(_) => row.ceiling,
    }
}

#[cfg(test)]
mod tests {
    use sequent_core::{Epoch, InstanceId};

    use super::*;

    #[test]
    fn what_goes_on_below_the_ceiling_of_an_epoch_that_has_ended_was_set_lower() {
        let (store, ledger) = (InstanceId::new("run"), InstanceId::new("ledger"));
        let epoch = Epoch::from_stored(7);
        let at = |base, seen, ceiling| {
            let (store, ledger) = (store.clone(), ledger.clone());
            Row { epoch, store, ledger, base, ceiling, seen, opened_at_ms: 0 }
        };
        let judged = |row: &Row, sight: &Sight, run: &str| {
            let (run, none) = (InstanceId::new(run), None);
            let speaks = Speaks { store: &run, ledger: &ledger };
            let (before, after) = (row, row);
            let rows = Rows {
                before,
                after,
                others: none,
                least: none,
                begun: 0,
                followed: 0,
                reach: none,
                ended: 6000,
            };
            judge_past(rows, sight, speaks).is_some()
        };
        let held = |value, open| Sight::Held { epoch, open, value, expires_ms: None };
        for (row, sight, run) in [
            (at(100, 100, 100), held(100, true), "run"),
            (at(100, 100, 9000), held(5999, true), "run"),
            (at(100, 100, 100), held(100, false), "run"),
            (at(100, 100, 100), held(100, true), "another run"),
            (at(0, 0, 5999), Sight::Missing, "run"),
            (at(0, 0, 5999), Sight::Odd("x".to_owned()), "run"),
        ] {
            assert!(judged(&row, &sight, run), "{row:?} {sight:?} {run}");
        }
        for (row, sight, run) in [
            (at(6000, 6000, 6000), held(6000, true), "run"),
            // What was left above it shows in the row and in the cell.
            (at(100, 6000, 9000), held(100, true), "run"),
            (at(100, 100, 100), held(6000, true), "run"),
            (at(100, 100, 6000), held(100, false), "run"),
            (at(100, 100, 6000), held(100, true), "another run"),
            (at(100, 100, 6000), Sight::Missing, "run"),
        ] {
            assert!(!judged(&row, &sight, run), "{row:?} {sight:?} {run}");
        }
    }
}
