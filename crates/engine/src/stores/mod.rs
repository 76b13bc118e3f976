//! Stores and ledgers from their places in the configuration; a file a driver, which a build may leave out.

#[cfg(not(all(
    feature = "etcd",
    feature = "mongodb",
    feature = "mysql",
    feature = "postgres",
    feature = "redis",
    feature = "memcached"
)))]
#[allow(dead_code, reason = "which of them stand in depends on what is left out")]
mod absent;
#[cfg(feature = "etcd")]
mod etcd;
mod leaving;
#[cfg(feature = "memcached")]
mod memcached;
#[cfg(feature = "mongodb")]
mod mongodb;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;

#[cfg(not(feature = "etcd"))]
use absent as etcd;
#[cfg(not(feature = "mongodb"))]
use absent as mongodb;
#[cfg(not(feature = "mysql"))]
use absent as mysql;
#[cfg(not(feature = "postgres"))]
use absent as postgres;
#[cfg(not(feature = "memcached"))]
use absent::owned as memcached;
#[cfg(not(feature = "redis"))]
use absent::owned as redis;

use std::{path::Path, sync::Arc};

use sequent_backend::{
    memory::{MemoryLedger, MemoryStore},
    sqlite::{SqliteLedger, SqliteOptions, SqliteStore},
};
use sequent_core::{Env, Key, SequenceName, SlotIndex, Store, ledger::Ledger};

use crate::{
    OpenError,
    config::{Family, Place, ShardPart},
};

pub(crate) use leaving::Files;
use leaving::Leave;

/// A store in its slot.
#[derive(Clone)]
pub(crate) struct Shard {
    pub(crate) part: ShardPart,
    pub(crate) store: Arc<dyn Store>,
}

/// The ledger at `place`; it connects at its first call.
pub(crate) fn ledger(
    place: &Place,
    create: bool,
    env: &Env,
    files: &mut Files,
) -> Result<Arc<dyn Ledger>, OpenError> {
    let (ledger, leave): (Arc<dyn Ledger>, Leave) = match place {
        Place::Memory => return Ok(Arc::new(MemoryLedger::new(Arc::clone(&env.clock), &*env.entropy))),
        Place::Sqlite(path) => sqlite_ledger(path, create, env),
        Place::Server(server) => match server.kind.family() {
            Family::Etcd => etcd::ledger(server, create, env)?,
            Family::Mongodb => mongodb::ledger(server, create, env)?,
            Family::Mysql => mysql::ledger(server, create, env)?,
            Family::Postgres => postgres::ledger(server, create, env)?,
            Family::Redis | Family::Memcached => return Err(misplaced(server)),
        },
    };
    files.keep_ledger(place, leave);
    Ok(ledger)
}

/// The stores of `parts`, which are slots of `cluster`; each connects at its first verb.
pub(crate) fn shards(
    parts: Vec<ShardPart>,
    cluster: &SequenceName,
    create: bool,
    env: &Env,
    files: &mut Files,
) -> Result<Vec<Shard>, OpenError> {
    let mut open = |part: ShardPart| {
        let (store, leave): (Arc<dyn Store>, Leave) = match &part.place {
            Place::Memory => {
                let store = Arc::new(MemoryStore::new(Arc::clone(&env.clock), &*env.entropy));
                return Ok(Shard { part, store });
            }
            Place::Sqlite(path) => sqlite_store(path, create, env),
            Place::Server(server) => match server.kind.family() {
                Family::Etcd => return Err(misplaced(server)),
                Family::Mongodb => mongodb::store(server, part.slot, create, env)?,
                Family::Mysql => mysql::store(server, part.slot, create, env)?,
                Family::Postgres => postgres::store(server, part.slot, create, env)?,
                Family::Redis => redis::store(server, cluster, part.slot, env)?,
                Family::Memcached => memcached::store(server, cluster, part.slot, env)?,
            },
        };
        files.keep_store(&part.place, leave);
        Ok(Shard { part, store })
    };
    parts.into_iter().map(&mut open).collect()
}

/// The stores of those `parts` that are reached over a network, to ask what can be told without connecting. What can't
/// be built is another fault, and left out.
pub(crate) fn unused(parts: Vec<ShardPart>) -> Vec<Shard> {
    let servers = parts.into_iter().filter(|part| matches!(part.place, Place::Server(_)));
    let (env, mut files) = (Env::default(), Files::default());
    // What a store can hold does not rest on whose it is.
    let Ok(cluster) = "any".parse() else { return Vec::new() };
    let built = servers.filter_map(|part| shards(vec![part], &cluster, false, &env, &mut files).ok());
    built.flatten().collect()
}

/// Refuses a key that the store of a slot can't hold, by slot, kind, bound, and the kind that can: the other slots
/// alone would serve it, until they fail.
pub(crate) fn hold(shards: &[Shard], key: &Key) -> Result<(), String> {
    let refusal = |shard: &Shard| Some((shard.part.slot, shard.store.holds(key).err()?));
    let refused = shards.iter().find_map(refusal);
    refused.map_or(Ok(()), |(slot, error)| Err(format!("slot {slot}: {}", error.context())))
}

/// Stores by slot, for a ring.
pub(crate) fn by_slot(shards: &[Shard], slots: SlotIndex) -> Vec<Option<Arc<dyn Store>>> {
    let of = |slot| shards.iter().find(|shard| shard.part.slot == slot).map(|shard| Arc::clone(&shard.store));
    (0..slots).map(of).collect()
}

fn sqlite_ledger(path: &Path, create: bool, env: &Env) -> (Arc<dyn Ledger>, Leave) {
    let ledger = Arc::new(SqliteLedger::new(path, options(create, env)));
    let left = Arc::clone(&ledger);
    (ledger, Leave::by(move || Arc::clone(&left), |ledger| async move { ledger.disconnect().await }))
}

fn sqlite_store(path: &Path, create: bool, env: &Env) -> (Arc<dyn Store>, Leave) {
    let store = Arc::new(SqliteStore::new(path, options(create, env)));
    let left = Arc::clone(&store);
    (store, Leave::by(move || Arc::clone(&left), |store| async move { store.disconnect().await }))
}

fn options(create: bool, env: &Env) -> SqliteOptions {
    SqliteOptions { create, entropy: Arc::clone(&env.entropy), clock: Arc::clone(&env.clock) }
}

/// A word that does not stand for what is opened: the configuration lets none through.
fn misplaced(server: &crate::config::ServerPlace) -> OpenError {
    OpenError::Refused(format!("store is {:?}, which is of no use here", server.kind.as_str()))
}
