//! Watching: what was moved last is looked at every second, so that a shard that was set back while it is in use is
//! noticed though nobody takes from it.
//!
//! A few counters of a shard tell for all of them. The latest take moved one of these, so any copy of the shard that is
//! older than that has it lower; and a copy that is not older holds all that this process has seen there. That what a
//! shard forgot is not given again does not rest on this: each server hears how far its counters are, whoever took.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use sequent_core::SlotIndex;
use tokio::task::JoinSet;

use super::Guard;
use crate::{counter::Guarded, shard::Shard};

/// Counters of a slot that are looked at: more than one, since a key may be dropped, and a take may come back late.
const WATCHED_MAX: usize = 4;

/// After how many pauses between two heartbeats the settings of each store are read again: every ten seconds by default.
const SETTINGS_EVERY: u32 = 5;

/// The counters of each slot that were moved last, the latest first.
pub(crate) struct Latest(Vec<Mutex<VecDeque<Weak<Guarded>>>>);

impl Latest {
    pub(super) fn of(slots: SlotIndex) -> Self {
        Self((0..slots).map(|_| Mutex::default()).collect())
    }

    /// A take from the counter has succeeded, or one of another server was heard of.
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
    /// Watches every shard, one not waiting for another, until it is dropped.
    pub(super) async fn watch(&self) {
        let config = self.shared.config;
        let mut watches = JoinSet::new();
        for shard in &self.shards {
            watches.spawn(watch(Arc::clone(&self.shared.latest), shard.slot(), config.heartbeat_every / 2));
            let every = config.heartbeat_every * SETTINGS_EVERY;
            watches.spawn(watch_settings(Arc::clone(shard), every, config.attempt_timeout));
        }
        watches.join_all().await;
        // Where there is no shard, there is nothing to come to an end of.
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

/// Looks at counters beside the looks at others, none of which waits for it.
async fn watch_settings(shard: Arc<Shard>, every: Duration, limit: Duration) {
    loop {
        tokio::time::sleep(every).await;
        shard.look_at_the_settings(limit).await;
    }
}
