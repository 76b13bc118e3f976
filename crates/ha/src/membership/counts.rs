//! Counters of a slot's failures and transitions. Normal successes are not counted.

use std::sync::atomic::{AtomicU64, Ordering};

use sequent_core::ErrorKind;

use crate::{status::SlotCounts, sync::note_shared_write};

/// A slot's counters.
#[derive(Default)]
pub(crate) struct Counts {
    slow: AtomicU64,
    timeouts: AtomicU64,
    unavailable: AtomicU64,
    contended: AtomicU64,
    refused: AtomicU64,
    evictions: AtomicU64,
    rescues: AtomicU64,
}

impl Counts {
    pub(crate) fn slow(&self) {
        add(&self.slow);
    }

    /// Counts a failed operation. Kinds that do not concern the slot are not counted here.
    pub(crate) fn failed(&self, kind: ErrorKind) {
        match kind {
            ErrorKind::Timeout => add(&self.timeouts),
            ErrorKind::Unavailable => add(&self.unavailable),
            ErrorKind::Contended => add(&self.contended),
            ErrorKind::Refused => add(&self.refused),
            _ => {}
        }
    }

    pub(crate) fn evicted(&self) {
        add(&self.evictions);
    }

    pub(crate) fn rescued(&self) {
        add(&self.rescues);
    }

    pub(crate) fn read(&self) -> SlotCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        SlotCounts {
            slow: read(&self.slow),
            timeouts: read(&self.timeouts),
            unavailable: read(&self.unavailable),
            contended: read(&self.contended),
            refused: read(&self.refused),
            evictions: read(&self.evictions),
            rescues: read(&self.rescues),
        }
    }
}

fn add(counter: &AtomicU64) {
    note_shared_write();
    counter.fetch_add(1, Ordering::Relaxed);
}
