//! Rows: epoch, base and ceiling of each counter.

use super::{Pass, SlotCommand};
use crate::{Epoch, InstanceId, Key, Reply, SlotIndex};

/// Counter: a key in a slot. Counters share no state.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Counter {
    /// The slot.
    pub slot: SlotIndex,
    /// The key.
    pub key: Key,
}

/// Row of a counter in the ledger. A server that joined holds a copy of it: its grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The epoch in force.
    pub epoch: Epoch,
    /// The instance of the store under which it was opened.
    pub store: InstanceId,
    /// The instance of the ledger under which it was opened.
    pub ledger: InstanceId,
    /// The epoch's base: its ids are above this.
    pub base: u64,
    /// The ceiling: no id above it may leave a server before the ledger has a higher one.
    pub ceiling: u64,
    /// The highest id that a server has reported as taken. It is up to two seconds old after a crash, and exact after a clean
    /// stop.
    pub seen: u64,
    /// When the epoch was opened, by the ledger's clock, in milliseconds since 1970.
    pub opened_at_ms: u64,
}

/// Entry of the history: an epoch that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastEpoch {
    /// The epoch.
    pub epoch: Epoch,
    /// The base: its ids are above this.
    pub base: u64,
    /// The ceiling: its ids are at most this, as far as the ledger knows.
    pub ceiling: u64,
}

/// Rows in the order requested, and the ledger's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The row of each counter requested, if it has one.
    pub rows: Vec<Option<Row>>,
    /// The ledger's wall clock at the time of reading, in milliseconds since 1970.
    pub clock_ms: u64,
}

/// Answer of a call that writes, with the ledger's version after it. The version must be marked before an id leaves because of
/// the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer<T> {
    /// The results, in the order of the requests.
    pub value: T,
    /// The ledger's version after the call.
    pub version: u64,
}

/// Request for a new epoch of a counter whose cell was closed for it, or a claim on a counter without a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// The counter.
    pub counter: Counter,
    /// The epoch that the cell was closed for.
    pub epoch: Epoch,
    /// The row that it replaces: the one read before the cell was closed.
    pub over: Over,
    /// The store's instance that closed the cell.
    pub store: InstanceId,
    /// The value found at the close.
    pub value: u64,
    /// The level of the key's other slots, if the cell is missing or 0; otherwise 0. The base is not below it, except for the
    /// bounds of [`abreast`](Opening::abreast).
    pub beside: u64,
    /// The distance from the base to the first ceiling.
    pub ahead: u64,
    /// How far `max(value, ceiling)` may exceed the row's `max(base, seen)`, in addition to `ahead`.
    pub jump_max: u64,
}

/// Row that an [`Opening`] may replace.
///
/// If it replaced an epoch that began after the row was read, it would end that epoch in the ledger but not in the cell where
/// the epoch is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Any row, or none.
    Any,
    /// No row.
    Nothing,
    /// A row of this epoch.
    Epoch(Epoch),
}

impl Over {
    /// The row that was read, as the only one that may be replaced.
    pub fn read(row: Option<&Row>) -> Self {
        row.map_or(Self::Nothing, |row| Self::Epoch(row.epoch))
    }

    /// Whether `row` may be replaced.
    pub fn is(self, row: Option<&Row>) -> bool {
        self == Self::Any || self == Self::read(row)
    }
}

/// Result of an [`Opening`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// The new row: base = max(old ceiling, value, beside), ceiling = base + ahead, seen = base.
    Row(Row),
    /// The existing row, to which the opening [yields](Opening::yields_to). Nothing was written.
    Known(Row),
    /// The row is not the one that [may be replaced](Over): another server was faster. Nothing was written.
    Overtaken,
    /// Refused: the value or the ceiling is a jump. Nothing was written.
    Jumped {
        /// `max(value, ceiling)`.
        found: u64,
        /// The highest that would have been accepted.
        bound: u64,
    },
}

