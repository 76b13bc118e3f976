//! What a backend implements: cells that count, each for one epoch. `guard.md` says why these verbs.

use crate::{Block, BoxFuture, Epoch, Examine, InstanceId, Key, SlotIndex, SourceError, Stamp};

/// One counter's cell in one run of a store: which key, and the instance under which it may be touched.
///
/// A verb runs on a connection that was opened under `under`, or fails with
/// [`ErrorKind::Reborn`](crate::ErrorKind::Reborn) and has touched nothing.
#[derive(Debug, Clone, Copy)]
pub struct Cell<'a> {
    /// What the counter belongs to.
    pub key: &'a Key,
    /// The instance that the caller's permit names.
    pub under: &'a InstanceId,
}

/// How much of what a store acknowledged outlives a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DurabilityClass {
    /// All of it.
    Durable,
    /// All but about the last second.
    Lossy,
    /// None of it.
    Volatile,
}

impl DurabilityClass {
    /// The word for status and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Durable => "durable",
            Self::Lossy => "lossy",
            Self::Volatile => "volatile",
        }
    }
}

/// A durability class and the settings that decided it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Durability {
    /// The class.
    pub class: DurabilityClass,
    /// Name and value of each setting read, for status and `doctor`.
    pub settings: Vec<(String, String)>,
}

/// What a store says of itself on a fresh look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// Which run of which data is speaking.
    pub instance: InstanceId,
    /// The stamp found, if any.
    pub stamp: Option<Stamp>,
    /// Whether it holds any cell: cells without a stamp are somebody else's.
    pub has_cells: bool,
    /// How much outlives a crash.
    pub durability: Durability,
    /// The store's wall clock, in milliseconds since 1970.
    pub clock_ms: u64,
    /// The engine's name and version, for people.
    pub version: String,
}

/// A real system that counts. Each verb is one statement on the server where it can be, and nothing else.
///
/// What an implementation owes (the conformance suite in `testkit` checks it):
///
/// - A counter that has vanished is `Regressed`, never created again at 1: only `install` over its own close creates.
/// - A future dropped before it is ready costs its connection: its reply must never reach the next caller.
/// - A number is returned only once it is as durable as the store can make it.
/// - No retry beyond what the verb needs by itself, and that bounded (`Contended`); no time limit; no pool without a bound.
pub trait Store: Send + Sync {
    /// Whether it can hold a counter of this key at all, as far as it knows without asking its server; asked when a
    /// sequence is defined. `Exhausted`, naming the key, the bound and the kind of store that can, is what the verbs would
    /// answer for good. By default every key can be held.
    fn holds(&self, key: &Key) -> Result<(), SourceError> {
        let _ = key;
        Ok(())
    }

    /// Whoever can look into it without changing anything; by default nobody can.
    fn examiner(&self) -> Option<&dyn Examine> {
        None
    }

    /// Opens a connection if need be, and reads what the store says of itself.
    fn inspect(&self) -> BoxFuture<'_, Result<Inspection, SourceError>>;

    /// Replaces the stamp if it is `expected` now; otherwise `Refused`, naming what was found.
    fn stamp<'a>(
        &'a self,
        under: &'a InstanceId,
        expected: Option<&'a Stamp>,
        new: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), SourceError>>;

    /// Leaves `version` under a reserved name, greatest-of, creating it; returns what is held afterwards.
    /// 0 only reads, and creates nothing. Like a verb on a cell it touches `under` alone.
    fn mark<'a>(&'a self, under: &'a InstanceId, version: u64) -> BoxFuture<'a, Result<u64, SourceError>>;

    /// Adds `want` (0 counts as 1) to the cell, if it is open and of this epoch, and returns the ids added; otherwise
    /// `Regressed`. A store may add fewer where so many at once would take too long; at least one. Past `i64::MAX`:
    /// `Exhausted`, and the cell is as it was.
    fn take<'a>(
        &'a self,
        cell: Cell<'a>,
        epoch: Epoch,
        want: u64,
    ) -> BoxFuture<'a, Result<Block, SourceError>>;

    /// Closes the cell for the next epoch, whatever epoch it had, and returns its value (0 if there was none).
    /// The closed mark is written all the same.
    fn close<'a>(&'a self, cell: Cell<'a>, next: Epoch) -> BoxFuture<'a, Result<u64, SourceError>>;

    /// Opens the cell at the greater of its value and `base`, only if it is the closed one of this epoch.
    /// Already open for this epoch: done. Anything else: `Regressed`.
    fn install<'a>(
        &'a self,
        cell: Cell<'a>,
        epoch: Epoch,
        base: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>>;

    /// Raises the value to `floor` if it is lower and the cell is open and of this epoch; otherwise `Regressed`. Returns
    /// the value held afterwards; a `floor` of 0 only reads, and writes nothing.
    fn lift<'a>(
        &'a self,
        cell: Cell<'a>,
        epoch: Epoch,
        floor: u64,
    ) -> BoxFuture<'a, Result<u64, SourceError>>;

    /// The stamps of its cluster's other slots, among the first `slots`, that lie in the same database: of kinds that keep each
    /// slot under names of its own, where a store in another slot's place looks like one that nobody has used. By default
    /// there are none.
    fn beside(&self, slots: SlotIndex) -> BoxFuture<'_, Result<Vec<Stamp>, SourceError>> {
        let _ = slots;
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// Removes the cell, open or closed, whatever epoch it has; whether there was one. Only for a counter that can never
    /// begin again: `guard.md` says which those are. By default it is kept, and the answer is false.
    fn remove<'a>(&'a self, cell: Cell<'a>) -> BoxFuture<'a, Result<bool, SourceError>> {
        let _ = cell;
        Box::pin(std::future::ready(Ok(false)))
    }
}

/// The mark that a store bears, whoever speaks there now: for those who read marks and leave none.
///
/// # Errors
///
/// Those of [`Store::inspect`]; `Reborn` where the store changed between the look and the reading.
pub async fn mark_of(store: &dyn Store) -> Result<u64, SourceError> {
    let speaks = store.inspect().await?.instance;
    store.mark(&speaks, 0).await
}
