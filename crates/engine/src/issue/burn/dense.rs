//! The burn limits of dense counters. The ledger counts them, so there is no reservoir to count at.

use std::{collections::HashMap, sync::Mutex, time::Instant};

use sequent_core::{Env, Key, sync};

use super::{Bucket, Share, SharedRules, refused};
use crate::error::{BURN, EngineError, QuotaFault};

/// Upper limit of the counters that are limited at once. A counter whose burst is whole again makes room.
pub(super) const COUNTERS_MAX: usize = 1 << 16;

/// Upper limit of those of one sequence: it is refused further ones, so that it does not lift the limits of others.
pub(super) const COUNTERS_OF_ONE_MAX: usize = COUNTERS_MAX / 16;

/// Burn limits of the dense counters in use.
pub(crate) struct DenseBurn {
    rules: SharedRules,
    counters: Mutex<Counters>,
}

#[derive(Default)]
struct Counters {
    by_key: HashMap<Key, Counter>,
    /// How many each sequence has.
    of_sequences: HashMap<Box<str>, usize>,
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
        // A counter that half of the burst holds is never refused before its end.
        if rules.exhaust_least.is_zero() || capacity <= rules.burst(capacity) / 2 {
            return Ok(());
        }
        let mut counters = sync::lock(&self.counters);
        if !counters.by_key.contains_key(key) && !counters.admit_new(key, &self.rules, now)? {
            return Ok(());
        }
        let new = || {
            let bucket = Bucket::full(rules.pace(capacity, capacity), now);
            Counter { bucket, capacity, left: capacity }
        };
        let counter = counters.by_key.entry(key.clone()).or_insert_with(new);
        if counter.capacity != capacity {
            // Another definition is in force, and what was given stays given.
            let given = counter.capacity - counter.left;
            (counter.capacity, counter.left) = (capacity, capacity.saturating_sub(given));
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
        let mut counters = sync::lock(&self.counters);
        let Some(counter) = counters.by_key.get_mut(key) else { return };
        counter.bucket.add(count as f64 - given as f64);
        // Responses may arrive out of order; the counter never goes back.
        counter.left = left.map_or(counter.left, |left| left.min(counter.left));
    }
}

/// The refusal of a counter whose sequence has all that it may have.
fn too_many_counters(key: &Key) -> EngineError {
    let sequence = key.sequence();
    let limit = format!("at most {COUNTERS_OF_ONE_MAX} counters with a burn limit");
    let text = format!(
        "{sequence} has {limit} at a time in this server (limits.exhaust_least_s): try again in 1000 ms"
    );
    let of = sequence.to_owned();
    EngineError::over_quota(text, QuotaFault { quota: BURN, of, limit, retry_after: super::SECOND })
}

impl Counters {
    /// Counts in a counter that is new here, unless its sequence has all that it may have. If all places are taken, it is
    /// not limited: the result is `false`.
    fn admit_new(&mut self, key: &Key, rules: &SharedRules, now: Instant) -> Result<bool, EngineError> {
        let own = |counters: &Self| counters.of_sequences.get(key.sequence()).copied().unwrap_or(0);
        if self.by_key.len() >= COUNTERS_MAX || own(self) >= COUNTERS_OF_ONE_MAX {
            self.make_room(rules, now);
        }
        if own(self) >= COUNTERS_OF_ONE_MAX {
            return Err(too_many_counters(key));
        }
        if self.by_key.len() >= COUNTERS_MAX {
            return Ok(false);
        }
        *self.of_sequences.entry(key.sequence().into()).or_default() += 1;
        Ok(true)
    }

    /// Removes the counters whose burst is whole, at most once a second.
    fn make_room(&mut self, rules: &SharedRules, now: Instant) {
        if self.swept.is_some_and(|at| now.saturating_duration_since(at) < super::SECOND) {
            return;
        }
        let rules = rules.load();
        self.by_key.retain(|_, counter| {
            let pace = rules.pace(counter.capacity, counter.left);
            counter.bucket.fill(pace, now) < pace.burst
        });
        self.of_sequences.clear();
        for key in self.by_key.keys() {
            *self.of_sequences.entry(key.sequence().into()).or_default() += 1;
        }
        self.swept = Some(now);
    }
}