/// Request for a higher ceiling of an epoch, with the highest id taken in it. Heartbeats report with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raise {
    /// The counter.
    pub counter: Counter,
    /// The grant's epoch, which the row must still hold.
    pub epoch: Epoch,
    /// The ceiling requested; the row keeps the greater one. 0 requests none.
    pub ceiling: u64,
    /// The highest id taken; the row keeps the greater one.
    pub seen: u64,
    /// The most by which `seen` may exceed the row's own ceiling: the number of ids that must be permitted now.
    pub jump_max: u64,
}

/// Result of a [`Raise`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Raised {
    /// The row still holds the epoch.
    Held {
        /// The ceiling now.
        ceiling: u64,
        /// The highest id that any server has reported.
        seen: u64,
    },
    /// The row holds another epoch, or there is no row. The grant and its blocks are invalid.
    Ended {
        /// The base of the row's epoch; `None` without a row. Ids above it that the ended epoch gave may be given again.
        begun_at: Option<u64>,
    },
    /// Refused: `seen` is a jump above the row's own ceiling. Nothing was written for this counter.
    Jumped {
        /// The row's own ceiling.
        ceiling: u64,
    },
}

/// Row moved by a call: opened, raised or reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The counter.
    pub counter: Counter,
    /// The epoch that the row holds now.
    pub epoch: Epoch,
    /// The highest id that any server has reported.
    pub seen: u64,
    /// The ledger's version after that call.
    pub version: u64,
}

/// Rows of the ledger: epochs and ceilings.
pub trait Rows: Send + Sync {
    /// The number of counters that a caller should name in one call, 1 to 4096. An engine that needs many steps returns fewer,
    /// so that a call stays within its time limit. Longer calls are still accepted.
    fn batch_max(&self) -> usize {
        4096
    }

    /// Reads rows in one call. Fails with `InstanceChanged` on a connection of another instance.
    fn read<'a>(&'a self, under: &'a InstanceId, counters: &'a [Counter]) -> Reply<'a, Reading>;

    /// Opens new epochs, each over the row that it names. For each counter, one atomic step reads the old ceiling as base and
    /// switches the epoch.
    ///
    /// Without a row, the old ceiling is the floor that a recovery left, 0 by default. The ended `(epoch, base, ceiling)` goes
    /// into the history.
    fn open<'a>(&'a self, pass: Pass<'a>, openings: &'a [Opening]) -> Reply<'a, Answer<Vec<Opened>>>;

    /// Raises ceilings and reports ids taken, each only if the row still holds the epoch.
    ///
    /// The version goes up by one only if the call moved a row's ceiling or `seen`.
    fn raise<'a>(&'a self, pass: Pass<'a>, raises: &'a [Raise]) -> Reply<'a, Answer<Vec<Raised>>>;

    /// The rows that calls moved after the version `since`, ordered by version, at most `most`. Fails with `InstanceChanged` on a
    /// connection of another instance.
    ///
    /// One call moves at most 4096 rows. If `most` is greater, only the last version may be incomplete.
    fn moved<'a>(&'a self, under: &'a InstanceId, since: u64, most: usize) -> Reply<'a, Vec<Moved>>;

    /// The rows of a sequence's keys, or of all sequences for `None`, with their counters; at most `most`, ascending.
    fn list<'a>(&'a self, sequence: Option<&'a str>, most: usize) -> Reply<'a, Vec<(Counter, Row)>>;

    /// The ended epochs of a counter, oldest first.
    fn history<'a>(&'a self, counter: &'a Counter) -> Reply<'a, Vec<PastEpoch>>;
}

/// Reply to a heartbeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presence {
    /// The result of each raise.
    pub raised: Vec<Raised>,
    /// The slot commands in force.
    pub words: Vec<SlotCommand>,
    /// The catalog's version: one more with each change of a definition.
    pub catalog_version: u64,
    /// The ledger's wall clock, in milliseconds since 1970.
    pub clock_ms: u64,
}

/// Heartbeat: the periodic call of each server, every two seconds, for all its grants.
pub trait Heartbeat: Send + Sync {
    /// Raises and reports in one transaction, as [`Rows::raise`] does, and returns what other servers reported. At most 4096
    /// raises. If nothing moves, as for an idle server, the version stays.
    fn heartbeat<'a>(&'a self, pass: Pass<'a>, raises: &'a [Raise]) -> Reply<'a, Answer<Presence>>;
}
