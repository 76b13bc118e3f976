//! The ground truth: the stores and the ledger as they are, their copies, and every id that ever left a guard.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
};

use sequent_backend::memory::{Cells, LedgerState, MemoryLedger, MemoryStore};
use sequent_core::{Block, Clock, DurabilityClass, Key, Rules, SlotIndex, ledger::Counter};
use sequent_testkit::{PausedClock, SeededEntropy};

use crate::spans::Given;

/// Every id that left a guard, by counter and server, and every number that a caller got.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    ids: BTreeMap<Counter, Given>,
    numbers: BTreeMap<Key, Given>,
    given: usize,
    given_by: BTreeMap<usize, usize>,
    /// Repeats found, in words.
    pub(crate) repeats: Vec<String>,
    /// What happened, in order.
    pub(crate) trace: Vec<String>,
}

/// The latest lines of a trace that a report shows.
const TRACE_SHOWN: usize = 60;

impl Truth {
    /// A block left the guard of a server.
    pub(crate) fn block_left(&mut self, server: usize, counter: &Counter, block: Block) {
        if let Some(id) = self.ids.entry(counter.clone()).or_default().add(block) {
            let Counter { slot, key } = counter;
            self.repeats.push(format!("server {server} releases id {id} of slot {slot} key {key} again"));
        }
    }

    /// Callers of a server got the numbers of a block.
    pub(crate) fn numbers_given(&mut self, server: usize, key: &Key, block: Block) {
        let count = usize::try_from(block.count()).unwrap_or(usize::MAX);
        *self.given_by.entry(server).or_insert(0) += count;
        self.given += count;
        if let Some(number) = self.numbers.entry(key.clone()).or_default().add(block) {
            self.repeats.push(format!("server {server} gives number {number} of {key} again"));
        }
    }

    /// The highest id that left any guard for a counter, 0 if none did.
    pub(crate) fn highest(&self, counter: &Counter) -> u64 {
        self.ids.get(counter).map_or(0, Given::highest)
    }

    /// How many numbers callers got.
    pub(crate) fn given(&self) -> usize {
        self.given
    }

    /// How many numbers the callers of one server got.
    pub(crate) fn given_by(&self, server: usize) -> usize {
        self.given_by.get(&server).copied().unwrap_or(0)
    }

    /// The end of the trace and the repeats, for a failing test.
    pub(crate) fn report(&self) -> String {
        let skipped = self.trace.len().saturating_sub(TRACE_SHOWN);
        let mut lines: Vec<&str> = self.trace[skipped..].iter().map(String::as_str).collect();
        lines.extend(self.repeats.iter().map(String::as_str));
        lines.join("\n")
    }
}

/// Stores, ledger, copies and truth.
#[derive(Debug)]
pub(crate) struct World {
    /// The clock that all servers share; its wall may be stepped.
    pub(crate) clock: Arc<PausedClock>,
    /// One store a slot.
    pub(crate) stores: Vec<MemoryStore>,
    /// The ledger.
    pub(crate) ledger: MemoryLedger,
    /// Whether messages are neither lost nor late any more.
    pub(crate) calm: Arc<AtomicBool>,
    /// The keys in use.
    pub(crate) keys: Vec<Key>,
    /// Which store is in which slot; those behind the ring's are in none.
    order: Mutex<Vec<usize>>,
    /// What has been copied of each store.
    copies: Mutex<Vec<Option<Cells>>>,
    /// What has been copied of the ledger.
    ledger_copy: Mutex<Option<LedgerState>>,
    truth: Mutex<Truth>,
}

impl World {
    /// A fresh world of `slots` stores of one durability class.
    pub(crate) fn new(slots: SlotIndex, class: DurabilityClass, rules: Rules, dice: &SeededEntropy) -> Self {
        let clock = Arc::new(PausedClock::new());
        let shared: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
        let store = |_| MemoryStore::with_rules(Arc::clone(&shared), dice, rules).posing_as(class);
        let ledger = MemoryLedger::with_rules(Arc::clone(&shared), dice, rules)
            .posing_as(DurabilityClass::Durable)
            .yielding();
        let stores: Vec<MemoryStore> = (0..slots).map(store).collect();
        let keys = vec![Key::from_stored("order"), Key::from_stored("bill")];
        let copies = Mutex::new(vec![None; stores.len()]);
        let order = Mutex::new((0..stores.len()).collect());
        Self {
            calm: Arc::default(),
            clock,
            stores,
            ledger,
            keys,
            order,
            copies,
            ledger_copy: Mutex::default(),
            truth: Mutex::default(),
        }
    }

    /// The ground truth.
    pub(crate) fn truth(&self) -> MutexGuard<'_, Truth> {
        self.truth.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which store is in which slot.
    pub(crate) fn order(&self) -> MutexGuard<'_, Vec<usize>> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stores of a ring of so many slots, by slot.
    pub(crate) fn ring(&self, slots: SlotIndex) -> Vec<MemoryStore> {
        self.order().iter().take(usize::from(slots)).map(|at| self.stores[*at].clone()).collect()
    }

    /// What has been copied of each store.
    pub(crate) fn copies(&self) -> MutexGuard<'_, Vec<Option<Cells>>> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What has been copied of the ledger.
    pub(crate) fn ledger_copy(&self) -> MutexGuard<'_, Option<LedgerState>> {
        self.ledger_copy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a line of the trace.
    pub(crate) fn note(&self, line: impl std::fmt::Display) {
        let at = self.clock.wall_ms() % 1_000_000_000;
        self.truth().trace.push(format!("{at:9} {line}"));
    }

    /// Every counter of a slot.
    pub(crate) fn counters(&self, slot: usize) -> impl Iterator<Item = Counter> + '_ {
        #[allow(clippy::cast_possible_truncation, reason = "a simulated ring has a handful of slots")]
        let slot = slot as SlotIndex;
        self.keys.iter().map(move |key| Counter { slot, key: key.clone() })
    }

    /// Whether the ledger covers all that left a guard from this slot: its store may then forget anything.
    pub(crate) fn ledger_covers(&self, slot: usize) -> bool {
        let book = self.ledger.snapshot();
        let truth = self.truth();
        self.counters(slot)
            .all(|counter| book.row(&counter).map_or(0, |row| row.ceiling) >= truth.highest(&counter))
    }

    /// Whether the ledger knows of all that left a guard from this slot as seen.
    pub(crate) fn seen_covers(&self, slot: usize) -> bool {
        let book = self.ledger.snapshot();
        let truth = self.truth();
        self.counters(slot)
            .all(|counter| book.row(&counter).map_or(0, |row| row.seen) >= truth.highest(&counter))
    }
}
