//! A ledger in memory: its state behind a mutex, with an instance that changes when its data may have.

mod engine;
mod state;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sequent_core::{Clock, DurabilityClass, Entropy, InstanceId, Key, LedgerId, Rules, ledger::Counter};

use super::Speaker;
use crate::ledger::CoreLedger;

pub use state::LedgerState;

/// A volatile ledger. A clone is another handle to the same data, as another process would have it.
///
/// The methods beside the traits are the faults that tests inject; nothing else calls them.
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
    speaker: Speaker,
    away: bool,
    class: DurabilityClass,
    other_master: Option<String>,
}

impl MemoryLedger {
    /// An empty ledger with an identity of its own.
    pub fn new(clock: Arc<dyn Clock>, entropy: &dyn Entropy) -> Self {
        let speaker = Speaker::new("memory ledger", entropy);
        let state = LedgerState::new(LedgerId::random(entropy), speaker.instance().clone());
        let class = DurabilityClass::Volatile;
        let held = Arc::new(Mutex::new(Held { state, speaker, away: false, class, other_master: None }));
        Self::on(MemoryLedgerEngine { held, clock, yields: false })
    }

    /// An empty ledger that keeps only some of the guard's rules.
    pub fn with_rules(clock: Arc<dyn Clock>, entropy: &dyn Entropy, rules: Rules) -> Self {
        Self::new(clock, entropy).keeping(rules)
    }

    /// The same ledger under the name of another durability class: for tests, whose faults are scripted.
    #[must_use]
    pub fn posing_as(self, class: DurabilityClass) -> Self {
        self.pose_as(class);
        self
    }

    /// Another class from now on, under the same instance, as settings that are changed while a server runs.
    pub fn pose_as(&self, class: DurabilityClass) {
        self.engine.held().class = class;
    }

    /// From now on it says that it takes writes from another master, or no longer.
    pub fn has_another_master(&self, found: Option<&str>) {
        self.engine.held().other_master = found.map(str::to_owned);
    }

    /// The same ledger, letting other tasks run before and after each call acts.
    #[must_use]
    pub fn yielding(mut self) -> Self {
        self.engine.yields = true;
        self
    }

    /// A copy of the data, as a backup would have it.
    pub fn snapshot(&self) -> LedgerState {
        self.engine.held().state.clone()
    }

    /// Restarts from a copy, as a new instance.
    pub fn restore(&self, copy: LedgerState) {
        let mut held = self.engine.held();
        held.state = copy;
        held.speak_anew();
    }

    /// Goes back to a copy under the same instance: what only the servers' nonces can find.
    pub fn restore_in_place(&self, copy: LedgerState) {
        let mut held = self.engine.held();
        let instance = held.state.instance().clone();
        held.state = copy;
        held.state.speak_as(instance);
    }

    /// Sets a row's ceiling as a hand in the data would. Whether there is such a row.
    pub fn set_ceiling(&self, counter: &Counter, ceiling: u64) -> bool {
        self.engine.held().state.set_row(counter, |row| row.ceiling = ceiling)
    }

    /// Sets a row's `seen` as a hand in the data would. Whether there is such a row.
    pub fn set_seen(&self, counter: &Counter, seen: u64) -> bool {
        self.engine.held().state.set_row(counter, |row| row.seen = seen)
    }

    /// Sets a row's `base` as a hand in the data would. Whether there is such a row.
    pub fn set_base(&self, counter: &Counter, base: u64) -> bool {
        self.engine.held().state.set_row(counter, |row| row.base = base)
    }

    /// Deletes a row by hand, under the instance that speaks. Whether there was one.
    pub fn delete_row(&self, counter: &Counter) -> bool {
        self.engine.held().state.delete_row(counter)
    }

    /// Sets what a dense counter has given as a hand in the data would. Whether there is such a counter.
    pub fn set_dense(&self, key: &Key, value: u64) -> bool {
        self.engine.held().state.set_dense(key, value)
    }

    /// Restarts intact, as a new instance.
    pub fn restart(&self) {
        self.engine.held().speak_anew();
    }

    /// Out of reach, or back: while it is away, every call is `Unavailable` and writes nothing.
    pub fn set_away(&self, away: bool) {
        self.engine.held().away = away;
    }

    /// The instance in force.
    pub fn instance(&self) -> InstanceId {
        self.engine.held().state.instance().clone()
    }
}

impl MemoryLedgerEngine {
    fn held(&self) -> MutexGuard<'_, Held> {
        // A panic of another holder would be a bug of the state, which changes after all checks.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn speak_anew(&mut self) {
        let new = self.speaker.rebear();
        self.state.speak_as(new);
    }
}
