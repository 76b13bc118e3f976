//! Marks: the ledger's version, left where a restored ledger does not reach.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use sequent_core::{Event, Events, MarkPlace, SlotIndex};

use crate::shard::Shard;

/// The places where versions are left: the shards, durable ones first, and the server's data directory.
pub(crate) struct Marks {
    shards: Vec<Arc<Shard>>,
    home: Option<Arc<dyn MarkPlace>>,
    events: Events,
    /// The version left last, and the slots whose stores bear it.
    left: Mutex<(u64, BTreeSet<SlotIndex>)>,
    unmarked: AtomicU64,
}

impl Marks {
    pub(crate) fn new(shards: Vec<Arc<Shard>>, home: Option<Arc<dyn MarkPlace>>, events: Events) -> Self {
        Self { shards, home, events, left: Mutex::default(), unmarked: AtomicU64::new(0) }
    }

    /// How often a version could be left in the data directory alone.
    pub(crate) fn unmarked(&self) -> u64 {
        self.unmarked.load(Ordering::Relaxed)
    }

    /// Leaves `version` at home and, for each of `slots`, on a store of another slot.
    pub(crate) async fn leave(&self, version: u64, slots: &BTreeSet<SlotIndex>) {
        if self.has_left(version, slots) {
            return;
        }
        // The rotation follows the version, so that every shard comes to bear recent marks.
        let mut candidates: Vec<&Arc<Shard>> =
            self.shards.iter().filter(|shard| shard.is_admitted()).collect();
        let turn = usize::try_from(version).unwrap_or(0) % candidates.len().max(1);
        candidates.rotate_left(turn);
        candidates.sort_by_key(|shard| (shard.class(), slots.contains(&shard.slot())));
        let home = self.home.clone();
        let at_home = async move {
            match home {
                Some(home) => home.mark(version).await.is_ok(),
                None => false,
            }
        };
        let (_, borne) = tokio::join!(at_home, leave_on(version, slots, &candidates));
        if covers(&borne, slots) {
            *self.left() = (version, borne);
        } else {
            self.unmarked.fetch_add(1, Ordering::Relaxed);
            self.events.emit(Event::Unmarked { version });
        }
    }

    /// The highest mark found at home and on all shards that can be reached.
    pub(crate) async fn read(&self) -> u64 {
        let mut highest = 0;
        if let Some(home) = &self.home {
            highest = home.mark(0).await.unwrap_or(0);
        }
        for asked in
            self.shards.iter().map(|shard| tokio::spawn(read_one(Arc::clone(shard)))).collect::<Vec<_>>()
        {
            highest = highest.max(asked.await.unwrap_or(0));
        }
        highest
    }

    fn left(&self) -> std::sync::MutexGuard<'_, (u64, BTreeSet<SlotIndex>)> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_left(&self, version: u64, slots: &BTreeSet<SlotIndex>) -> bool {
        let left = self.left();
        left.0 == version && covers(&left.1, slots)
    }
}

async fn read_one(shard: Arc<Shard>) -> u64 {
    shard.store().mark(0).await.unwrap_or(0)
}

/// Tries one candidate after the other until every slot has a bearer elsewhere.
async fn leave_on(
    version: u64,
    slots: &BTreeSet<SlotIndex>,
    candidates: &[&Arc<Shard>],
) -> BTreeSet<SlotIndex> {
    let mut borne = BTreeSet::new();
    for shard in candidates {
        if covers(&borne, slots) {
            break;
        }
        if shard.store().mark(version).await.is_ok() {
            borne.insert(shard.slot());
        }
    }
    borne
}

/// Whether each of `slots` has a bearer that is another slot.
fn covers(borne: &BTreeSet<SlotIndex>, slots: &BTreeSet<SlotIndex>) -> bool {
    !borne.is_empty() && slots.iter().all(|slot| borne.iter().any(|bearer| bearer != slot))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_does_not_bear_its_own_witness() {
        let set = |slots: &[SlotIndex]| slots.iter().copied().collect::<BTreeSet<_>>();
        assert!(covers(&set(&[1]), &set(&[0])));
        assert!(!covers(&set(&[0]), &set(&[0])));
        assert!(!covers(&set(&[0]), &set(&[0, 1])), "slot 0 needs a bearer too");
        assert!(covers(&set(&[0, 1]), &set(&[0, 1, 2, 3])));
        assert!(!covers(&set(&[]), &set(&[])));
    }
}
