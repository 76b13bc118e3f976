//! A world of stores and one ledger in memory, and servers that are opened over it.

mod numbers;
mod server;
mod wire;
mod wired;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use sequent_backend::memory::{CellState, MemoryLedger};
pub(crate) use sequent_backend::memory::{LedgerState, MemoryStore};
use sequent_core::{
    BoxFuture, Clock, DurabilityClass, Era, ErrorKind, InstanceId, Key, Layout, Mark, MarkPlace, Rules,
    SlotIndex, SourceError, Store,
    ledger::{Counter, Loss, PastEpoch, Row},
};
use sequent_testkit::{PausedClock, SeededEntropy};

pub(crate) use numbers::Numbers;
pub(crate) use server::{Server, Setup, Wires};
pub(crate) use wire::{Gate, When};
pub(crate) use wired::Wired;

/// Stores, ledger, the data directory's mark, and what left the servers.
pub(crate) struct World {
    pub(crate) clock: Arc<PausedClock>,
    pub(crate) stores: Vec<MemoryStore>,
    pub(crate) ledger: MemoryLedger,
    pub(crate) home: Arc<Home>,
    pub(crate) numbers: Arc<Numbers>,
    pub(crate) rules: Rules,
    pub(crate) entropy: SeededEntropy,
}

/// What a world is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) slots: SlotIndex,
    pub(crate) class: DurabilityClass,
    /// The ledger's.
    pub(crate) ledger: DurabilityClass,
    /// Whether other tasks run in the middle of each call.
    pub(crate) yields: bool,
    pub(crate) rules: Rules,
    pub(crate) seed: u64,
}

impl Default for Kind {
    fn default() -> Self {
        let durable = DurabilityClass::Durable;
        Self { slots: 2, class: durable, ledger: durable, yields: false, rules: Rules::ALL, seed: 1 }
    }
}

/// The key of most tests.
pub(crate) fn key() -> Key {
    Key::from_stored("order")
}

/// The counter of [`key`] in a slot.
pub(crate) fn counter(slot: SlotIndex) -> Counter {
    Counter { slot, key: key() }
}

impl World {
    /// Durable stores in this many slots.
    pub(crate) fn new(slots: SlotIndex) -> Self {
        Self::of(Kind { slots, ..Kind::default() })
    }

    /// A fresh world.
    pub(crate) fn of(kind: Kind) -> Self {
        let entropy = SeededEntropy::new(kind.seed);
        let clock = Arc::new(PausedClock::new());
        let shared: Arc<dyn Clock> = Arc::clone(&clock) as _;
        let store = |_| {
            let store = MemoryStore::with_rules(Arc::clone(&shared), &entropy, kind.rules);
            if kind.yields { store.yielding() } else { store }.posing_as(kind.class)
        };
        let stores = (0..kind.slots).map(store).collect();
        let ledger =
            MemoryLedger::with_rules(Arc::clone(&shared), &entropy, kind.rules).posing_as(kind.ledger);
        let ledger = if kind.yields { ledger.yielding() } else { ledger };
        let (home, numbers, rules) = (Arc::default(), Arc::default(), kind.rules);
        Self { clock, stores, ledger, home, numbers, rules, entropy }
    }

    /// The same world, in which repeats are counted and end nothing.
    #[must_use]
    pub(crate) fn tolerant(self) -> Self {
        Self { numbers: Arc::new(Numbers::tolerant()), ..self }
    }

    /// Opens a server.
    pub(crate) async fn open(&self, name: &'static str) -> Arc<Server> {
        self.open_as(name, Setup::default()).await
    }

    /// Opens a server in its own way.
    pub(crate) async fn open_as(&self, name: &'static str, setup: Setup) -> Arc<Server> {
        Server::open(self, name, setup, self.wires()).await.unwrap()
    }

    /// Opens a server, or says why not.
    pub(crate) async fn try_open(
        &self,
        name: &'static str,
        setup: Setup,
    ) -> Result<Arc<Server>, SourceError> {
        Server::open(self, name, setup, self.wires()).await
    }

    /// Opens a server over wires that the test has prepared.
    pub(crate) async fn open_over(&self, name: &'static str, wires: Wires) -> Arc<Server> {
        Server::open(self, name, Setup::default(), wires).await.unwrap()
    }

    /// Wires for a server that is about to be opened.
    pub(crate) fn wires(&self) -> Wires {
        Wires::new(self.stores.len())
    }

    /// The ledger's row of [`key`] in a slot.
    pub(crate) fn row(&self, slot: SlotIndex) -> Row {
        self.row_of(&counter(slot)).expect("a row")
    }

    /// The ledger's row of a counter.
    pub(crate) fn row_of(&self, counter: &Counter) -> Option<Row> {
        self.ledger.snapshot().row(counter).cloned()
    }

    /// The ended epochs of [`key`] in a slot.
    pub(crate) fn history(&self, slot: SlotIndex) -> Vec<PastEpoch> {
        self.ledger.snapshot().history(&counter(slot))
    }

    /// The cell of [`key`] in a slot.
    pub(crate) fn cell(&self, slot: SlotIndex) -> CellState {
        self.stores[usize::from(slot)].snapshot().cell(&key()).expect("a cell")
    }

    /// The highest id of [`key`] that left from a slot.
    pub(crate) fn highest(&self, slot: SlotIndex) -> u64 {
        self.numbers.highest(&counter(slot))
    }

    /// The operator names the loss.
    pub(crate) async fn recover(&self, loss: Loss) -> InstanceId {
        self.try_recover(loss).await.unwrap()
    }

    pub(crate) async fn try_recover(&self, loss: Loss) -> Result<InstanceId, SourceError> {
        let shards: Vec<(SlotIndex, Arc<dyn Store>)> =
            (0..).zip(&self.stores).map(|(slot, store)| (slot, Arc::new(store.clone()) as _)).collect();
        let limit = std::time::Duration::from_secs(1);
        sequent_guard::recover(&self.ledger, &shards, Some(&*self.home), loss, limit).await
    }

    fn layout(&self) -> Layout {
        let slots = self.stores.len().next_power_of_two();
        Layout::new(u8::try_from(slots.trailing_zeros()).unwrap(), 0).unwrap()
    }
}

/// The data directory's place for marks.
#[derive(Debug, Default)]
pub(crate) struct Home {
    held: Mutex<Mark>,
    broken: AtomicBool,
}

impl Home {
    /// The mark held.
    pub(crate) fn held(&self) -> u64 {
        self.held.lock().unwrap().version
    }

    /// Somebody who has seen a later version leaves it here.
    pub(crate) fn leave(&self, version: u64) {
        let mut held = self.held.lock().unwrap();
        *held = held.max(Mark { version, era: None });
    }

    /// From now on it can, or can't, be read and written.
    pub(crate) fn breaks(&self, broken: bool) {
        self.broken.store(broken, Ordering::Relaxed);
    }
}

impl MarkPlace for Home {
    fn bear(&self, version: u64, era: Option<Era>) -> BoxFuture<'_, Result<Mark, SourceError>> {
        if self.broken.load(Ordering::Relaxed) {
            let error = SourceError::new(ErrorKind::Unavailable, "the data directory is read-only");
            return Box::pin(std::future::ready(Err(error)));
        }
        let mut held = self.held.lock().unwrap();
        if version > 0 {
            *held = held.max(Mark { version, era });
        }
        Box::pin(std::future::ready(Ok(*held)))
    }
}
