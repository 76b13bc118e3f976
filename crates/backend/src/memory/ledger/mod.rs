//! A ledger in memory: a [`Book`] behind a mutex, with an incarnation that changes when its data may have.

mod calls;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sequent_core::{
    BoxFuture, Clock, DurabilityClass, Entropy, ErrorKind, Incarnation, LedgerId, Rules, SourceError,
};

use super::{Book, Speaker, pause};

/// A volatile ledger. A clone is another handle to the same data, as another process would have it.
///
/// The methods beside the traits are the faults that tests inject; nothing else calls them.
#[derive(Debug, Clone)]
pub struct MemoryLedger {
    held: Arc<Mutex<Held>>,
    clock: Arc<dyn Clock>,
    rules: Rules,
    yields: bool,
}

#[derive(Debug)]
struct Held {
    book: Book,
    speaker: Speaker,
    away: bool,
    class: DurabilityClass,
    other_master: Option<String>,
}

impl MemoryLedger {
    /// An empty ledger with an identity of its own.
    pub fn new(clock: Arc<dyn Clock>, entropy: &dyn Entropy) -> Self {
        Self::with_rules(clock, entropy, Rules::ALL)
    }

    /// An empty ledger that keeps only some of the guard's rules.
    pub fn with_rules(clock: Arc<dyn Clock>, entropy: &dyn Entropy, rules: Rules) -> Self {
        let speaker = Speaker::new("memory ledger", entropy);
        let book = Book::new(LedgerId::random(entropy), speaker.incarnation().clone(), rules);
        let class = DurabilityClass::Volatile;
        let held = Held { book, speaker, away: false, class, other_master: None };
        let held = Arc::new(Mutex::new(held));
        Self { held, clock, rules, yields: false }
    }

    /// The same ledger under the name of another durability class: for tests, whose faults are scripted.
    #[must_use]
    pub fn posing_as(self, class: DurabilityClass) -> Self {
        self.pose_as(class);
        self
    }

    /// Another class from now on, under the same incarnation, as settings that are changed while a server runs.
    pub fn pose_as(&self, class: DurabilityClass) {
        self.held().class = class;
    }

    /// From now on it says that it takes writes from another master, or no longer.
    pub fn has_another_master(&self, found: Option<&str>) {
        self.held().other_master = found.map(str::to_owned);
    }

    /// The same ledger, letting other tasks run before and after each call acts.
    #[must_use]
    pub fn yielding(self) -> Self {
        Self { yields: true, ..self }
    }

    /// A copy of the data, as a backup would have it.
    pub fn snapshot(&self) -> Book {
        self.held().book.clone()
    }

    /// Restarts from a copy, as a new incarnation.
    pub fn restore(&self, copy: Book) {
        let mut held = self.held();
        held.book = copy;
        held.rebear();
    }

    /// Goes back to a copy under the same incarnation: what only the servers' nonces can find.
    pub fn restore_in_place(&self, copy: Book) {
        let mut held = self.held();
        let incarnation = held.book.incarnation().clone();
        held.book = copy;
        held.book.speak_as(incarnation);
    }

    /// Sets a row's ceiling as a hand in the data would. Whether there is such a row.
    pub fn set_ceiling(&self, counter: &sequent_core::ledger::Counter, ceiling: u64) -> bool {
        self.held().book.set_ceiling(counter, ceiling)
    }

    /// Sets a row's `seen` as a hand in the data would. Whether there is such a row.
    pub fn set_seen(&self, counter: &sequent_core::ledger::Counter, seen: u64) -> bool {
        self.held().book.set_seen(counter, seen)
    }

    /// Deletes a row by hand, under the incarnation that speaks. Whether there was one.
    pub fn delete_row(&self, counter: &sequent_core::ledger::Counter) -> bool {
        self.held().book.delete_row(counter)
    }

    /// Sets a row's `base` as a hand in the data would. Whether there is such a row.
    pub fn set_base(&self, counter: &sequent_core::ledger::Counter, base: u64) -> bool {
        self.held().book.set_base(counter, base)
    }

    /// Sets what a dense counter has given as a hand in the data would. Whether there is such a counter.
    pub fn set_dense(&self, key: &sequent_core::Key, value: u64) -> bool {
        self.held().book.set_dense(key, value)
    }

    /// Restarts intact, as a new incarnation.
    pub fn restart(&self) {
        self.held().rebear();
    }

    /// Out of reach, or back: while it is away, every call is `Unavailable` and writes nothing.
    pub fn set_away(&self, away: bool) {
        self.held().away = away;
    }

    /// The incarnation in force.
    pub fn incarnation(&self) -> Incarnation {
        self.held().book.incarnation().clone()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // A panic of another holder would be a bug of the book, which checks before it writes.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call<'a, T: Send + 'a>(
        &'a self,
        act: impl FnOnce(&mut Held, u64) -> Result<T, SourceError> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, SourceError>> {
        Box::pin(async move {
            pause(self.yields).await;
            let now_ms = self.clock.wall_ms();
            let answer = self.reach().and_then(|mut held| act(&mut held, now_ms));
            pause(self.yields).await;
            answer
        })
    }

    fn reach(&self) -> Result<MutexGuard<'_, Held>, SourceError> {
        let held = self.held();
        if held.away {
            return Err(SourceError::new(ErrorKind::Unavailable, "memory ledger is switched away"));
        }
        Ok(held)
    }
}

impl Held {
    fn rebear(&mut self) -> Incarnation {
        let new = self.speaker.rebear();
        self.book.speak_as(new.clone());
        new
    }
}
