//! The burn limits of spread counters. What was given of a counter is kept by its key: it outlasts the active key, which
//! each new version of the definition replaces.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Instant,
};

use sequent_core::{Env, Key, sync};

use super::{BurnLimit, SharedRules, State};

/// From so many counters on, those are removed that nobody uses and whose burst is whole again.
const COUNTERS_MIN: usize = 1 << 10;

/// Upper limit of the counters that nobody uses. Beyond it those of the sequence that brings a further one are removed.
const UNUSED_MAX: usize = 1 << 16;

/// Burn limits of the spread counters that are in use, or were until their burst is whole again.
pub(crate) struct SpreadBurn {
    rules: SharedRules,
    counters: Mutex<Counters>,
}

struct Counters {
    by_key: HashMap<Key, Arc<Mutex<State>>>,
    /// With so many counters, room is made.
    full: usize,
}

impl SpreadBurn {
    pub(crate) fn new(rules: SharedRules) -> Self {
        let counters = Mutex::new(Counters { by_key: HashMap::new(), full: COUNTERS_MIN });
        Self { rules, counters }
    }

    /// The limit of a key of `capacity` numbers.
    pub(crate) fn limit(&self, key: &Key, capacity: u64, env: &Env) -> BurnLimit {
        let now = env.clock.now();
        let mut counters = sync::lock(&self.counters);
        if counters.by_key.len() >= counters.full {
            counters.make_room(key, now);
        }
        let unused = || {
            let pace = self.rules.load().pace(capacity, capacity);
            Arc::new(Mutex::new(State::unused(pace, now)))
        };
        let state = Arc::clone(counters.by_key.entry(key.clone()).or_insert_with(unused));
        BurnLimit { key: key.clone(), capacity, rules: Arc::clone(&self.rules), env: env.clone(), state }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        sync::lock(&self.counters).by_key.len()
    }
}

impl Counters {
    /// Removes the counters that are as good as new, before a counter of `key` is added.
    fn make_room(&mut self, key: &Key, now: Instant) {
        let is_used = |state: &Arc<Mutex<State>>| Arc::strong_count(state) > 1;
        let is_whole = |state: &Mutex<State>| sync::lock(state).is_whole(now);
        self.by_key.retain(|_, state| is_used(state) || !is_whole(state));
        let unused = self.by_key.values().filter(|state| !is_used(state)).count();
        if unused > UNUSED_MAX {
            self.by_key.retain(|other, state| is_used(state) || other.sequence() != key.sequence());
        }
        self.by_key.shrink_to_fit();
        // Each look at all of them comes after as many additions.
        self.full = (2 * self.by_key.len()).max(COUNTERS_MIN);
    }
}
