//! The store decorator: every verb in a task of its own, limited in time, measured, and held against its slot.

use std::sync::Arc;

use sequent_core::{
    Block, BoxFuture, Cell, ErrorKind, Examine, Incarnation, Inspection, Key, Life, SlotIndex, SourceError,
    Stamp, Store,
};
use tokio::time::timeout;

use crate::roster::Roster;

/// A store whose verbs the caller's cancellation can't reach.
///
/// A verb that passes `attempt_timeout` is dropped inside its task, which costs the store its connection. Only the
/// store's own faults count: what a caller gives up is finished, and counted by how it finished.
pub(crate) struct Timed {
    slot: SlotIndex,
    store: Arc<dyn Store>,
    roster: Arc<Roster>,
}

impl Timed {
    pub(crate) fn new(slot: SlotIndex, store: Arc<dyn Store>, roster: Arc<Roster>) -> Self {
        Self { slot, store, roster }
    }

    fn run<'a, T: Send + 'static>(
        &self,
        verb: &'static str,
        work: impl FnOnce(Arc<dyn Store>) -> BoxFuture<'static, Result<T, SourceError>>,
    ) -> BoxFuture<'a, Result<T, SourceError>> {
        let attempt = Attempt { verb, slot: self.slot, roster: Arc::clone(&self.roster) };
        let task = tokio::spawn(attempt.run(work(Arc::clone(&self.store))));
        Box::pin(async move {
            task.await.unwrap_or_else(|error| {
                Err(SourceError::new(ErrorKind::Unavailable, format!("{verb}: its task ended early"))
                    .because(error))
            })
        })
    }
}

/// One verb under way.
struct Attempt {
    verb: &'static str,
    slot: SlotIndex,
    roster: Arc<Roster>,
}

impl Attempt {
    async fn run<T>(self, work: BoxFuture<'static, Result<T, SourceError>>) -> Result<T, SourceError> {
        let (clock, config) = (&self.roster.env().clock, self.roster.config());
        let generation = self.roster.snapshot().standing(self.slot).generation;
        let begun = clock.now();
        let outcome = timeout(config.attempt_timeout, work).await.unwrap_or_else(|_| Err(self.timed_out()));
        match &outcome {
            Ok(_) => {
                let took = clock.now().saturating_duration_since(begun);
                if took > config.slow_after {
                    self.roster.slow(self.slot, generation, took);
                }
            }
            // A stamp is compare-and-set: that somebody else was first is an answer, and the guard judges it.
            Err(error) if self.verb == "stamp" && error.kind() == ErrorKind::Refused => {}
            Err(error) => self.roster.failed(self.slot, generation, error),
        }
        outcome
    }

    fn timed_out(&self) -> SourceError {
        let (verb, limit) = (self.verb, self.roster.config().attempt_timeout.as_millis());
        SourceError::new(ErrorKind::Timeout, format!("{verb}: no answer within {limit} ms"))
    }
}

#[deny(clippy::missing_trait_methods)]
impl Store for Timed {
    /// Nobody is asked, so nothing is timed.
    fn holds(&self, key: &Key) -> Result<(), SourceError> {
        self.store.holds(key)
    }

    /// Whoever looks has limits of its own, and what it finds is held against nobody.
    fn examiner(&self) -> Option<&dyn Examine> {
        self.store.examiner()
    }

    fn inspect(&self) -> BoxFuture<'_, Result<Inspection, SourceError>> {
        self.run("inspect", |store| Box::pin(async move { store.inspect().await }))
    }

    fn stamp<'a>(
        &'a self,
        under: &'a Incarnation,
        expected: Option<&'a Stamp>,
        new: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        let (under, expected, new) = (under.clone(), expected.cloned(), new.clone());
        self.run("stamp", |store| Box::pin(async move { store.stamp(&under, expected.as_ref(), &new).await }))
    }

    fn beside(&self, slots: SlotIndex) -> BoxFuture<'_, Result<Vec<Stamp>, SourceError>> {
        self.run("look for other slots", move |store| Box::pin(async move { store.beside(slots).await }))
    }

    fn mark<'a>(&'a self, under: &'a Incarnation, version: u64) -> BoxFuture<'a, Result<u64, SourceError>> {
        let under = under.clone();
        self.run("mark", move |store| Box::pin(async move { store.mark(&under, version).await }))
    }

    fn take<'a>(
        &'a self,
        Cell { key, under }: Cell<'a>,
        life: Life,
        want: u64,
    ) -> BoxFuture<'a, Result<Block, SourceError>> {
        let (key, under) = (key.clone(), under.clone());
        self.run("take", move |store| {
            Box::pin(async move { store.take(Cell { key: &key, under: &under }, life, want).await })
        })
    }

    fn close<'a>(
        &'a self,
        Cell { key, under }: Cell<'a>,
        next: Life,
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        let (key, under) = (key.clone(), under.clone());
        self.run("close", move |store| {
            Box::pin(async move { store.close(Cell { key: &key, under: &under }, next).await })
        })
    }

    fn install<'a>(
        &'a self,
        Cell { key, under }: Cell<'a>,
        life: Life,
        base: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        let (key, under) = (key.clone(), under.clone());
        self.run("install", move |store| {
            Box::pin(async move { store.install(Cell { key: &key, under: &under }, life, base).await })
        })
    }

    fn lift<'a>(
        &'a self,
        Cell { key, under }: Cell<'a>,
        life: Life,
        floor: u64,
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        let (key, under) = (key.clone(), under.clone());
        self.run("lift", move |store| {
            Box::pin(async move { store.lift(Cell { key: &key, under: &under }, life, floor).await })
        })
    }

    fn remove<'a>(&'a self, Cell { key, under }: Cell<'a>) -> BoxFuture<'a, Result<bool, SourceError>> {
        let (key, under) = (key.clone(), under.clone());
        self.run("remove", move |store| {
            Box::pin(async move { store.remove(Cell { key: &key, under: &under }).await })
        })
    }
}
