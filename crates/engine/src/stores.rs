//! Stores and ledgers from their places in the configuration.

use std::sync::Arc;

use sequent_backend::{
    memory::{MemoryLedger, MemoryStore},
    sqlite::{SqliteLedger, SqliteOptions, SqliteStore},
};
use sequent_core::{Env, SlotIndex, Store, ledger::Ledger};

use crate::config::{Place, ShardPart};

/// A store in its slot.
#[derive(Clone)]
pub(crate) struct Shard {
    pub(crate) part: ShardPart,
    pub(crate) store: Arc<dyn Store>,
}

/// The files that must be left cleanly: whoever is the last takes their logs with it.
#[derive(Clone, Default)]
pub(crate) struct Files {
    stores: Vec<Arc<SqliteStore>>,
    ledger: Option<Arc<SqliteLedger>>,
}

impl Files {
    /// Leaves every file; the ledger last, since it knows of the others.
    pub(crate) async fn leave(&self) {
        for store in &self.stores {
            store.disconnect().await;
        }
        if let Some(ledger) = &self.ledger {
            ledger.disconnect().await;
        }
    }
}

/// The ledger at `place`; it connects at its first call.
pub(crate) fn ledger(place: &Place, create: bool, env: &Env, files: &mut Files) -> Arc<dyn Ledger> {
    match place {
        Place::Memory => Arc::new(MemoryLedger::new(Arc::clone(&env.clock), &*env.entropy)),
        Place::Sqlite(path) => {
            let ledger = Arc::new(SqliteLedger::new(path, options(create, env)));
            files.ledger = Some(Arc::clone(&ledger));
            ledger
        }
    }
}

/// The stores of `parts`; each connects at its first verb.
pub(crate) fn shards(parts: Vec<ShardPart>, create: bool, env: &Env, files: &mut Files) -> Vec<Shard> {
    let mut open = |part: ShardPart| {
        let store: Arc<dyn Store> = match &part.place {
            Place::Memory => Arc::new(MemoryStore::new(Arc::clone(&env.clock), &*env.entropy)),
            Place::Sqlite(path) => {
                let store = Arc::new(SqliteStore::new(path, options(create, env)));
                files.stores.push(Arc::clone(&store));
                store
            }
        };
        Shard { part, store }
    };
    parts.into_iter().map(&mut open).collect()
}

/// Stores by slot, for a ring.
pub(crate) fn by_slot(shards: &[Shard], slots: SlotIndex) -> Vec<Option<Arc<dyn Store>>> {
    let of = |slot| shards.iter().find(|shard| shard.part.slot == slot).map(|shard| Arc::clone(&shard.store));
    (0..slots).map(of).collect()
}

fn options(create: bool, env: &Env) -> SqliteOptions {
    SqliteOptions { create, entropy: Arc::clone(&env.entropy), clock: Arc::clone(&env.clock) }
}
