//! The ceilings that the ledger permits, for cells as stores list them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use sequent_core::{
    InstanceId, Key, SlotIndex, SourceError,
    ledger::{Counter, Ledger, Periods},
};
use sequent_engine::ledger_timeout::within;

use crate::{
    cell_scan::Reached,
    doctor::{fences_among, is_over},
    named_floor::floor,
};

/// The ceilings of a ledger that has rows.
pub(crate) struct Permitted {
    rows: Rows,
    /// The layout in force.
    generation: u64,
    /// The floor: no counter without a row gives a raw id up to it.
    floor: u64,
    /// Fences: nothing begins any more in periods behind them.
    fences: BTreeMap<Periods, u64>,
}

/// Where the rows are read from.
enum Rows {
    /// The ledger, which is asked for the rows of each page.
    Asked { ledger: Arc<dyn Ledger>, under: InstanceId, limit: Duration },
    /// All rows, as ceilings in memory.
    Held(BTreeMap<Counter, u64>),
}

impl Rows {
    /// The ceilings of these counters; `None` for those without a row.
    async fn ceilings(&self, counters: &[Counter]) -> Result<Vec<Option<u64>>, SourceError> {
        match self {
            Self::Asked { ledger, under, limit } => {
                let rows = within(*limit, "read the rows", ledger.read(under, counters)).await?.rows;
                Ok(rows.into_iter().map(|row| row.map(|row| row.ceiling)).collect())
            }
            Self::Held(rows) => Ok(counters.iter().map(|counter| rows.get(counter).copied()).collect()),
        }
    }

    /// How many counters may be asked for at once.
    fn batch_max(&self) -> usize {
        match self {
            Self::Asked { ledger, .. } => ledger.batch_max(),
            Self::Held(_) => usize::MAX,
        }
    }
}

impl Permitted {
    /// Reads from the ledger what all its counters share, each call within `limit`.
    pub(crate) async fn by(
        ledger: &Arc<dyn Ledger>,
        generation: u64,
        limit: Duration,
    ) -> Result<Self, SourceError> {
        let under = within(limit, "open the ledger", ledger.inspect()).await?.instance;
        let fences = fences_among(within(limit, "read fences", ledger.notes()).await?);
        let floor = floor(&**ledger, generation, limit).await;
        let rows = Rows::Asked { ledger: Arc::clone(ledger), under, limit };
        Ok(Self { rows, generation, floor, fences })
    }

    /// Built from the ceilings of all rows of the ledger, so that it is not asked.
    pub(crate) fn held(
        rows: BTreeMap<Counter, u64>,
        (generation, floor): (u64, u64),
        fences: BTreeMap<Periods, u64>,
    ) -> Self {
        Self { rows: Rows::Held(rows), generation, floor, fences }
    }

    /// The cells of a store that count, each with its ceiling. Cells of a previous layout count only if their
    /// key has no row, because a key with a row began above them. Cells of periods that are over don't count,
    /// because nothing begins there.
    pub(crate) async fn of(
        &self,
        slot: SlotIndex,
        cells: Vec<(Key, u64)>,
    ) -> Result<Vec<Reached>, SourceError> {
        let mut counted = Vec::with_capacity(cells.len());
        for some in cells.chunks(self.rows.batch_max()) {
            let counters: Vec<Counter> =
                some.iter().map(|(key, _)| Counter { slot, key: without_generation(key) }).collect();
            let ceilings = self.rows.ceilings(&counters).await?;
            for (((cell, value), counter), row) in some.iter().zip(counters).zip(ceilings) {
                let is_before = cell.generation() != self.generation;
                if (is_before && row.is_some()) || is_over(&counter.key, &self.fences) {
                    continue;
                }
                let (ceiling, has_row) = row.map_or((self.floor, false), |ceiling| (ceiling, true));
                // Raw ids of another layout are other numbers.
                let ceiling = if is_before { 0 } else { ceiling };
                counted.push(Reached {
                    slot,
                    key: cell.clone(),
                    value: *value,
                    ceiling,
                    has_row,
                    reach: None,
                });
            }
        }
        Ok(counted)
    }
}

/// The key with a cell of this name.
pub(crate) fn without_generation(cell: &Key) -> Key {
    match cell.generation() {
        0 | 1 => cell.clone(),
        generation => {
            Key::from_stored(cell.as_str().strip_suffix(&format!("|~{generation}")).unwrap_or(cell.as_str()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cells_name_without_its_generation_is_its_counters() {
        for key in ["order", "order|8:20170304"].map(Key::from_stored) {
            for generation in [1, 2, 70] {
                assert_eq!(without_generation(&key.in_generation(generation)), key);
            }
        }
    }
}
