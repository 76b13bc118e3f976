//! Ledger in memory: its state behind a mutex, with an instance that changes whenever the data may have gone back.

mod engine;
mod state;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sequent_core::{Clock, DurabilityClass, Entropy, InstanceId, Key, LedgerId, Rules, ledger::Counter};

use super::CurrentInstance;
use crate::ledger::CoreLedger;

pub use state::LedgerState;

/// A volatile ledger. A clone is another handle to the same data, like one in another process.
///
/// The methods beside those of the traits inject faults for tests.
pub type MemoryLedger = CoreLedger<MemoryLedgerEngine>;

/// The engine of a [`MemoryLedger`].
#[derive(Debug, Clone)]
pub struct MemoryLedgerEngine {
    held: Arc<Mutex<Held>>,
    clock: Arc<dyn Clock>,
    yields: bool,
}

#[derive(Debug)]
struct Held {
    state: LedgerState,
    current: CurrentInstance,
    away: bool,
    class: DurabilityClass,
    other_master: Option<String>,
}

impl MemoryLedger {
    /// An empty ledger with an identity of its own.
    pub fn new(clock: Arc<dyn Clock>, entropy: &dyn Entropy) -> Self {
        let current = CurrentInstance::new("memory ledger", entropy);
        let state = LedgerState::new(LedgerId::random(entropy), current.instance().clone());
        let class = DurabilityClass::Volatile;
        let held = Arc::new(Mutex::new(Held { state, current, away: false, class, other_master: None }));
        Self::on(MemoryLedgerEngine { held, clock, yields: false })
    }

    /// An empty ledger with only some of the guard's rules.
    pub fn with_rules(clock: Arc<dyn Clock>, entropy: &dyn Entropy, rules: Rules) -> Self {
        Self::new(clock, entropy).keeping(rules)
    }

    /// The same ledger, reporting another durability class: for tests that script its faults.
    #[must_use]
    pub fn posing_as(self, class: DurabilityClass) -> Self {
        self.pose_as(class);
        self
    }

    /// Reports another durability class from now on, under the same instance, like a setting changed while a server
    /// runs.
    pub fn pose_as(&self, class: DurabilityClass) {
        self.engine.held().class = class;
    }

    /// Reports from now on that it takes writes from another master; `None`: no longer.
    pub fn has_another_master(&self, found: Option<&str>) {
        self.engine.held().other_master = found.map(str::to_owned);
    }

    /// The same ledger, yielding to other tasks before and after each call acts.
    #[must_use]
    pub fn yielding(mut self) -> Self {
        self.engine.yields = true;
        self
    }

    /// A copy of the data, like a backup.
    pub fn snapshot(&self) -> LedgerState {
        self.engine.held().state.clone()
    }

    /// Restarts from a copy, as a new instance.
    pub fn restore(&self, copy: LedgerState) {
        let mut held = self.engine.held();
        held.state = copy;
        held.renew_instance();
    }

    /// Goes back to a copy under the same instance. Only the servers' nonces can detect that.
    pub fn restore_in_place(&self, mut copy: LedgerState) {
        let mut held = self.engine.held();
        copy.instance = held.state.instance.clone();
        held.state = copy;
    }

    /// Sets a row's ceiling directly, like an operator in the data; `false` if there is no such row.
    pub fn set_ceiling(&self, counter: &Counter, ceiling: u64) -> bool {
        self.engine.held().state.set_row(counter, |row| row.ceiling = ceiling)
    }

    /// Sets a row's `seen` directly, like an operator in the data; `false` if there is no such row.
    pub fn set_seen(&self, counter: &Counter, seen: u64) -> bool {
        self.engine.held().state.set_row(counter, |row| row.seen = seen)
    }

    /// Sets a row's `base` directly, like an operator in the data; `false` if there is no such row.
    pub fn set_base(&self, counter: &Counter, base: u64) -> bool {
        self.engine.held().state.set_row(counter, |row| row.base = base)
    }

    /// Deletes a row directly, under the same instance; `false` if there was none.
    pub fn delete_row(&self, counter: &Counter) -> bool {
        self.engine.held().state.delete_row(counter)
    }

    /// Sets a dense counter's value directly, like an operator in the data; `false` if there is no such counter.
    pub fn set_dense(&self, key: &Key, value: u64) -> bool {
        self.engine.held().state.set_dense(key, value)
    }

    /// Restarts with all data, as a new instance.
    pub fn restart(&self) {
        self.engine.held().renew_instance();
    }

    /// Makes the ledger unreachable, or reachable again. While it is away, every call is `Unavailable` and writes
    /// nothing.
    pub fn set_away(&self, away: bool) {
        self.engine.held().away = away;
    }

    /// The current instance.
    pub fn instance(&self) -> InstanceId {
        self.engine.held().state.instance.clone()
    }
}

impl MemoryLedgerEngine {
    fn held(&self) -> MutexGuard<'_, Held> {
        // Poisoning is ignored: the state changes only after all checks, so a panic leaves it whole.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn renew_instance(&mut self) {
        self.state.instance = self.current.renew();
    }
}
