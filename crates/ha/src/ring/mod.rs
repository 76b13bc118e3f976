//! The ring: stores in their slots, the keys that use them, and its status.

mod drain;
mod key;
mod probe_loop;
mod shared;
mod slot_blocks;
pub(crate) mod source;
mod take;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc};

use sequent_core::{Env, Key, Layout, SlotIndex, Source, SourceError, Store, ledger::SlotCommand};

use self::{
    key::{KeyCounters, registry::KeyRegistry},
    shared::Shared,
    source::RingSource,
};
use crate::{config::RingConfig, membership::Membership, status::SlotStatus, timeout_store::TimeoutStore};

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
    shared: Arc<Shared>,
    stores: Vec<Option<Arc<TimeoutStore>>>,
    keys: Arc<KeyRegistry<KeyCounters>>,
}

impl Ring {
    /// A ring with a store, or nothing, in each slot. Slots beyond the end of `stores` are empty.
    pub fn new(
        layout: Layout,
        stores: Vec<Option<Arc<dyn Store>>>,
        config: RingConfig,
        env: Env,
    ) -> Arc<Self> {
        let mut stores = stores;
        stores.resize_with(usize::from(layout.slots()), || None);
        let has_store: Vec<bool> = stores.iter().map(Option::is_some).collect();
        let membership = Arc::new(Membership::new(config, env, &has_store));
        let with_timeout = |(slot, store): (SlotIndex, Option<Arc<dyn Store>>)| {
            store.map(|store| Arc::new(TimeoutStore::new(slot, store, Arc::clone(&membership))))
        };
        let stores = (0..).zip(stores).map(with_timeout).collect();
        Arc::new(Self { shared: Arc::new(Shared { layout, membership }), stores, keys: Arc::default() })
    }

    /// The slot's store with its time limit and health reports, for the guard.
    pub fn store(&self, slot: SlotIndex) -> Option<Arc<dyn Store>> {
        let store = self.stores.get(usize::from(slot))?.clone()?;
        Some(store)
    }

    /// A source of encoded ids (`raw << n | slot`, before memory bits) for one key, over one counter per slot.
    ///
    /// Its takes must run under a tokio runtime: each slot is asked in a task of its own.
    pub fn source(self: &Arc<Self>, key: Key, counters: Vec<Option<Arc<dyn Source>>>) -> Arc<RingSource> {
        let counters = self.keys.insert(|id| {
            KeyCounters::new((id, Arc::clone(&self.keys)), key, Arc::clone(&self.shared), counters)
        });
        Arc::new(RingSource::new(counters))
    }

    /// Applies operators' commands: the latest about each slot. A slot without one is released from its last command.
    /// The same command is applied once.
    pub fn apply_commands(&self, commands: &[SlotCommand]) {
        self.shared.membership.apply_commands(commands);
    }

    /// Takes out a slot that could not be admitted at start: quarantined or evicted, by the error's verdict.
    pub fn exclude(&self, slot: SlotIndex, error: &SourceError) {
        self.shared.membership.exclude(slot, error);
    }

    /// Every slot, ascending.
    pub fn status(&self) -> Vec<SlotStatus> {
        self.shared.membership.status()
    }

    /// The loop that probes slots that nobody asks, and ends commands in time. To be spawned once; it ends with the ring.
    ///
    /// Without it, slots are still rescued by takes.
    pub fn run(self: &Arc<Self>) -> impl Future<Output = ()> + Send + use<> {
        let changed = self.shared.membership.changed();
        probe_loop::run(Arc::downgrade(&self.shared), Arc::clone(&self.keys), changed)
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring")
            .field("layout", &self.shared.layout)
            .field("slots", &self.status())
            .finish_non_exhaustive()
    }
}
