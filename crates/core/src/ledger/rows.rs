//! Rows: for each counter its epoch, its base and its ceiling.

use super::{Pass, Word};
use crate::{BoxFuture, Epoch, InstanceId, Key, SlotIndex, SourceError};

/// One counter: a key in a slot. Counters share nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Counter {
    /// The slot.
    pub slot: SlotIndex,
    /// The key.
    pub key: Key,
}

/// What the ledger holds for a counter. A server that joined has a copy: its permit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The stretch of history in force.
    pub epoch: Epoch,
    /// The instance of the store under which it was opened.
    pub store: InstanceId,
    /// The instance of the ledger under which it was opened.
    pub ledger: InstanceId,
    /// Where the epoch began: its ids are above this.
    pub base: u64,
    /// No id above it may leave a server before the ledger has a higher one.
    pub ceiling: u64,
    /// The highest id that a server has reported as taken: up to two seconds old after a crash, exact after a clean stop.
    pub seen: u64,
    /// When the epoch was opened, by the ledger's clock, in milliseconds since 1970.
    pub opened_at_ms: u64,
}

/// An epoch that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastEpoch {
    /// The epoch.
    pub epoch: Epoch,
    /// Its ids are above this …
    pub base: u64,
    /// … and at most this, as far as the ledger has witnessed.
    pub ceiling: u64,
}

/// Rows as they were read, in the order of the asks, and the ledger's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// A row or nothing for each counter asked for.
    pub rows: Vec<Option<Row>>,
    /// The ledger's wall clock at the reading, in milliseconds since 1970.
    pub clock_ms: u64,
}

/// What a writing call returned, and the ledger's version after it, to be marked before an id leaves on its strength.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer<T> {
    /// What was asked for, in the order of the asks.
    pub value: T,
    /// The ledger's version after the call.
    pub version: u64,
}

/// A new epoch for a counter whose cell was closed for it; or a claim on one that has no row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// The counter.
    pub counter: Counter,
    /// The epoch that the cell was closed for.
    pub epoch: Epoch,
    /// The row that it replaces: the one that was read before the cell was closed.
    pub over: Over,
    /// The instance of the store that closed it.
    pub store: InstanceId,
    /// The value found at the close.
    pub value: u64,
    /// How far the key's other slots are, where the cell says nothing: the base is not below that, as far as half of
    /// `leap_max` goes.
    pub beside: u64,
    /// How far above the base the first ceiling shall be.
    pub ahead: u64,
    /// How far `max(value, ceiling)` may exceed the row's `max(base, seen)`, beyond `ahead`.
    pub leap_max: u64,
}

/// What an [`Opening`] may replace. An epoch that goes over one that was begun since the row was read would end it in the ledger, and
/// not in the cell, which that one has been installed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Whatever is there.
    Any,
    /// No row.
    Nothing,
    /// A row of this epoch.
    Epoch(Epoch),
}

impl Over {
    /// What may be replaced where this was read.
    pub fn read(row: Option<&Row>) -> Self {
        row.map_or(Self::Nothing, |row| Self::Epoch(row.epoch))
    }

    /// Whether it is what is there.
    pub fn is(self, row: Option<&Row>) -> bool {
        self == Self::Any || self == Self::read(row)
    }
}

/// What became of an [`Opening`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// The row as it is now: base = max(old ceiling, value, beside), ceiling = base + ahead, seen = base.
    Row(Row),
    /// There was a row to which it [yields](Opening::yields_to). Nothing was written.
    Known(Row),
    /// The row is not the one that was to be [replaced](Over): others were faster. Nothing was written.
    Overtaken,
    /// Refused: the value, or the ceiling, is a leap. Nothing was written.
    Leapt {
        /// `max(value, ceiling)`.
        found: u64,
        /// The highest that would have been followed.
        bound: u64,
    },
}

/// A higher ceiling for an epoch, and the highest id taken in it. Also the report of a heartbeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raise {
    /// The counter.
    pub counter: Counter,
    /// The permit's epoch: the row must still hold it.
    pub epoch: Epoch,
    /// The ceiling asked for (greatest-of); 0 asks for none.
    pub ceiling: u64,
    /// The highest id taken (greatest-of).
    pub seen: u64,
    /// The ids that must be permitted now: `seen` may exceed the row's own ceiling by at most this.
    pub leap_max: u64,
}

