//! Store: the trait of a backend, with one fenced cell per counter. The guard's rules in `crates/guard/guard.md` explain its
//! calls.

use crate::{Block, Epoch, Examine, InstanceId, Key, Reply, SlotIndex, SourceError, Stamp, word_enum};

/// Cell of one counter, and the store's instance in which it may be used.
///
/// A call runs on a connection opened under `under`. Otherwise it fails with [`ErrorKind::InstanceChanged`](crate::ErrorKind::InstanceChanged)
/// and has touched nothing.
#[derive(Debug, Clone, Copy)]
pub struct Cell<'a> {
    /// The counter's key.
    pub key: &'a Key,
    /// The instance that the caller's grant names.
    pub under: &'a InstanceId,
}

word_enum! {
    /// How much of what a store acknowledged survives a crash.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum DurabilityClass {
        /// All of it.
        Durable = "durable",
        /// All except about the last second.
        Lossy = "lossy",
        /// None of it.
        Volatile = "volatile",
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

/// The store's description of itself at a fresh look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// Which instance of which data answered.
    pub instance: InstanceId,
    /// The stamp found, if any.
    pub stamp: Option<Stamp>,
    /// Whether it holds any cell. Cells without a stamp belong to somebody else.
    pub has_cells: bool,
    /// How much survives a crash.
    pub durability: Durability,
    /// The store's wall clock, in milliseconds since 1970.
    pub clock_ms: u64,
    /// The engine's name and version, for people.
    pub version: String,
}

/// System that holds counters. Each call is a single statement on its server if possible.
///
/// Contract for implementations, checked by the conformance suite in `testkit`:
///
/// - A counter that has vanished is `Regressed`. It is never created again at 1: only `install`, over its own close, creates a
///   cell.
/// - A future dropped before it is ready closes its connection, since its reply must never reach the next caller.
/// - A number is returned only once it is as durable as the store can make it.
/// - A call retries only if it needs to, and a bounded number of times (`Contended`). It has no time limit, and every pool has
///   a bound.
pub trait Store: Send + Sync {
    /// Whether the store can hold a counter of this key, as far as is known without asking its server. Called when a sequence
    /// is defined. By default every key can be held.
    ///
    /// # Errors
    ///
    /// `Exhausted` if the calls on this key would always fail. It names the key, the bound, and a kind of store that can hold
    /// it.
    fn holds(&self, key: &Key) -> Result<(), SourceError> {
        let _ = key;
        Ok(())
    }

    /// The examiner, which reads without changing anything; `None` by default.
    fn examiner(&self) -> Option<&dyn Examine> {
        None
    }

    /// Opens a connection if needed, and reads the store's description of itself.
    fn inspect(&self) -> Reply<'_, Inspection>;

    /// Replaces the stamp if it is `expected` now; otherwise `Refused`, naming what was found.
    fn stamp<'a>(
        &'a self,
        under: &'a InstanceId,
        expected: Option<&'a Stamp>,
        new: &'a Stamp,
    ) -> Reply<'a, ()>;

    /// Writes `version` under a reserved name, which is created if missing. The greater version is kept and returned. Version 0
    /// only reads and creates nothing. Like the calls on cells, it touches only the instance `under`.
    fn mark<'a>(&'a self, under: &'a InstanceId, version: u64) -> Reply<'a, u64>;

    /// Adds `want` (0 counts as 1) to the cell and returns the ids added. A store may add fewer if so many at once would take
    /// too long, but at least one.
    ///
    /// # Errors
    ///
    /// `Regressed` if the cell is not open for this epoch. `Exhausted` past `i64::MAX`; the cell is then unchanged.
    fn take<'a>(&'a self, cell: Cell<'a>, epoch: Epoch, want: u64) -> Reply<'a, Block>;

    /// Closes the cell for the epoch `next`, whatever its epoch was, and returns its value. Without a cell it returns 0 and
    /// still writes a closed one.
    fn close<'a>(&'a self, cell: Cell<'a>, next: Epoch) -> Reply<'a, u64>;

    /// Opens the cell at the greater of its value and `base`, if it is closed for this epoch. A cell already open for this
    /// epoch is left as it is. Anything else is `Regressed`.
    fn install<'a>(&'a self, cell: Cell<'a>, epoch: Epoch, base: u64) -> Reply<'a, ()>;

    /// Raises the value to `floor` if it is lower, and returns the value held afterwards. A `floor` of 0 only reads. The call
    /// is `Regressed` unless the cell is open for this epoch.
    fn lift<'a>(&'a self, cell: Cell<'a>, epoch: Epoch, floor: u64) -> Reply<'a, u64>;

    /// The stamps of the cluster's other slots, among the first `slots`, that are in the same database.
    ///
    /// For kinds of store that keep each slot under its own names: there, a store moved to another slot looks unused. By
    /// default there are none.
    fn beside(&self, slots: SlotIndex) -> Reply<'_, Vec<Stamp>> {
        let _ = slots;
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// Removes the cell, whether open or closed and whatever its epoch, and returns whether there was one. By default it is
    /// kept and the result is false.
    ///
    /// Allowed only for a counter that can never start again; `crates/guard/guard.md` says which those are.
    fn remove<'a>(&'a self, cell: Cell<'a>) -> Reply<'a, bool> {
        let _ = cell;
        Box::pin(std::future::ready(Ok(false)))
    }
}

/// Reads a store's mark, whatever its current instance is. For callers that read marks and write none.
///
/// # Errors
///
/// Those of [`Store::inspect`]; `InstanceChanged` if the store's instance changed between inspection and read.
pub async fn mark_of(store: &dyn Store) -> Result<u64, SourceError> {
    let speaks = store.inspect().await?.instance;
    store.mark(&speaks, 0).await
}
