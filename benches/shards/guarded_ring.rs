//! A ring over guarded counters and nothing above: each take of a source is one take of the shards, of as many ids as asked.

use std::{sync::Arc, time::Duration};

use sequent_backend::mysql::{MysqlAutoIncrementStore, MysqlLedger};
use sequent_core::{
    Env, Key, Layout, Rules, SequenceName, SlotIndex, Source, SourceError, Store, ledger::LayoutRecord,
};
use sequent_guard::{Guard, GuardConfig, Opening};
use sequent_ha::{Ring, RingConfig};
use tokio::task::JoinSet;

use crate::fleet::{Fleet, SHARD_BITS, SLOTS};

/// The last raw id of a counter: what fits a JavaScript number, in four slots.
const RAW_MAX: u64 = (1 << 53) >> SHARD_BITS;

/// What is measured is statements. A machine that does other work besides stalls for seconds at times, and a slot that is
/// evicted for that would leave the subject fewer servers than the baseline has.
const PATIENCE: Duration = Duration::from_secs(10);

/// Keys over one ring.
pub(crate) struct GuardedRing {
    pub(crate) keys: Vec<Arc<dyn Source>>,
    ring: Arc<Ring>,
    guard: Arc<Guard>,
    // Dropped, they end.
    _tasks: JoinSet<()>,
}

impl GuardedRing {
    /// So many keys of a new cluster with `AUTO_INCREMENT` shards, m = 0.
    pub(crate) async fn open(fleet: &Fleet, name: &str, keys: u64) -> Result<Self, String> {
        fleet.databases(name).await;
        let layout = Layout::new(SHARD_BITS, 0).map_err(|error| error.to_string())?;
        let mut stores: Vec<Option<Arc<dyn Store>>> = Vec::new();
        for slot in 0..SLOTS {
            let options = fleet.options(Some(slot), name)?;
            let slot = SlotIndex::try_from(slot).map_err(|error| error.to_string())?;
            let store = MysqlAutoIncrementStore::new(options, slot);
            stores.push(Some(Arc::new(store)));
        }
        let env = Env::default();
        let patient = RingConfig { slow_after: PATIENCE, attempt_timeout: PATIENCE, ..RingConfig::default() };
        let ring = Ring::new(layout, stores, patient, env.clone());
        let cluster: SequenceName = name.parse().map_err(|error| format!("{name}: {error}"))?;
        let shard = |slot: SlotIndex| Some((slot, ring.store(slot)?));
        let opening = Opening {
            ledger: Arc::new(MysqlLedger::new(fleet.options(None, name)?)),
            shards: (0..layout.slots()).filter_map(shard).collect(),
            first: LayoutRecord { cluster, layout, generation: 1 },
            home: None,
            embedded: false,
            config: GuardConfig::default(),
            env,
            rules: Rules::ALL,
        };
        let (guard, outside) = Guard::open(opening).await.map_err(said)?;
        if let Some((slot, error)) = outside.first() {
            return Err(format!("slot {slot}: {error}"));
        }
        let mut tasks = JoinSet::new();
        tasks.spawn(Arc::clone(&guard).run());
        tasks.spawn(ring.run());
        let mut guarded_ring = Self { keys: Vec::new(), ring: Arc::clone(&ring), guard, _tasks: tasks };
        for key in 0..keys {
            let name: SequenceName = format!("key{key}").parse().map_err(|error| format!("{error}"))?;
            let key = Key::of(&name);
            let counters = guarded_ring.guard.counters(&key, RAW_MAX).await.map_err(said)?;
            guarded_ring.keys.push(ring.source(key, counters));
        }
        // One after the other: making as many tables at once takes longer than an attempt may.
        for key in &guarded_ring.keys {
            key.take(SLOTS as u64).await.map_err(said)?;
        }
        Ok(guarded_ring)
    }

    /// The ring that all keys share.
    pub(crate) fn ring(&self) -> &Arc<Ring> {
        &self.ring
    }

    /// How often a slot left the rotation: a round in which one did measures something else.
    pub(crate) fn evictions(&self) -> u64 {
        self.ring.status().iter().map(|slot| slot.counts.evictions).sum()
    }

    /// The last report.
    pub(crate) async fn close(self) {
        self.guard.close().await;
    }
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn said(error: SourceError) -> String {
    error.to_string()
}
