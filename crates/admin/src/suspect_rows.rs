//! Rows of the ledger that claim more than could have been taken. They are left out of sums, and reported.

use sequent_core::{
    Key, SlotIndex, SourceError,
    ledger::{Counter, Row},
};
use sequent_engine::EngineError;
use sequent_guard::JUMP_MAX;

use crate::{
    admin::Admin,
    doctor::KeyRows,
    jumps::{Jump, bound, jump},
};

/// How many rows have their history read.
const ASKED_MAX: usize = 64;

/// A row that is not trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suspect {
    /// Its counter.
    pub(crate) counter: Counter,
    /// The reason.
    why: Jump,
}

impl Suspect {
    /// For people: the counter, the reason, and the repair.
    pub(crate) fn line(&self) -> String {
        let Self { counter: Counter { slot, key }, why: Jump { text, advice } } = self;
        format!("slot {slot} key {key}: {text}; {advice}")
    }
}

impl Admin {
    /// The untrusted rows among these, which are all rows of each key. A row whose history can't be read is
    /// left out.
    pub(crate) async fn suspects(&self, rows: &[(Counter, Row)]) -> Result<Vec<Suspect>, SourceError> {
        let by_key = KeyRows::of(rows);
        let is_high = |(counter, row): &&(Counter, Row)| {
            let least = by_key.others(counter).map_or(0, |others| others.reached);
            row.reached().max(row.ceiling) > least.saturating_add(JUMP_MAX)
        };
        let high: Vec<&(Counter, Row)> = rows.iter().filter(is_high).take(ASKED_MAX).collect();
        if high.is_empty() {
            return Ok(Vec::new());
        }
        let inspection = self.0.inspected().await?;
        let mut suspects = Vec::new();
        for (counter, row) in high {
            let under = (self.layout(), &inspection);
            let read = bound(self.ledger(), (counter, row), rows, under, self.limit()).await;
            let Ok(bound) = read else { continue };
            let why = jump(row, None, Some(bound));
            suspects.extend(why.map(|why| Suspect { counter: counter.clone(), why }));
        }
        Ok(suspects)
    }

    /// The untrusted rows of a key.
    pub(crate) async fn suspects_of(&self, key: &Key) -> Result<Vec<Suspect>, EngineError> {
        let rows = self.rows_of(key).await?;
        Ok(self.suspects(&rows).await?)
    }

    /// The rows of a key, in every slot.
    pub(crate) async fn rows_of(&self, key: &Key) -> Result<Vec<(Counter, Row)>, SourceError> {
        let under = self.0.inspected().await?.instance;
        let counter = |slot: SlotIndex| Counter { slot, key: key.clone() };
        let counters: Vec<Counter> = (0..self.layout().slots()).map(counter).collect();
        let mut held = Vec::new();
        for some in counters.chunks(self.ledger().batch_max()) {
            let read = self.0.within("read the rows", self.ledger().read(&under, some)).await?;
            let rows = some.iter().cloned().zip(read.rows);
            held.extend(rows.filter_map(|(counter, row)| Some((counter, row?))));
        }
        Ok(held)
    }
}
