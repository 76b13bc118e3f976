//! One key's counter in one slot: whether it may be asked, and which requests to it are in flight.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering},
};

use arc_swap::ArcSwapOption;
use sequent_core::{Source, SourceError};

use crate::sync::note_shared_write;

/// A counter that was never asked here. No slot reaches this generation.
const NEVER_USED: u64 = u64::MAX;

/// A counter. Taking from it writes nothing here that another key reads, except for the first take after a rescue.
pub(crate) struct SlotCounter {
    counter: Arc<dyn Source>,
    /// The generation of the slot under which this counter was last lifted, if it had to be.
    used: AtomicU64,
    disabled: ArcSwapOption<Disabled>,
    /// Requests that a take stopped waiting for.
    late: AtomicU32,
    /// Requests without an answer, awaited or not.
    in_flight: AtomicU32,
}

/// Why a counter is not asked.
pub(crate) struct Disabled {
    /// Quarantined until the slot's clear count differs from this. `None`: retired for good.
    clear_count: Option<u64>,
    pub(crate) error: SourceError,
}

impl SlotCounter {
    pub(crate) fn new(counter: Arc<dyn Source>) -> Self {
        let (used, disabled) = (AtomicU64::new(NEVER_USED), ArcSwapOption::empty());
        Self { counter, used, disabled, late: AtomicU32::new(0), in_flight: AtomicU32::new(0) }
    }

    pub(crate) fn source(&self) -> &dyn Source {
        &*self.counter
    }

    /// The generation under which it was last used, if ever.
    pub(crate) fn used(&self) -> Option<u64> {
        Some(self.used.load(Ordering::Relaxed)).filter(|used| *used != NEVER_USED)
    }

    pub(crate) fn set_used(&self, generation: u64) {
        if self.used() != Some(generation) {
            note_shared_write();
            self.used.store(generation, Ordering::Relaxed);
        }
    }

    /// Whether a request is in flight that its take no longer waits for.
    pub(crate) fn is_late(&self) -> bool {
        self.late.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn begin_late(&self) {
        note_shared_write();
        self.late.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn end_late(&self) {
        note_shared_write();
        self.late.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether any request is in flight. Draining waits for it.
    pub(crate) fn has_request_in_flight(&self) -> bool {
        self.in_flight.load(Ordering::Acquire) > 0
    }

    pub(crate) fn begin_request(&self) {
        self.in_flight.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn end_request(&self) {
        self.in_flight.fetch_sub(1, Ordering::AcqRel);
    }

    /// Why it is not asked in a slot with this clear count, if it is not.
    pub(crate) fn disabled(&self, clear_count: u64) -> Option<Arc<Disabled>> {
        let disabled = self.disabled.load();
        let is_in_force =
            |disabled: &&Arc<Disabled>| disabled.clear_count.is_none_or(|under| under == clear_count);
        disabled.as_ref().filter(is_in_force).cloned()
    }

    /// Never asked again; returns whether that is new.
    pub(crate) fn retire(&self, error: &SourceError) -> bool {
        self.disable(Disabled { clear_count: None, error: error.clone() })
    }

    /// Not asked until an operator clears its slot; returns whether that is new.
    pub(crate) fn quarantine(&self, clear_count: u64, error: &SourceError) -> bool {
        self.disable(Disabled { clear_count: Some(clear_count), error: error.clone() })
    }

    fn disable(&self, disabled: Disabled) -> bool {
        note_shared_write();
        let disabled = Arc::new(disabled);
        let was = self.disabled.rcu(|was| match was {
            Some(was) if !disabled.replaces(was) => Some(Arc::clone(was)),
            _ => Some(Arc::clone(&disabled)),
        });
        was.is_none_or(|was| disabled.replaces(&was))
    }
}

impl Disabled {
    /// Whether the counter may have repeated numbers. Then its earlier blocks are not used either.
    pub(crate) fn is_quarantine(&self) -> bool {
        self.clear_count.is_some()
    }

    /// Retirement is permanent. A quarantine is new only after the slot was cleared.
    fn replaces(&self, was: &Self) -> bool {
        match (was.clear_count, self.clear_count) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(was), Some(new)) => was != new,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::ErrorKind;
    use sequent_testkit::ScriptedSource;

    #[test]
    fn a_quarantine_is_new_once_and_retirement_is_permanent() {
        let counter = SlotCounter::new(Arc::new(ScriptedSource::giving()));
        let error = |kind| SourceError::new(kind, "scripted");
        assert!(counter.disabled(0).is_none());
        assert!(counter.quarantine(0, &error(ErrorKind::Jumped)));
        assert!(!counter.quarantine(0, &error(ErrorKind::Regressed)));
        assert_eq!(counter.disabled(0).unwrap().error.kind(), ErrorKind::Jumped);
        assert!(counter.disabled(1).is_none(), "cleared");
        assert!(counter.quarantine(1, &error(ErrorKind::Jumped)));
        assert!(counter.retire(&error(ErrorKind::Exhausted)));
        assert!(
            !counter.quarantine(2, &error(ErrorKind::Jumped))
                && !counter.retire(&error(ErrorKind::Exhausted))
        );
        assert_eq!(counter.disabled(9).unwrap().error.kind(), ErrorKind::Exhausted);
    }
}