/// What became of a [`Raise`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Raised {
    /// The row still holds the epoch; what it holds now.
    Held {
        /// The ceiling now.
        ceiling: u64,
        /// The highest id that any server has reported.
        seen: u64,
    },
    /// The row holds another epoch, or there is none: the permit and its blocks are gone.
    Ended {
        /// Where the epoch of the row began: what was given above that by the one that has ended may come again. `None`
        /// without a row.
        begun_at: Option<u64>,
    },
    /// Refused: `seen` is a leap above the row's own ceiling. Nothing was written for this counter.
    Leapt {
        /// The row's own ceiling.
        ceiling: u64,
    },
}

/// A row that a call moved: opened, raised, or reported in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The counter.
    pub counter: Counter,
    /// The epoch that the row holds now.
    pub epoch: Epoch,
    /// The highest id that any server has reported.
    pub seen: u64,
    /// The ledger's version since that call.
    pub version: u64,
}

/// Ceilings.
pub trait Rows: Send + Sync {
    /// How many counters a caller names in one call, 1 to 4096: of an engine that needs many steps for so many, fewer, so
    /// that a call stays well within its time limit. More are taken all the same.
    fn batch_max(&self) -> usize {
        4096
    }

    /// Reads the rows of some counters in one call. Fails with `Reborn` on a connection of another instance.
    fn read<'a>(
        &'a self,
        under: &'a InstanceId,
        counters: &'a [Counter],
    ) -> BoxFuture<'a, Result<Reading, SourceError>>;

    /// Opens new epochs, each over the row that it names: for each counter one atomic step that reads the old ceiling (without a
    /// row: the floor that a recovery left, 0 by default) as base and switches the epoch.
    /// The ended `(epoch, base, ceiling)` goes into the history.
    fn open<'a>(
        &'a self,
        pass: Pass<'a>,
        openings: &'a [Opening],
    ) -> BoxFuture<'a, Result<Answer<Vec<Opened>>, SourceError>>;

    /// Raises ceilings and reports what was taken, each only where the row still holds the epoch.
    ///
    /// The version goes up by one if that moved any row's ceiling or `seen`, and not otherwise.
    fn raise<'a>(
        &'a self,
        pass: Pass<'a>,
        raises: &'a [Raise],
    ) -> BoxFuture<'a, Result<Answer<Vec<Raised>>, SourceError>>;

    /// The rows that calls have moved since the version `since`, by version, at most `most`. Fails with `Reborn` on a
    /// connection of another instance. One call moves at most 4096 rows: with a greater `most` there is no version of
    /// which only a part comes but the last.
    fn moved<'a>(
        &'a self,
        under: &'a InstanceId,
        since: u64,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Moved>, SourceError>>;

    /// The rows of a sequence's keys with their counters, at most `most`, ascending; of all sequences where `sequence` is `None`.
    fn list<'a>(
        &'a self,
        sequence: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<(Counter, Row)>, SourceError>>;

    /// The ended epochs of a counter, oldest first.
    fn history<'a>(&'a self, counter: &'a Counter) -> BoxFuture<'a, Result<Vec<PastEpoch>, SourceError>>;
}

/// What a server gets in return for a heartbeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presence {
    /// What became of each raise.
    pub raised: Vec<Raised>,
    /// The operators' words in force.
    pub words: Vec<Word>,
    /// One more with each change of a definition.
    pub catalog_version: u64,
    /// The ledger's wall clock, in milliseconds since 1970.
    pub clock_ms: u64,
}

/// The periodic call: one a server and two seconds, for all its permits.
pub trait Heartbeat: Send + Sync {
    /// Raises and reports in one transaction, as [`Rows::raise`] does; returns what others said meanwhile. At most 4096
    /// raises. Where it moves nothing, as that of an idle server, the version stays.
    fn heartbeat<'a>(
        &'a self,
        pass: Pass<'a>,
        raises: &'a [Raise],
    ) -> BoxFuture<'a, Result<Answer<Presence>, SourceError>>;
}
