//! A ledger in memory: a [`Book`] behind a mutex, with an incarnation that changes when its data may have.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sequent_core::{
    BoxFuture, Clock, Durability, DurabilityClass, Entropy, ErrorKind, Incarnation, LedgerId, Rule, Rules,
    SlotIndex, SourceError,
    ledger::{
        Answer, Catalog, Counter, Defined, Definition, Identity, Known, LayoutBook, LayoutRecord,
        LedgerInspection, Loss, Opened, Opening, Pass, PastLife, Presence, Raise, Raised, Reading, Recovery,
        Row, Rows, ServerId, ShowUp, Word, Words,
    },
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
    class: DurabilityClass,
    yields: bool,
}

#[derive(Debug)]
struct Held {
    book: Book,
    speaker: Speaker,
    away: bool,
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
        let held = Arc::new(Mutex::new(Held { book, speaker, away: false }));
        Self { held, clock, rules, class: DurabilityClass::Volatile, yields: false }
    }

    /// The same ledger under the name of another durability class: for tests, whose faults are scripted.
    #[must_use]
    pub fn posing_as(self, class: DurabilityClass) -> Self {
        Self { class, ..self }
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

impl Identity for MemoryLedger {
    fn inspect(&self) -> BoxFuture<'_, Result<LedgerInspection, SourceError>> {
        self.call(|held, now_ms| {
            Ok(LedgerInspection {
                incarnation: held.book.incarnation().clone(),
                id: held.book.id(),
                version: held.book.version(),
                durability: Durability { class: self.class, settings: Vec::new() },
                clock_ms: now_ms,
                engine: super::VERSION.to_owned(),
            })
        })
    }

    fn enlist<'a>(
        &'a self,
        under: &'a Incarnation,
        server: ServerId,
        nonce: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        self.call(move |held, now_ms| held.book.enlist(under, server, nonce, now_ms))
    }

    fn rebear<'a>(&'a self, was: &'a Incarnation) -> BoxFuture<'a, Result<Incarnation, SourceError>> {
        self.call(move |held, _| {
            let new = held.speaker.rebear();
            Ok(held.book.rebear(was, new))
        })
    }

    fn known(&self) -> BoxFuture<'_, Result<Known, SourceError>> {
        self.call(|held, _| Ok(held.book.known().clone()))
    }

    fn record<'a>(
        &'a self,
        under: &'a Incarnation,
        slot: Option<SlotIndex>,
        incarnation: &'a Incarnation,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        self.call(move |held, _| held.book.record(under, slot, incarnation))
    }
}

impl Rows for MemoryLedger {
    fn read<'a>(
        &'a self,
        under: &'a Incarnation,
        counters: &'a [Counter],
    ) -> BoxFuture<'a, Result<Reading, SourceError>> {
        self.call(move |held, now_ms| {
            Ok(Reading { rows: held.book.read(under, counters)?, clock_ms: now_ms })
        })
    }

    fn open<'a>(
        &'a self,
        pass: Pass<'a>,
        openings: &'a [Opening],
    ) -> BoxFuture<'a, Result<Answer<Vec<Opened>>, SourceError>> {
        if self.rules.keep(Rule::OpenAtomic) {
            return self.call(move |held, now_ms| held.book.open(&pass, openings, None, now_ms));
        }
        Box::pin(async move {
            let read = self.call(|held, _| Ok(held.book.ceilings(openings))).await?;
            tokio::task::yield_now().await;
            self.call(|held, now_ms| held.book.open(&pass, openings, Some(&read), now_ms)).await
        })
    }

    fn raise<'a>(
        &'a self,
        pass: Pass<'a>,
        raises: &'a [Raise],
    ) -> BoxFuture<'a, Result<Answer<Vec<Raised>>, SourceError>> {
        self.call(move |held, now_ms| held.book.raise(&pass, raises, now_ms))
    }

    fn list<'a>(
        &'a self,
        sequence: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<(Counter, Row)>, SourceError>> {
        self.call(move |held, _| Ok(held.book.list(sequence, most)))
    }

    fn history<'a>(&'a self, counter: &'a Counter) -> BoxFuture<'a, Result<Vec<PastLife>, SourceError>> {
        self.call(move |held, _| Ok(held.book.history(counter)))
    }
}

impl ShowUp for MemoryLedger {
    fn show_up<'a>(
        &'a self,
        pass: Pass<'a>,
        raises: &'a [Raise],
    ) -> BoxFuture<'a, Result<Answer<Presence>, SourceError>> {
        self.call(move |held, now_ms| held.book.show_up(&pass, raises, now_ms))
    }
}

impl LayoutBook for MemoryLedger {
    fn layout(&self) -> BoxFuture<'_, Result<Option<LayoutRecord>, SourceError>> {
        self.call(|held, _| Ok(held.book.layout().cloned()))
    }

    fn found<'a>(&'a self, first: &'a LayoutRecord) -> BoxFuture<'a, Result<LayoutRecord, SourceError>> {
        self.call(move |held, _| Ok(held.book.found(first)))
    }
}

impl Catalog for MemoryLedger {
    fn definitions(&self) -> BoxFuture<'_, Result<(u64, Vec<Definition>), SourceError>> {
        self.call(|held, _| Ok(held.book.definitions()))
    }

    fn define<'a>(&'a self, definition: &'a Definition) -> BoxFuture<'a, Result<Defined, SourceError>> {
        self.call(move |held, _| Ok(held.book.define(definition)))
    }
}

impl Words for MemoryLedger {
    fn words(&self) -> BoxFuture<'_, Result<Vec<Word>, SourceError>> {
        self.call(|held, now_ms| Ok(held.book.words(now_ms)))
    }

    fn say<'a>(&'a self, word: &'a Word) -> BoxFuture<'a, Result<Word, SourceError>> {
        self.call(move |held, now_ms| Ok(held.book.say(word, now_ms)))
    }
}

impl Recovery for MemoryLedger {
    fn recover(&self, loss: Loss, version_floor: u64) -> BoxFuture<'_, Result<Incarnation, SourceError>> {
        self.call(move |held, _| {
            let new = held.speaker.rebear();
            Ok(held.book.recover(loss, version_floor, new))
        })
    }
}
