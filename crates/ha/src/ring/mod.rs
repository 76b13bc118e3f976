//! The ring: stores in their slots, the keys that use them, and the operator's view.

pub(crate) mod ask;
mod blame;
mod drain;
mod key;
mod lane;
mod mailbox;
pub(crate) mod probe;
mod refill;
mod rescue;
mod source;
mod spares;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, Weak},
};

use sequent_core::{Env, Key, Layout, SlotIndex, Source, SourceError, Store, ledger::Word};

use self::key::KeyRing;
pub use self::source::RingSource;
use crate::{RingConfig, SlotStatus, lock, roster::Roster, timed::Timed};

/// How many of the newest keys are looked through for one that can try an idle slot.
const PROBE_KEYS_MAX: usize = 16;

/// 2^n slots with their stores and states, shared by all keys.
///
/// ```
/// use sequent_core::{Env, Layout};
/// use sequent_ha::{Ring, RingConfig, SlotState};
/// let ring = Ring::new(Layout::new(2, 0)?, vec![None, None], RingConfig::default(), Env::default());
/// assert_eq!(ring.status().len(), 4);
/// assert!(ring.status().iter().all(|slot| slot.state == SlotState::Empty));
/// # Ok::<(), sequent_core::LayoutError>(())
/// ```
pub struct Ring {
    layout: Layout,
    roster: Arc<Roster>,
    stores: Vec<Option<Arc<Timed>>>,
    keys: Mutex<Keys>,
}

/// The keys alive, by age.
#[derive(Default)]
struct Keys {
    next_id: u64,
    alive: BTreeMap<u64, Weak<KeyRing>>,
}

impl Ring {
    /// A ring with a store, or nothing, in each slot; slots that `stores` does not reach are empty.
    pub fn new(
        layout: Layout,
        stores: Vec<Option<Arc<dyn Store>>>,
        config: RingConfig,
        env: Env,
    ) -> Arc<Self> {
        let mut stores = stores;
        stores.resize_with(usize::from(layout.slots()), || None);
        let has_store: Vec<bool> = stores.iter().map(Option::is_some).collect();
        let roster = Arc::new(Roster::new(config, env, &has_store));
        let timed = |(slot, store): (SlotIndex, Option<Arc<dyn Store>>)| {
            store.map(|store| Arc::new(Timed::new(slot, store, Arc::clone(&roster))))
        };
        let stores = (0..).zip(stores).map(timed).collect();
        Arc::new(Self { layout, roster, stores, keys: Mutex::default() })
    }

    /// The slot's store, timed and metered: what the guard is to use.
    pub fn store(&self, slot: SlotIndex) -> Option<Arc<dyn Store>> {
        let store = self.stores.get(usize::from(slot))?.clone()?;
        Some(store)
    }

    /// A source of encoded ids (`raw << n | slot`, before memory bits) for one key, over one counter a slot.
    ///
    /// Its takes must run under a tokio runtime: each slot is asked in a task of its own.
    pub fn source(self: &Arc<Self>, key: Key, counters: Vec<Option<Arc<dyn Source>>>) -> Arc<RingSource> {
        let mut keys = lock(&self.keys);
        let id = keys.next_id;
        keys.next_id += 1;
        let ring = Arc::new(KeyRing::new(id, key, Arc::clone(self), counters));
        keys.alive.insert(id, Arc::downgrade(&ring));
        Arc::new(RingSource::new(ring))
    }

    /// Obeys the operators' words: the latest about each slot, all others forgotten. The same word is obeyed once.
    pub fn obey(&self, words: &[Word]) {
        self.roster.obey(words);
    }

    /// Takes a slot out that could not be admitted at start: quarantined or evicted, by the error's verdict.
    pub fn exclude(&self, slot: SlotIndex, error: &SourceError) {
        self.roster.exclude(slot, error);
    }

    /// Every slot, ascending.
    pub fn status(&self) -> Vec<SlotStatus> {
        self.roster.status()
    }

    /// What rescues slots that nobody asks, and ends words whose time is up. To be spawned once; ends with the ring.
    ///
    /// Without it, slots are still rescued by the refills that come.
    pub fn run(self: &Arc<Self>) -> impl Future<Output = ()> + Send + use<> {
        rescue::run(Arc::downgrade(self), self.roster.changed())
    }

    /// A key that can take an id from this slot, the newest first.
    fn key_for_probe(&self, slot: SlotIndex) -> Option<Arc<KeyRing>> {
        // Upgraded outside the lock: the last hold of a key, dropped in here, would want the lock again.
        let newest: Vec<Weak<KeyRing>> =
            lock(&self.keys).alive.values().rev().take(PROBE_KEYS_MAX).cloned().collect();
        let snapshot = self.roster.snapshot();
        newest.iter().filter_map(Weak::upgrade).find(|key| key.can_ask(&snapshot, slot))
    }

    fn forget(&self, id: u64) {
        lock(&self.keys).alive.remove(&id);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.roster.changed().notify_one();
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring")
            .field("layout", &self.layout)
            .field("slots", &self.status())
            .finish_non_exhaustive()
    }
}
