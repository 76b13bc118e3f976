//! Dirty sets: the counters with changes to send in the next heartbeat, among perhaps a million.
//!
//! A counter is listed exactly while its state requires it. State is changed only through [`StateGuard`], which updates the
//! lists when it is dropped. Nothing is removed before it is reported: a heartbeat that fails, or stops half way, leaves the
//! lists unchanged.

use std::{
    collections::BTreeMap,
    ops::{Bound, Deref, DerefMut},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{Guarded, State};

/// Counters visited before other tasks get a turn.
pub(crate) const PAGE: usize = 512;

/// The lists of one guard. None is longer than the number of live counters.
#[derive(Default)]
pub(crate) struct DirtySets {
    /// Counters with something to report or raise.
    pub(crate) unsaid: List,
    /// Counters that gave ids above their next epoch's base, which must be stepped over.
    pub(crate) above: List,
    /// Counters without a key: forgotten once they have nothing to report.
    pub(crate) let_go: List,
    /// The number of counters visited.
    looks: AtomicU64,
}

impl DirtySets {
    /// The number of counters visited by heartbeats and raises.
    pub(crate) fn looks(&self) -> u64 {
        self.looks.load(Ordering::Relaxed)
    }

    /// The next counters of a walk, at most `most` and at most a page; `None` at the end. Other tasks run between two pages.
    pub(crate) async fn next(&self, walk: &mut Walk<'_>, most: usize) -> Option<Vec<Arc<Guarded>>> {
        if walk.is_over() {
            return None;
        }
        if walk.has_begun {
            tokio::task::yield_now().await;
        }
        let page = walk.next(most.min(PAGE));
        self.looks.fetch_add(page.len() as u64, Ordering::Relaxed);
        Some(page)
    }
}

/// Counters in the order in which they were listed.
#[derive(Default)]
pub(crate) struct List(Mutex<Held>);

#[derive(Default)]
struct Held {
    last: u64,
    counters: BTreeMap<u64, Weak<Guarded>>,
}

/// A counter's position in each list; 0 if it is not listed.
#[derive(Default)]
pub(super) struct Places {
    unsaid: u64,
    above: u64,
    let_go: u64,
}

impl List {
    pub(crate) fn len(&self) -> usize {
        self.held().counters.len()
    }

    /// Walks over the counters listed now. Those listed later are left to the next walk.
    pub(crate) fn walk(&self) -> Walk<'_> {
        Walk { list: self, after: 0, upto: self.held().last, has_begun: false }
    }

    fn place(&self, place: &mut u64, wanted: bool, counter: &Weak<Guarded>) {
        if wanted == (*place != 0) {
            return;
        }
        let mut held = self.held();
        if wanted {
            held.last += 1;
            *place = held.last;
            held.counters.insert(*place, Weak::clone(counter));
        } else {
            held.counters.remove(&std::mem::take(place));
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A walk through a list.
pub(crate) struct Walk<'a> {
    list: &'a List,
    after: u64,
    upto: u64,
    has_begun: bool,
}

impl Walk<'_> {
    pub(crate) fn is_over(&self) -> bool {
        self.after >= self.upto
    }

    fn next(&mut self, most: usize) -> Vec<Arc<Guarded>> {
        self.has_begun = true;
        let held = self.list.held();
        let rest = held.counters.range((Bound::Excluded(self.after), Bound::Included(self.upto)));
        let page: Vec<(&u64, &Weak<Guarded>)> = rest.take(most).collect();
        self.after = page.last().filter(|_| page.len() == most).map_or(self.upto, |(place, _)| **place);
        page.into_iter().filter_map(|(_, counter)| counter.upgrade()).collect()
    }
}

/// Lock of a counter's state. If the state may have changed, the lists are updated before the lock is released.
pub(crate) struct StateGuard<'a> {
    of: &'a Guarded,
    state: MutexGuard<'a, State>,
    is_changed: bool,
}

impl Deref for StateGuard<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl DerefMut for StateGuard<'_> {
    fn deref_mut(&mut self) -> &mut State {
        self.is_changed = true;
        &mut self.state
    }
}

impl Drop for StateGuard<'_> {
    fn drop(&mut self) {
        if self.is_changed {
            self.of.update_lists(&mut self.state);
        }
    }
}

impl Guarded {
    pub(crate) fn state(&self) -> StateGuard<'_> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        StateGuard { of: self, state, is_changed: false }
    }

    /// Lists the counter by its state, which is new, or whose meaning has changed: the ledger is another instance.
    pub(crate) fn list(&self) {
        self.state().is_changed = true;
    }

    fn update_lists(&self, state: &mut State) {
        let (unsaid, above, let_go) = (self.has_to_say(state), state.above.is_some(), state.handles == 0);
        let (lists, places) = (&self.shared.lists, &mut state.places);
        lists.unsaid.place(&mut places.unsaid, unsaid, &self.me);
        lists.above.place(&mut places.above, above, &self.me);
        lists.let_go.place(&mut places.let_go, let_go, &self.me);
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let places = &mut self.state.get_mut().unwrap_or_else(PoisonError::into_inner).places;
        let lists = &self.shared.lists;
        lists.unsaid.place(&mut places.unsaid, false, &self.me);
        lists.above.place(&mut places.above, false, &self.me);
        lists.let_go.place(&mut places.let_go, false, &self.me);
    }
}
