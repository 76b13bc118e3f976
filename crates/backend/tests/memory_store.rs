//! The memory store against the conformance suite of stores.
#![cfg(feature = "memory")]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sequent_backend::memory::{Cells, MemoryStore};
use sequent_core::{BoxFuture, DurabilityClass, Key, Store};
use sequent_testkit::{
    PausedClock, SeededEntropy,
    conformance::store::{Mishap, StoreFixture},
};

struct MemoryFixture {
    store: MemoryStore,
    copy: Mutex<Option<Cells>>,
}

impl MemoryFixture {
    fn new() -> Self {
        // Posing as durable, so that it is held to what it keeps; yielding, so that tasks interleave although
        // no verb ever waits.
        let store = MemoryStore::new(Arc::new(PausedClock::new()), &SeededEntropy::new(1))
            .posing_as(DurabilityClass::Durable)
            .yielding();
        Self { store, copy: Mutex::new(None) }
    }

    fn kept(&self) -> MutexGuard<'_, Option<Cells>> {
        self.copy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn done<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
    Box::pin(std::future::ready(value))
}

impl StoreFixture for MemoryFixture {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        done(Arc::new(self.store.clone()))
    }

    fn restart(&self) -> BoxFuture<'_, bool> {
        self.store.restart();
        done(true)
    }

    fn copy(&self) -> BoxFuture<'_, bool> {
        *self.kept() = Some(self.store.snapshot());
        done(true)
    }

    fn restore(&self) -> BoxFuture<'_, bool> {
        let copy = self.kept().clone();
        done(copy.map(|copy| self.store.restore(copy)).is_some())
    }

    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, bool> {
        done(self.store.delete(key))
    }

    /// There is no server, and nothing else to take away.
    fn befall<'a>(&'a self, mishap: Mishap<'a>) -> BoxFuture<'a, bool> {
        done(matches!(mishap, Mishap::Truncated(key) if self.store.delete(key)))
    }

    fn effort(&self) -> usize {
        10
    }
}

sequent_testkit::store_conformance!(MemoryFixture::new());
