//! Periods that are over: fences, and counters that are forgotten.

use sequent_core::{
    Key, SlotIndex,
    ledger::{Advanced, Counter},
};

use super::Book;

impl Book {
    /// The keys of a slot's counters from `from` on and before `below`, at most `most`.
    pub fn keys_between(&self, slot: SlotIndex, from: &str, below: &str, most: usize) -> Vec<Key> {
        let first = Counter { slot, key: Key::from_stored(from) };
        let within = |counter: &&Counter| counter.slot == slot && counter.key.as_str() < below;
        let counters = self.rows.range(first..).map(|(counter, _)| counter).take_while(within);
        counters.take(most).map(|counter| counter.key.clone()).collect()
    }

    /// Notes a fence, and forgets counters behind it; returns what is held for the fence.
    pub fn forget(&mut self, fence: &Advanced, counters: &[Counter]) -> u64 {
        let held = self.advance(fence);
        let mut any = false;
        for counter in counters {
            any |= self.rows.remove(counter).is_some();
            self.forget_move(counter);
            self.history.remove(counter);
            self.advanced.remove(&counter.key);
        }
        self.version += u64::from(any);
        held
    }

    /// The keys of dense counters from `from` on and before `below`, at most `most`.
    pub fn dense_between(&self, from: &str, below: &str, most: usize) -> Vec<Key> {
        let keys = self.dense.range(Key::from_stored(from)..).map(|(key, _)| key);
        keys.take_while(|key| key.as_str() < below).take(most).cloned().collect()
    }

    /// Notes a fence, and forgets dense counters behind it; returns what is held for the fence.
    pub fn forget_dense(&mut self, fence: &Advanced, keys: &[Key]) -> u64 {
        let held = self.advance(fence);
        let mut any = false;
        for key in keys {
            any |= self.dense.remove(key).is_some();
            self.advanced.remove(key);
        }
        self.version += u64::from(any);
        held
    }

    /// Whether a key's period is over for good.
    pub(super) fn is_over(&self, key: &Key) -> bool {
        Advanced::fence(key).is_some_and(|own| self.fence(&own) >= own.to)
    }

    /// What is held for a fence.
    pub fn fence(&self, fence: &Advanced) -> u64 {
        self.advanced.get(&fence.key).copied().unwrap_or(0)
    }
}
