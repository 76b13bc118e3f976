//! The burn limits of dense counters. The ledger counts them, so there is no reservoir to count at.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use sequent_core::{Env, Key};

use super::{Bucket, Share, SharedRules, refused};
use crate::error::EngineError;

/// Upper limit of the counters that are limited at once. A counter whose burst is whole again makes room.
const COUNTERS_MAX: usize = 1 << 16;

/// Burn limits of the dense counters in use.
pub(crate) struct DenseBurn {
    rules: SharedRules,
    counters: Mutex<Counters>,
}

#[derive(Default)]
struct Counters {
    by_key: HashMap<Key, Counter>,
    swept: Option<Instant>,
}

struct Counter {
    bucket: Bucket,
    capacity: u64,
    left: u64,
}

impl DenseBurn {
    pub(crate) fn new(rules: SharedRules) -> Self {
        Self { rules, counters: Mutex::default() }
    }

    /// Counts `count` numbers of a counter of `capacity` as given, or refuses the request.
    #[allow(clippy::cast_precision_loss, reason = "magnitudes")]
    pub(crate) fn admit(
        &self,
        env: &Env,
        key: &Key,
        (count, capacity): (u64, u64),
    ) -> Result<(), EngineError> {
        let (rules, now) = (self.rules.load(), env.clock.now());
        if rules.exhaust_least.is_zero() {
            return Ok(());
        }
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        counters.make_room(&self.rules, now);
        if !counters.by_key.contains_key(key) && counters.by_key.len() >= COUNTERS_MAX {
            return Ok(());
        }
        let new = || {
            let bucket = Bucket::full(rules.pace(capacity, capacity), now);
            Counter { bucket, capacity, left: capacity }
        };
        let counter = counters.by_key.entry(key.clone()).or_insert_with(new);
        if counter.capacity != capacity {
            // Another definition is in force: the next response says what is left.
            (counter.capacity, counter.left) = (capacity, capacity);
        }
        let (pace, left) = (rules.pace(capacity, counter.left), counter.left);
        let (level, needed) = (counter.bucket.fill(pace, now), Share::of(count).level_min(pace));
        // The ledger says that the counter is at its end.
        if level >= needed || count > left {
            counter.bucket.add(-(count as f64));
            return Ok(());
        }
        let wait = counter.bucket.wait(needed, pace);
        drop(counters);
        Err(refused(env, key, (&rules, pace), (left, wait)))
    }

    /// Notes the ledger's response to a request of `count`: `given` of them were given, and `left` numbers are left, if
    /// the response says so.
    #[allow(clippy::cast_precision_loss, reason = "magnitudes")]
    pub(crate) fn note(&self, key: &Key, (count, given): (u64, u64), left: Option<u64>) {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(counter) = counters.by_key.get_mut(key) else { return };
        counter.bucket.add(count as f64 - given as f64);
        // Responses may arrive out of order; the counter never goes back.
        counter.left = left.map_or(counter.left, |left| left.min(counter.left));
    }
}

impl Counters {
    /// Removes the counters whose burst is whole: at most once a second, and only if there are too many.
    fn make_room(&mut self, rules: &SharedRules, now: Instant) {
        let is_early = self.swept.is_some_and(|at| now.saturating_duration_since(at) < super::SECOND);
        if self.by_key.len() < COUNTERS_MAX || is_early {
            return;
        }
        let rules = rules.load();
        self.by_key.retain(|_, counter| {
            let pace = rules.pace(counter.capacity, counter.left);
            counter.bucket.fill(pace, now) < pace.burst
        });
        self.swept = Some(now);
    }
}
