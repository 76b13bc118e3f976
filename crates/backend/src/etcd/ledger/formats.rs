//! JSON format of each record, readable for operators.

use sequent_core::{
    Epoch, InstanceId, SourceError,
    ledger::{Moved, PastEpoch, Row},
};
use serde::{Deserialize, Serialize};

use crate::{
    etcd::{
        client::Kv,
        keys::{Named, Names},
    },
    ledger::{
        DenseCount, bounded_sum,
        documents::{parsed, unreadable},
    },
};

/// A server's row.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptServer {
    pub(super) nonce: u64,
    pub(super) seen_ms: u64,
}

/// The sum of the losses stated by operators, and the floor.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Losses {
    /// The sum of all losses.
    pub(super) lost: u64,
    /// The ceiling of counters without a row.
    pub(super) floor: u64,
}

impl Losses {
    /// Adds a loss.
    pub(super) fn and(self, more: u64) -> Self {
        Self { lost: self.lost.saturating_add(more), floor: bounded_sum(self.floor, more) }
    }
}

/// A row. `lost` is the sum of losses at the time of its write.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptRow {
    epoch: i64,
    store: String,
    ledger: String,
    base: u64,
    ceiling: u64,
    seen: u64,
    opened_at_ms: u64,
    lost: u64,
}

impl KeptRow {
    /// The stored form under the current sum of losses.
    pub(super) fn of(row: &Row, losses: Losses) -> Self {
        Self {
            epoch: row.epoch.to_stored(),
            store: row.store.as_str().to_owned(),
            ledger: row.ledger.as_str().to_owned(),
            base: row.base,
            ceiling: row.ceiling,
            seen: row.seen,
            opened_at_ms: row.opened_at_ms,
            lost: losses.lost,
        }
    }

    /// The row, with the losses added since it was written.
    fn row(self, losses: Losses) -> Row {
        let lost = losses.lost.saturating_sub(self.lost);
        Row {
            epoch: Epoch::from_stored(self.epoch),
            store: InstanceId::new(self.store),
            ledger: InstanceId::new(self.ledger),
            base: self.base,
            ceiling: bounded_sum(self.ceiling, lost),
            seen: bounded_sum(self.seen, lost),
            opened_at_ms: self.opened_at_ms,
        }
    }

    pub(super) fn read(kv: &Kv, losses: Losses) -> Result<Row, SourceError> {
        Ok(parsed::<Self>("row", &kv.value)?.row(losses))
    }
}

/// A dense counter. `lost` is the sum of losses at the time of its write.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptDense {
    value: u64,
    begun_at_ms: u64,
    lost: u64,
}

impl KeptDense {
    pub(super) fn of(count: DenseCount, losses: Losses) -> Self {
        Self { value: count.value, begun_at_ms: count.begun_at_ms, lost: losses.lost }
    }

    pub(super) fn read(kv: &Kv, losses: Losses) -> Result<DenseCount, SourceError> {
        let Self { value, begun_at_ms, lost } = parsed("dense counter", &kv.value)?;
        Ok(DenseCount { value: bounded_sum(value, losses.lost.saturating_sub(lost)), begun_at_ms })
    }
}

/// An ended epoch.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptPast {
    epoch: i64,
    base: u64,
    ceiling: u64,
}

impl KeptPast {
    pub(super) fn of(past: &PastEpoch) -> Self {
        Self { epoch: past.epoch.to_stored(), base: past.base, ceiling: past.ceiling }
    }

    pub(super) fn read(kv: &Kv) -> Result<PastEpoch, SourceError> {
        let Self { epoch, base, ceiling } = parsed("history", &kv.value)?;
        Ok(PastEpoch { epoch: Epoch::from_stored(epoch), base, ceiling })
    }
}

/// A changed row: its name, its epoch, and `seen`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptMove(String, i64, u64);

impl KeptMove {
    pub(super) fn of(name: String, row: &Row) -> Self {
        Self(name, row.epoch.to_stored(), row.seen)
    }

    pub(super) fn moved(self, names: &Names, version: u64) -> Result<Moved, SourceError> {
        let Self(name, epoch, seen) = self;
        let Some(Named::Row(counter)) = names.parsed(&name) else {
            return Err(unreadable("what moved", format!("found the name {name:?}")));
        };
        Ok(Moved { counter, epoch: Epoch::from_stored(epoch), seen, version })
    }
}

#[cfg(test)]
mod tests {
    use sequent_core::Block;

    use super::*;

    fn row(ceiling: u64) -> Row {
        Row {
            epoch: Epoch::from_stored(-7),
            store: InstanceId::new("s"),
            ledger: InstanceId::new("l"),
            base: 3,
            ceiling,
            seen: 5,
            opened_at_ms: 9,
        }
    }

    #[test]
    fn a_row_has_what_was_lost_since_it_was_written_and_no_more() {
        let losses = [40, 1040, u64::MAX].map(|lost| Losses { lost, floor: 0 });
        assert_eq!(KeptRow::of(&row(100), losses[0]).row(losses[0]), row(100));
        let widened = KeptRow::of(&row(100), losses[0]).row(losses[1]);
        assert_eq!((widened.base, widened.ceiling, widened.seen), (3, 1100, 1005));
        let again = KeptRow::of(&widened, losses[1]).row(losses[1]);
        assert_eq!(again, widened);
        let edge = KeptRow::of(&row(Block::NUMBER_MAX - 1), losses[0]).row(losses[2]);
        assert_eq!(edge.ceiling, Block::NUMBER_MAX);
    }
}
