//! Bounds from the ledger's history: the ceilings of ended epochs, and how far an epoch can have come.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use sequent_core::{
    LedgerExamination, Sight, SourceError,
    ledger::{Counter, Ledger, Row},
};
use sequent_engine::ledger_timeout::within;
use sequent_guard::JUMP_MAX;
use tokio::task::JoinSet;

use super::rows::{KeyRows, Rows};
use crate::{
    doctor::{
        Doctor,
        findings::Kind,
        report::{Finding, Site},
    },
    jumps::bound,
};

/// How many counters have their ended epochs read. The lowest counters are read first, because a row that was
/// lowered is low.
const HISTORIES_MAX: usize = 4096;

/// How many histories are read at once. A ledger serves as many beside the running servers.
const HISTORIES_AT_ONCE: usize = 8;

/// Time limit for all histories together.
const HISTORIES_LIMIT: Duration = Duration::from_secs(10);

/// How many high counters have read how far they can have come.
const HIGH_MAX: usize = 64;

/// Bounds that neither row nor cell shows.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// The highest ceiling of each counter's ended epochs.
    pub(crate) ended: BTreeMap<Counter, u64>,
    /// How far the epochs of high counters can have come.
    pub(crate) bounds: BTreeMap<Counter, u64>,
    /// The number of counters whose ended epochs were not read.
    unread: usize,
}

impl History {
    /// The finding that not all histories were read.
    pub(crate) fn findings(&self) -> Option<Finding> {
        let found = format!("the ended epochs of {} counters were not read", self.unread);
        (self.unread > 0).then(|| Finding::new(Kind::NotExamined, Site::Ledger, found))
    }
}

impl Doctor<'_> {
    /// Reads the history. It is read after the rows, so that an epoch that ends in between is included. A
    /// verdict by it rests on the second read of the rows.
    pub(crate) async fn history<'a>(
        &self,
        held: &LedgerExamination,
        cells: impl Iterator<Item = (&'a Counter, &'a Sight)>,
        (rows, by_key): (&Rows, &KeyRows),
    ) -> History {
        let mut history = History::default();
        let Some(record) = &held.layout else { return history };
        let high: Vec<(&Counter, &Row)> = high(cells, rows, by_key).take(HIGH_MAX).collect();
        let (under, limit) = ((record.layout, &held.inspection), self.limit());
        for (counter, row) in high {
            // If it can't be read, the counter is left out.
            if let Ok(bound) = bound(&*self.ledger, (counter, row), &held.rows, under, limit).await {
                history.bounds.insert(counter.clone(), bound);
            }
        }
        let mut lowest: Vec<(&Counter, &Row)> = rows.iter().collect();
        lowest.sort_by_key(|(_, row)| row.reached());
        let asked = lowest.iter().take(HISTORIES_MAX).map(|(counter, _)| (*counter).clone()).collect();
        // Histories that were read before the time limit count.
        let reading = self.read_all(asked, record.generation, &mut history.ended);
        let _ = tokio::time::timeout(HISTORIES_LIMIT, reading).await;
        history.unread = lowest.len() - history.ended.len();
        history
    }

    async fn read_all(&self, asked: Vec<Counter>, generation: u64, ended: &mut BTreeMap<Counter, u64>) {
        let limit = self.limit();
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

/// The counters with a row or a cell so far above the key's other slots that their history must be read.
pub(crate) fn high<'a, 'r>(
    cells: impl Iterator<Item = (&'a Counter, &'a Sight)>,
    rows: &'r Rows,
    by_key: &'r KeyRows,
) -> impl Iterator<Item = (&'a Counter, &'r Row)> {
    cells.filter_map(|(counter, sight)| {
        let value = if let Sight::Held { value, .. } = sight { *value } else { 0 };
        let beside = by_key.others(counter).map_or(0, |others| others.reached);
        let row = rows.get(counter)?;
        (row.reached().max(value) > beside.saturating_add(JUMP_MAX)).then_some((counter, row))
    })
}
