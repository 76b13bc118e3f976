//! Statistics of the dense counters that this process uses, for gauges and status: numbers left, and the rate of use.
//! The ledger alone counts; nothing depends on these.

use std::{collections::BTreeMap, sync::Mutex, time::Instant};

use sequent_buffer::RefillPolicy;
use sequent_core::{Key, SequenceName, sync};
use sequent_format::Timestamp;

use crate::{
    engine::IDLE_AFTER,
    status::{capacity_left::Headroom, report::KeyReport},
};

/// Upper limit of the dense counters observed at once. Further ones are observed once others are idle.
const COUNTERS_MAX: usize = 4096;

/// Dense counters in use in this process.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<BTreeMap<Key, Counter>>);

/// A counter's state in a response of the ledger.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    /// Numbers issued by this call.
    pub(crate) given: u64,
    /// Numbers issued in all.
    pub(crate) at: u64,
    /// Size of the range.
    pub(crate) capacity: u64,
    /// When the counter resets, if it does.
    pub(crate) until: Option<Timestamp>,
}

/// A dense counter in use.
#[derive(Debug, Clone)]
pub(crate) struct Counter {
    name: SequenceName,
    answer: Answer,
    /// Numbers issued by this process.
    given: u64,
    refill_policy: RefillPolicy,
    used: Instant,
}

impl Known {
    /// Records a response of the ledger.
    pub(crate) fn note(&self, name: &SequenceName, key: &Key, answer: Answer, now: Instant) {
        let mut counters = sync::lock(&self.0);
        if !counters.contains_key(key) {
            if counters.len() >= COUNTERS_MAX {
                forget_the_idle(&mut counters, now);
            }
            if counters.len() >= COUNTERS_MAX {
                return;
            }
            counters.insert(key.clone(), Counter::new(name, answer, now));
        }
        if let Some(counter) = counters.get_mut(key) {
            counter.given = counter.given.saturating_add(answer.given);
            // Responses may arrive out of order; the counter never goes back.
            counter.answer = Answer { at: answer.at.max(counter.answer.at), ..answer };
            counter.refill_policy.observe(now, counter.given);
            counter.used = now;
        }
    }

    /// The counters in use, by key. Idle counters are removed.
    pub(crate) fn in_use(&self, now: Instant) -> Vec<(Key, Counter)> {
        let mut counters = sync::lock(&self.0);
        forget_the_idle(&mut counters, now);
        for counter in counters.values_mut() {
            counter.refill_policy.observe(now, counter.given);
        }
        counters.iter().map(|(key, counter)| (key.clone(), counter.clone())).collect()
    }
}

fn forget_the_idle(counters: &mut BTreeMap<Key, Counter>, now: Instant) {
    counters.retain(|_, counter| now.saturating_duration_since(counter.used) < IDLE_AFTER);
}

impl Counter {
    fn new(name: &SequenceName, answer: Answer, now: Instant) -> Self {
        let mut refill_policy = RefillPolicy::default();
        refill_policy.observe(now, 0);
        Self { name: name.clone(), answer, given: 0, refill_policy, used: now }
    }

    /// The counter's sequence.
    pub(crate) fn name(&self) -> &SequenceName {
        &self.name
    }

    /// What is left of the range, at the last minute's rate of this process.
    pub(crate) fn headroom(&self, now: Timestamp) -> Headroom {
        let Answer { at, capacity, until, .. } = self.answer;
        let (_, rate) = self.refill_policy.rates();
        Headroom::of(capacity.saturating_sub(at), capacity, rate).renewed(until, now)
    }

    /// The counter's report in `status`.
    pub(crate) fn report(&self, key: &Key, now: Timestamp) -> KeyReport {
        let room = self.headroom(now);
        KeyReport {
            key: key.to_string(),
            shown: crate::status::key_display::shown(key),
            placement: crate::definition::Placement::Dense.as_str(),
            ready: 0,
            given: self.given,
            rate: self.refill_policy.rates().0,
            left: room.left,
            headroom: room.ratio,
            // The ledger counts it: nothing can be issued during an outage.
            outage_left_s: Some(0),
            ends_in_s: room.ends_in_s(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sequent_core::{Clock, SystemClock};

    use super::*;

    fn answer(given: u64, at: u64) -> Answer {
        Answer { given, at, capacity: 1000, until: None }
    }

    #[test]
    fn what_is_left_and_how_fast_it_goes_is_known_while_it_is_in_use() {
        let (known, begin, name) = (Known::default(), SystemClock.now(), "invoice".parse().unwrap());
        let key = Key::of(&name);
        for second in 0..120 {
            // Other processes take numbers of it as well.
            known.note(&name, &key, answer(1, 2 * second), begin + Duration::from_secs(second));
        }
        let now = begin + Duration::from_secs(120);
        let [(_, counter)] = &known.in_use(now)[..] else { panic!("one is in use") };
        let room = counter.headroom(Timestamp::UNIX_EPOCH);
        assert_eq!(room.left, 1000 - 238);
        assert!((600.0..1200.0).contains(&room.lasts_s), "one a second: {room:?}");
        assert!((counter.report(&key, Timestamp::UNIX_EPOCH).rate - 1.0).abs() < 0.5);
        known.note(&name, &key, answer(1, 5), now);
        assert_eq!(known.in_use(now)[0].1.headroom(Timestamp::UNIX_EPOCH).left, 1000 - 238, "an old answer");
        assert!(known.in_use(now + IDLE_AFTER).is_empty());
    }

    #[test]
    fn no_more_are_known_than_the_bound_allows_until_some_are_idle() {
        let (known, begin, name) = (Known::default(), SystemClock.now(), "invoice".parse().unwrap());
        for at in 0..COUNTERS_MAX + 9 {
            known.note(&name, &Key::from_stored(&format!("k{at}")), answer(1, 1), begin);
        }
        assert_eq!(known.in_use(begin).len(), COUNTERS_MAX);
        known.note(&name, &Key::from_stored("late"), answer(1, 1), begin + IDLE_AFTER);
        assert_eq!(known.in_use(begin + IDLE_AFTER).len(), 1);
    }
}
