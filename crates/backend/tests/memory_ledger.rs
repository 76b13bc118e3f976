//! The memory ledger against the conformance suite of ledgers.
#![cfg(feature = "memory")]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sequent_backend::memory::{LedgerState, MemoryLedger};
use sequent_core::{BoxFuture, DurabilityClass, ledger::Ledger};
use sequent_testkit::{PausedClock, SeededEntropy, conformance::ledger::LedgerFixture};

struct MemoryFixture {
    ledger: MemoryLedger,
    copy: Mutex<Option<LedgerState>>,
}

impl MemoryFixture {
    fn new() -> Self {
        // Posing as durable, so that it is held to what it keeps; yielding, so that tasks interleave although
        // no call ever waits.
        let ledger = MemoryLedger::new(Arc::new(PausedClock::new()), &SeededEntropy::new(1))
            .posing_as(DurabilityClass::Durable)
            .yielding();
        Self { ledger, copy: Mutex::new(None) }
    }

    fn put_back(&self, how: impl FnOnce(&MemoryLedger, LedgerState)) -> BoxFuture<'_, bool> {
        let copy = self.kept().clone();
        done(copy.map(|copy| how(&self.ledger, copy)).is_some())
    }

    fn kept(&self) -> MutexGuard<'_, Option<LedgerState>> {
        self.copy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn done<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
    Box::pin(std::future::ready(value))
}

impl LedgerFixture for MemoryFixture {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Ledger>> {
        done(Arc::new(self.ledger.clone()))
    }

    fn restart(&self) -> BoxFuture<'_, bool> {
        self.ledger.restart();
        done(true)
    }

    fn copy(&self) -> BoxFuture<'_, bool> {
        *self.kept() = Some(self.ledger.snapshot());
        done(true)
    }

    fn restore(&self) -> BoxFuture<'_, bool> {
        self.put_back(MemoryLedger::restore)
    }

    fn restore_in_place(&self) -> BoxFuture<'_, bool> {
        self.put_back(MemoryLedger::restore_in_place)
    }

    fn effort(&self) -> usize {
        10
    }
}

sequent_testkit::ledger_conformance!(MemoryFixture::new());
