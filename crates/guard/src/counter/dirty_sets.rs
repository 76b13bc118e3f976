//! Which counters a heartbeat has to look at: those that have something to say, and not the others, of which there may be a
//! million.
//!
//! A counter stands in a list exactly while its state says so: whoever holds the state changes it through [`StateGuard`], which looks
//! at the end what has become of it. Nobody has to think of a mark, and nothing is taken out before it is said: a heartbeat that
//! fails, or ends half way, leaves the lists as they are.

use std::{
    collections::BTreeMap,
    ops::{Bound, Deref, DerefMut},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{Guarded, State};

/// Counters that are looked at before others get their turn.
pub(crate) const PAGE: usize = 512;

/// The lists of one guard. None is longer than there are counters alive.
#[derive(Default)]
pub(crate) struct DirtySets {
    /// Something is to be reported or raised.
    pub(crate) unsaid: List,
    /// What left them is to be stepped over.
    pub(crate) above: List,
    /// No key holds them: to be forgotten once they have nothing to say.
    pub(crate) let_go: List,
    /// How many counters were looked at for their place in a list.
    looks: AtomicU64,
}

impl DirtySets {
    /// How many counters heartbeats and raises have looked at.
    pub(crate) fn looks(&self) -> u64 {
        self.looks.load(Ordering::Relaxed)
    }

    /// The next counters of a walk, `most` of them and a page at the most; `None` when it is over. Others run between two pages.
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

/// Where a counter stands in each list; 0 where it is in none.
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

    /// Goes through what is listed now; what is listed meanwhile is for the next walk.
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

/// A counter's state, held. Where it may have been changed, the counter's places are put right before others see it.
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
            self.of.put_right(&mut self.state);
        }
    }
}

impl Guarded {
    pub(crate) fn state(&self) -> StateGuard<'_> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        StateGuard { of: self, state, is_changed: false }
    }

    /// Lists a counter that has just been made, and that nobody holds yet.
    pub(super) fn list(&self) {
        self.state().is_changed = true;
    }

    fn put_right(&self, state: &mut State) {
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
