//! Watching: what was taken from last is looked at every second, so that a shard that was set back while it is in use is
//! noticed though nobody takes from it.
//!
//! One counter of a shard tells for all of them. The latest take moved it, so any copy of the shard that is older than
//! that has it lower; and a copy that is not older holds all that this process has seen there.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use sequent_core::SlotIndex;
use tokio::task::JoinSet;

use super::Keeper;
use crate::counter::Guarded;

/// The counter of each slot that was taken from last.
pub(crate) struct Latest(Vec<Mutex<Weak<Guarded>>>);

impl Latest {
    pub(super) fn of(slots: SlotIndex) -> Self {
        Self((0..slots).map(|_| Mutex::default()).collect())
    }

    /// A take from the counter has succeeded.
    pub(crate) fn took(&self, guarded: &Arc<Guarded>) {
        if let Some(mut latest) = self.of_slot(guarded.counter.slot)
            && !std::ptr::eq(latest.as_ptr(), Arc::as_ptr(guarded))
        {
            *latest = Arc::downgrade(guarded);
        }
    }

    fn get(&self, slot: SlotIndex) -> Option<Arc<Guarded>> {
        self.of_slot(slot)?.upgrade()
    }

    fn of_slot(&self, slot: SlotIndex) -> Option<MutexGuard<'_, Weak<Guarded>>> {
        Some(self.0.get(usize::from(slot))?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Keeper {
    /// Watches every shard, one not waiting for another, until it is dropped.
    pub(super) async fn watch(&self) {
        let every = self.shared.config.show_up_every / 2;
        let mut watches = JoinSet::new();
        for shard in &self.shards {
            watches.spawn(watch(Arc::clone(&self.shared.latest), shard.slot(), every));
        }
        watches.join_all().await;
    }
}

async fn watch(latest: Arc<Latest>, slot: SlotIndex, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        if let Some(guarded) = latest.get(slot) {
            guarded.look_back().await;
        }
    }
}
