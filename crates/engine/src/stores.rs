//! Stores and ledgers from their places in the configuration.

use std::{path::PathBuf, sync::Arc, time::Duration};

use sequent_backend::{
    memory::{MemoryLedger, MemoryStore},
    sqlite::{SqliteLedger, SqliteOptions, SqliteStore},
};
use sequent_core::{Env, SlotIndex, Store, ledger::Ledger};
use tokio::{task::JoinSet, time::timeout};

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
    stores: Vec<(PathBuf, Arc<SqliteStore>)>,
    ledger: Option<(PathBuf, Arc<SqliteLedger>)>,
}

/// How long the stores have to be left, and then the ledger: to leave a file copies its log into it, at most a few
/// megabytes. One whose disk hangs would never be left.
const LEAVE_MAX: Duration = Duration::from_secs(2);

impl Files {
    /// Leaves every file; the ledger last, since it knows of the others. Names those that could not be left in time.
    pub(crate) async fn leave(&self) -> Vec<String> {
        let mut leaving = JoinSet::new();
        for (path, store) in self.stores.clone() {
            leaving.spawn(in_time(path, async move { store.disconnect().await }));
        }
        let mut unleft: Vec<String> = leaving.join_all().await.into_iter().flatten().collect();
        if let Some((path, ledger)) = self.ledger.clone() {
            unleft.extend(in_time(path, async move { ledger.disconnect().await }).await);
        }
        unleft.sort();
        unleft
    }
}

/// The path, if it can't be left in time: what was begun goes on, as long as the process lives.
async fn in_time(path: PathBuf, leaving: impl Future<Output = ()>) -> Option<String> {
    timeout(LEAVE_MAX, leaving).await.err().map(|_| {
        let file = path.display().to_string();
        tracing::warn!(
            file,
            limit_s = LEAVE_MAX.as_secs(),
            "could not be left cleanly: its disk does not answer"
        );
        file
    })
}

/// The ledger at `place`; it connects at its first call.
pub(crate) fn ledger(place: &Place, create: bool, env: &Env, files: &mut Files) -> Arc<dyn Ledger> {
    match place {
        Place::Memory => Arc::new(MemoryLedger::new(Arc::clone(&env.clock), &*env.entropy)),
        Place::Sqlite(path) => {
            let ledger = Arc::new(SqliteLedger::new(path, options(create, env)));
            files.ledger = Some((path.clone(), Arc::clone(&ledger)));
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
                files.stores.push((path.clone(), Arc::clone(&store)));
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
