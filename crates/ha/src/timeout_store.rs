//! A store decorator with a time limit: each operation runs in a task of its own, and reports to its slot's health.

use std::sync::Arc;

use sequent_core::{
    Block, Cell, Epoch, ErrorKind, Examine, Inspection, InstanceId, Key, Reply, SlotIndex, SourceError,
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
        work: impl FnOnce(Arc<dyn Store>) -> Reply<'static, T>,
    ) -> Reply<'a, T> {
        let attempt = Attempt { operation, slot: self.slot, membership: Arc::clone(&self.membership) };
        let task = tokio::spawn(attempt.run(work(Arc::clone(&self.store))));
        Box::pin(async move {
            task.await.unwrap_or_else(|error| {
                Err(SourceError::new(ErrorKind::Unavailable, format!("{operation}: its task ended early"))
                    .because(error))
            })
        })
    }

    /// The same for an operation on a cell.
    fn run_on_cell<'a, T: Send + 'static>(
        &self,
        operation: &'static str,
        cell: Cell<'a>,
        work: impl for<'c> FnOnce(&'c dyn Store, Cell<'c>) -> Reply<'c, T> + Send + 'static,
    ) -> Reply<'a, T> {
        let (key, under) = (cell.key.clone(), cell.under.clone());
        self.run(operation, |store| {
            Box::pin(async move { work(&*store, Cell { key: &key, under: &under }).await })
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
    async fn run<T>(self, work: Reply<'static, T>) -> Result<T, SourceError> {
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

    fn inspect(&self) -> Reply<'_, Inspection> {
        self.run("inspect", |store| Box::pin(async move { store.inspect().await }))
    }

    fn stamp<'a>(
        &'a self,
        under: &'a InstanceId,
        expected: Option<&'a Stamp>,
        new: &'a Stamp,
    ) -> Reply<'a, ()> {
        let (under, expected, new) = (under.clone(), expected.cloned(), new.clone());
        self.run("stamp", |store| Box::pin(async move { store.stamp(&under, expected.as_ref(), &new).await }))
    }

    fn beside(&self, slots: SlotIndex) -> Reply<'_, Vec<Stamp>> {
        self.run("look for other slots", move |store| Box::pin(async move { store.beside(slots).await }))
    }

    fn mark<'a>(&'a self, under: &'a InstanceId, version: u64) -> Reply<'a, u64> {
        let under = under.clone();
        self.run("mark", move |store| Box::pin(async move { store.mark(&under, version).await }))
    }

    fn take<'a>(&'a self, cell: Cell<'a>, epoch: Epoch, want: u64) -> Reply<'a, Block> {
        self.run_on_cell("take", cell, move |store, cell| store.take(cell, epoch, want))
    }

    fn close<'a>(&'a self, cell: Cell<'a>, next: Epoch) -> Reply<'a, u64> {
        self.run_on_cell("close", cell, move |store, cell| store.close(cell, next))
    }

    fn install<'a>(&'a self, cell: Cell<'a>, epoch: Epoch, base: u64) -> Reply<'a, ()> {
        self.run_on_cell("install", cell, move |store, cell| store.install(cell, epoch, base))
    }

    fn lift<'a>(&'a self, cell: Cell<'a>, epoch: Epoch, floor: u64) -> Reply<'a, u64> {
        self.run_on_cell("lift", cell, move |store, cell| store.lift(cell, epoch, floor))
    }

    fn remove<'a>(&'a self, cell: Cell<'a>) -> Reply<'a, bool> {
        self.run_on_cell("remove", cell, move |store, cell| store.remove(cell))
    }
}
