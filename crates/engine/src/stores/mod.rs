//! Stores and ledgers from their places in the configuration.

mod shutdown;

use std::sync::Arc;

use sequent_backend::kinds::{Kind, Opened, Role, Site, Where};
use sequent_core::{Env, ErrorKind, Key, SequenceName, SlotIndex, SourceError, Store, ledger::Ledger};

use crate::{
    config::{Place, ShardPart},
    error::OpenError,
};

pub use shutdown::Files;

/// A store in its slot.
#[derive(Clone)]
pub struct Shard {
    /// The store's configuration.
    pub part: ShardPart,
    /// The store; it connects at its first call.
    pub store: Arc<dyn Store>,
}

/// The ledger at `place`; it connects at its first call.
pub fn ledger(
    place: &Place,
    create: bool,
    env: &Env,
    files: &mut Files,
) -> Result<Arc<dyn Ledger>, OpenError> {
    let opened =
        open(place, Role::Ledger, |kind, place| kind.open_ledger(&Site { place, owner: None, create, env }));
    let Opened { handle, close } = opened?;
    files.keep_ledger(place, close);
    Ok(handle)
}

/// The stores of `parts`, which are slots of `cluster`; each connects at its first call.
pub fn shards(
    parts: Vec<ShardPart>,
    cluster: &SequenceName,
    create: bool,
    env: &Env,
    files: &mut Files,
) -> Result<Vec<Shard>, OpenError> {
    let mut shard = |part: ShardPart| {
        let owner = Some((cluster, part.slot));
        let opened = open(&part.place, Role::Store, |kind, place| {
            kind.open_store(&Site { place, owner, create, env })
        });
        let Opened { handle: store, close } = opened?;
        files.keep_store(&part.place, close);
        Ok(Shard { part, store })
    };
    parts.into_iter().map(&mut shard).collect()
}

/// Opens the store or ledger at `place`, by its kind.
fn open<T: ?Sized>(
    place: &Place,
    role: Role,
    how: impl FnOnce(&'static Kind, Where<'_>) -> Result<Opened<T>, SourceError>,
) -> Result<Opened<T>, OpenError> {
    let (kind, at) = match place {
        Place::Memory => (Kind::named(role, place.as_str()), Where::Memory),
        Place::Sqlite(path) => (Kind::named(role, place.as_str()), Where::File(path)),
        Place::Server(server) => (Some(server.kind), Where::Server(&server.options)),
    };
    let unknown =
        || SourceError::new(ErrorKind::Refused, format!("store is {:?}, which is unknown", place.as_str()));
    let opened = kind.ok_or_else(unknown).and_then(|kind| how(kind, at));
    opened.map_err(|error| OpenError::of_source(&error))
}

/// The stores of those `parts` that are on a server, for checks that need no connection. A store that can't be built
/// is left out, since another check reports it.
pub(crate) fn unused(parts: Vec<ShardPart>) -> Vec<Shard> {
    let servers = parts.into_iter().filter(|part| matches!(part.place, Place::Server(_)));
    let (env, mut files) = (Env::default(), Files::default());
    // The capabilities of a store do not depend on its cluster.
    let Ok(cluster) = "any".parse() else { return Vec::new() };
    let built = servers.filter_map(|part| shards(vec![part], &cluster, false, &env, &mut files).ok());
    built.flatten().collect()
}

/// Refuses a key that the store of a slot can't hold. The error has the slot, kind, bound, and the kind that can hold
/// it. Otherwise only the other slots would serve the key, until they fail.
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
