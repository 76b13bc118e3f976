//! A store decorator with a time limit: each operation runs in a task of its own, and reports to its slot's health.

use std::sync::Arc;

use sequent_core::{
    Block, BoxFuture, Cell, Epoch, ErrorKind, Examine, Inspection, InstanceId, Key, SlotIndex, SourceError,
    Stamp, Store,
};
use tokio::time::timeout;

use crate::membership::Membership;

/// A store whose operations a caller cannot cancel.
///
/// An operation that exceeds `attempt_timeout` is dropped inside its task, which costs the store its connection. Only
/// faults of the store count: an operation whose caller went away still ends, and its own outcome counts.
pub(crate) struct TimeoutStore {
    slot: SlotIndex,
    store: Arc<dyn Store>,
    membership: Arc<Membership>,
}

impl TimeoutStore {
    pub(crate) fn new(slot: SlotIndex, store: Arc<dyn Store>, membership: Arc<Membership>) -> Self {
        Self { slot, store, membership }
    }

    fn run<'a, T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnOnce(Arc<dyn Store>) -> BoxFuture<'static, Result<T, SourceError>>,
    ) -> BoxFuture<'a, Result<T, SourceError>> {
        let attempt = Attempt { operation, slot: self.slot, membership: Arc::clone(&self.membership) };
        let task = tokio::spawn(attempt.run(work(Arc::clone(&self.store))));
        Box::pin(async move {
            task.await.unwrap_or_else(|error| {
                Err(SourceError::new(ErrorKind::Unavailable, format!("{operation}: its task ended early"))
                    .because(error))
            })
        })
    }
}

/// One operation in progress.
struct Attempt {
    operation: &'static str,
    slot: SlotIndex,
    membership: Arc<Membership>,
}

impl Attempt {
    async fn run<T>(self, work: BoxFuture<'static, Result<T, SourceError>>) -> Result<T, SourceError> {
        let (clock, config) = (&self.membership.env().clock, self.membership.config());
        let generation = self.membership.snapshot().slot(self.slot).generation;
        let began = clock.now();
        let outcome = timeout(config.attempt_timeout, work).await.unwrap_or_else(|_| Err(self.timed_out()));
        match &outcome {
            Ok(_) => {
                let took = clock.now().saturating_duration_since(began);
                if took > config.slow_after {
                    self.membership.record_slow(self.slot, generation, took);
                }
            }
            // A stamp is compare-and-set: losing the race is an answer, not a fault. The guard judges it.
            Err(error) if self.operation == "stamp" && error.kind() == ErrorKind::Refused => {}
            Err(error) => self.membership.record_failure(self.slot, generation, error),
        }
        outcome
    }

    fn timed_out(&self) -> SourceError {
        let (operation, limit) = (self.operation, self.membership.config().attempt_timeout.as_millis());
        SourceError::new(ErrorKind::Timeout, format!("{operation}: no answer within {limit} ms"))
    }
}

#[deny(clippy::missing_trait_methods)]
impl Store for TimeoutStore {
    /// Does not ask the store, so it needs no time limit.
    fn holds(&self, key: &Key) -> Result<(), SourceError> {
        self.store.holds(key)
    }

    /// The examiner has time limits of its own, and its findings do not change the slot's health.
    fn examiner(&self) -> Option<&dyn Examine> {
        self.store.examiner()
    }

    fn inspect(&self) -> BoxFuture<'_, Result<Inspection, SourceError>> {
        self.run("inspect", |store| Box::pin(async move { store.inspect().await }))
    }

    fn stamp<'a>(
        &'a self,
        under: &'a InstanceId,
        expected: Option<&'a Stamp>,
        new: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        let (under, expected, new) = (under.clone(), expected.cloned(), new.clone());
        self.run("stamp", |store| Box::pin(async move { store.stamp(&under, expected.as_ref(), &new).await }))
    }

    fn beside(&self, slots: SlotIndex) -> BoxFuture<'_, Result<Vec<Stamp>, SourceError>> {
        self.run("look for other slots", move |store| Box::pin(async move { store.beside(slots).await }))
    }

    fn mark<'a>(&'a self, under: &'a InstanceId, version: u64) -> BoxFuture<'a, Result<u64, SourceError>> {
        let under = under.clone();
        self.run("mark", move |store| Box::pin(async move { store.mark(&under, version).await }))
    }

    fn take<'a>(
        &'a self,
        Cell { key, under }: Cell<'a>,
        epoch: Epoch,
        want: u64,
    ) -> BoxFuture<'a, Result<Block, SourceError>> {
        let (key, under) = (key.clone(), under.clone());
        self.run("take", move |store| {
            Box::pin(async move { store.take(Cell { key: &key, under: &under }, epoch, want).await })
        })
    }

    fn close<'a>(
        &'a self,
        Cell { key, under }: Cell<'a>,
        next: Epoch,
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        let (key, under) = (key.clone(), under.clone());
        self.run("close", move |store| {
            Box::pin(async move { store.close(Cell { key: &key, under: &under }, next).await })
        })
    }

    fn install<'a>(
        &'a self,
        Cell { key, under }: Cell<'a>,
        epoch: Epoch,
        base: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        let (key, under) = (key.clone(), under.clone());
        self.run("install", move |store| {
            Box::pin(async move { store.install(Cell { key: &key, under: &under }, epoch, base).await })
        })
    }

    fn lift<'a>(
        &'a self,
        Cell { key, under }: Cell<'a>,
        epoch: Epoch,
        floor: u64,
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        let (key, under) = (key.clone(), under.clone());
        self.run("lift", move |store| {
            Box::pin(async move { store.lift(Cell { key: &key, under: &under }, epoch, floor).await })
        })
    }

    fn remove<'a>(&'a self, Cell { key, under }: Cell<'a>) -> BoxFuture<'a, Result<bool, SourceError>> {
        let (key, under) = (key.clone(), under.clone());
        self.run("remove", move |store| {
            Box::pin(async move { store.remove(Cell { key: &key, under: &under }).await })
        })
    }
}
