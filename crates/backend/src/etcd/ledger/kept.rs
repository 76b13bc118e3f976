//! Rows and marks of a ledger as they are kept.

use sequent_core::{
    Block, Incarnation, Life, SourceError,
    ledger::{Moved, PastLife, Row},
};
use serde::{Deserialize, Serialize};

use crate::etcd::{
    gateway::Kv,
    names::Names,
    value::{self, unreadable},
};

/// What operators named as lost, and where a resize has begun.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Losses {
    /// The sum of what was lost.
    pub(super) lost: u64,
    /// The ceiling of counters that have no row.
    pub(super) floor: u64,
}

impl Losses {
    /// With another loss of this many.
    pub(super) fn and(self, more: u64) -> Self {
        Self { lost: self.lost.saturating_add(more), floor: widened(self.floor, more) }
    }
}

/// A row. `lost`: the sum of the losses that it was written under.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptRow {
    life: i64,
    store: String,
    ledger: String,
    base: u64,
    ceiling: u64,
    seen: u64,
    opened_at_ms: u64,
    lost: u64,
}

impl KeptRow {
    /// As it is kept under a sum of losses.
    pub(super) fn of(row: &Row, losses: Losses) -> Self {
        Self {
            life: row.life.to_stored(),
            store: row.store.as_str().to_owned(),
            ledger: row.ledger.as_str().to_owned(),
            base: row.base,
            ceiling: row.ceiling,
            seen: row.seen,
            opened_at_ms: row.opened_at_ms,
            lost: losses.lost,
        }
    }

    /// As it is, with what was lost since it was written.
    fn row(self, losses: Losses) -> Row {
        let lost = losses.lost.saturating_sub(self.lost);
        Row {
            life: Life::from_stored(self.life),
            store: Incarnation::new(self.store),
            ledger: Incarnation::new(self.ledger),
            base: self.base,
            ceiling: widened(self.ceiling, lost),
            seen: widened(self.seen, lost),
            opened_at_ms: self.opened_at_ms,
        }
    }

    pub(super) fn read(kv: &Kv, losses: Losses) -> Result<Row, SourceError> {
        Ok(value::of::<Self>("row", kv)?.row(losses))
    }
}

/// A sum that stays within what a counter can reach.
pub(super) fn widened(value: u64, more: u64) -> u64 {
    value.saturating_add(more).min(Block::NUMBER_MAX)
}

/// A life that has ended.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptPast {
    life: i64,
    base: u64,
    ceiling: u64,
}

impl KeptPast {
    pub(super) fn of(row: &Row) -> Self {
        Self { life: row.life.to_stored(), base: row.base, ceiling: row.ceiling }
    }

    pub(super) fn past(self) -> PastLife {
        PastLife { life: Life::from_stored(self.life), base: self.base, ceiling: self.ceiling }
    }
}

/// A row that a call moved: its name, the life that it holds since, and `seen`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptMove(String, i64, u64);

impl KeptMove {
    pub(super) fn of(name: String, row: &Row) -> Self {
        Self(name, row.life.to_stored(), row.seen)
    }

    pub(super) fn moved(self, names: &Names, version: u64) -> Result<Moved, SourceError> {
        let Self(name, life, seen) = self;
        let counter = names.counter(&name).ok_or_else(|| unreadable("name of a moved row"))?;
        Ok(Moved { counter, life: Life::from_stored(life), seen, version })
    }
}

/// A server that calls.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Seat {
    pub(super) nonce: u64,
    pub(super) seen_ms: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ceiling: u64) -> Row {
        Row {
            life: Life::from_stored(-7),
            store: Incarnation::new("s"),
            ledger: Incarnation::new("l"),
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
