//! Regression watch: each shard's most recently moved counters are read every second, so that a shard set back during use is
//! noticed without a take.
//!
//! A few counters show it for the whole shard. The latest take moved one of them, so it is lower in any older copy; a copy that
//! is not older has everything that this process saw there. Uniqueness does not depend on this watch, since each server learns
//! how far its counters are, whichever server took.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use sequent_core::SlotIndex;
use tokio::task::JoinSet;

use super::Guard;
use crate::{counter::Guarded, shard::Shard};

/// Counters watched per slot: several, since a key may be dropped, and a take may return late.
const WATCHED_MAX: usize = 4;

/// The interval of reading a store's settings, in heartbeats: every ten seconds by default.
const SETTINGS_EVERY: u32 = 5;

/// The most recently moved counters of each slot, latest first.
pub(crate) struct Latest(Vec<Mutex<VecDeque<Weak<Guarded>>>>);

impl Latest {
    pub(super) fn of(slots: SlotIndex) -> Self {
        Self((0..slots).map(|_| Mutex::default()).collect())
    }

    /// Notes a successful take, here or on another server.
    pub(crate) fn moved(&self, guarded: &Arc<Guarded>) {
        let Some(mut latest) = self.of_slot(guarded.counter.slot) else { return };
        let is_it = |held: &Weak<Guarded>| std::ptr::eq(held.as_ptr(), Arc::as_ptr(guarded));
        if latest.front().is_some_and(is_it) {
            return;
        }
        latest.retain(|held| held.strong_count() > 0 && !is_it(held));
        latest.push_front(Arc::downgrade(guarded));
        latest.truncate(WATCHED_MAX);
    }

    fn get(&self, slot: SlotIndex) -> Vec<Arc<Guarded>> {
        self.of_slot(slot).map_or_else(Vec::new, |latest| latest.iter().filter_map(Weak::upgrade).collect())
    }

    fn of_slot(&self, slot: SlotIndex) -> Option<MutexGuard<'_, VecDeque<Weak<Guarded>>>> {
        Some(self.0.get(usize::from(slot))?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Guard {
    /// Watches every shard independently, until the guard is dropped.
    pub(super) async fn watch(&self) {
        let config = self.shared.config;
        let mut watches = JoinSet::new();
        for shard in &self.shards {
            watches.spawn(watch(Arc::clone(&self.shared.latest), shard.slot(), config.heartbeat_every / 2));
            let every = config.heartbeat_every * SETTINGS_EVERY;
            watches.spawn(watch_settings(Arc::clone(shard), every, config.attempt_timeout));
        }
        watches.join_all().await;
        // Without shards the join returns at once; this must not end the guard's run.
        std::future::pending::<()>().await;
    }
}

async fn watch(latest: Arc<Latest>, slot: SlotIndex, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        for guarded in latest.get(slot) {
            guarded.look_back().await;
        }
    }
}

/// Runs beside the watch of the counters, so that neither waits for the other.
async fn watch_settings(shard: Arc<Shard>, every: Duration, limit: Duration) {
    loop {
        tokio::time::sleep(every).await;
        shard.look_at_the_settings(limit).await;
    }
}
