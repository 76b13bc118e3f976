//! One counter of one key in one slot: whether it may be asked, and what is owed to it.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering},
};

use arc_swap::ArcSwapOption;
use sequent_core::{Source, SourceError};

use crate::note_shared_write;

/// No rescue has this generation: the counter was never asked here.
const NEVER_USED: u64 = u64::MAX;

/// A counter. Taking from it writes nothing here that another key touches, but for the first time after a rescue.
pub(super) struct Lane {
    counter: Arc<dyn Source>,
    /// The generation of the slot under which this counter was last lifted, if it had to be.
    used: AtomicU64,
    bar: ArcSwapOption<Bar>,
    /// Asks that a refill stopped waiting for.
    late: AtomicU32,
    /// Asks that are not answered yet, waited for or not.
    out: AtomicU32,
}

/// Why a counter is not asked.
pub(super) struct Bar {
    /// Quarantined until the slot is pardoned once more; `None`: retired for good.
    pardon: Option<u64>,
    pub(super) error: SourceError,
}

impl Lane {
    pub(super) fn new(counter: Arc<dyn Source>) -> Self {
        let (used, bar) = (AtomicU64::new(NEVER_USED), ArcSwapOption::empty());
        Self { counter, used, bar, late: AtomicU32::new(0), out: AtomicU32::new(0) }
    }

    pub(super) fn counter(&self) -> &dyn Source {
        &*self.counter
    }

    /// The generation under which it was last used, if ever.
    pub(super) fn used(&self) -> Option<u64> {
        Some(self.used.load(Ordering::Relaxed)).filter(|used| *used != NEVER_USED)
    }

    pub(super) fn set_used(&self, generation: u64) {
        if self.used() != Some(generation) {
            note_shared_write();
            self.used.store(generation, Ordering::Relaxed);
        }
    }

    /// Whether an ask is still unanswered after its refill went on without it.
    pub(super) fn is_late(&self) -> bool {
        self.late.load(Ordering::Relaxed) > 0
    }

    pub(super) fn set_late(&self) {
        note_shared_write();
        self.late.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn end_late(&self) {
        note_shared_write();
        self.late.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether any ask is still unanswered: who drains the slot waits for it.
    pub(super) fn is_asked(&self) -> bool {
        self.out.load(Ordering::Acquire) > 0
    }

    pub(super) fn begin_ask(&self) {
        self.out.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn end_ask(&self) {
        self.out.fetch_sub(1, Ordering::AcqRel);
    }

    /// Why it is not asked, if it is not, in a slot pardoned so often.
    pub(super) fn bar(&self, pardon: u64) -> Option<Arc<Bar>> {
        let bar = self.bar.load();
        bar.as_ref().filter(|bar| bar.pardon.is_none_or(|under| under == pardon)).cloned()
    }

    /// Never asked again; whether that is news.
    pub(super) fn retire(&self, error: &SourceError) -> bool {
        self.set_bar(Bar { pardon: None, error: error.clone() })
    }

    /// Not asked until its slot is pardoned once more; whether that is news.
    pub(super) fn quarantine(&self, pardon: u64, error: &SourceError) -> bool {
        self.set_bar(Bar { pardon: Some(pardon), error: error.clone() })
    }

    fn set_bar(&self, bar: Bar) -> bool {
        note_shared_write();
        let bar = Arc::new(bar);
        let was = self.bar.rcu(|was| match was {
            Some(was) if !bar.replaces(was) => Some(Arc::clone(was)),
            _ => Some(Arc::clone(&bar)),
        });
        was.is_none_or(|was| bar.replaces(&was))
    }
}

impl Bar {
    /// Whether the counter may have given what it must not: what it gave before is not trusted either.
    pub(super) fn is_distrust(&self) -> bool {
        self.pardon.is_some()
    }

    /// Retirement is for good; a quarantine is news only under a new pardon.
    fn replaces(&self, was: &Self) -> bool {
        match (was.pardon, self.pardon) {
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
    fn a_bar_is_news_once_and_retirement_is_for_good() {
        let lane = Lane::new(Arc::new(ScriptedSource::giving()));
        let error = |kind| SourceError::new(kind, "scripted");
        assert!(lane.bar(0).is_none());
        assert!(lane.quarantine(0, &error(ErrorKind::Leapt)));
        assert!(!lane.quarantine(0, &error(ErrorKind::Regressed)));
        assert_eq!(lane.bar(0).unwrap().error.kind(), ErrorKind::Leapt);
        assert!(lane.bar(1).is_none(), "pardoned");
        assert!(lane.quarantine(1, &error(ErrorKind::Leapt)));
        assert!(lane.retire(&error(ErrorKind::Exhausted)));
        assert!(!lane.quarantine(2, &error(ErrorKind::Leapt)) && !lane.retire(&error(ErrorKind::Exhausted)));
        assert_eq!(lane.bar(9).unwrap().error.kind(), ErrorKind::Exhausted);
    }
}
