//! Stores and ledgers from their places in the configuration.

mod shutdown;

use std::sync::Arc;

use sequent_backend::kinds::{Kind, Opened, Role, Site, Where};
use sequent_core::{
    Block, Env, ErrorKind, Key, Layout, SequenceName, SlotIndex, SourceError, Span, Store, ledger::Ledger,
};

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
    Ok(how(kind.ok_or_else(unknown)?, at)?)
}

/// The stores of `parts`, for checks that need no connection, if all of them are on servers: the others hold every key.
/// A store that can't be built is left out, since another check reports it.
pub(crate) fn unused(parts: Vec<ShardPart>) -> Vec<Shard> {
    if !parts.iter().all(|part| matches!(part.place, Place::Server(_))) {
        return Vec::new();
    }
    let (env, mut files) = (Env::default(), Files::default());
    // The capabilities of a store do not depend on its cluster.
    let Ok(cluster) = "any".parse() else { return Vec::new() };
    let built =
        parts.into_iter().filter_map(|part| shards(vec![part], &cluster, false, &env, &mut files).ok());
    built.flatten().collect()
}

/// Refuses a key that no slot's store can hold. The error has the first slot, its kind and bound, and the kind that can
/// hold it. If only some can't, they are left out for this key, and the others serve it.
pub(crate) fn hold(shards: &[Shard], key: &Key) -> Result<(), String> {
    let left_out = left_out(shards, key);
    match left_out.first() {
        Some((slot, why)) if left_out.len() == shards.len() => Err(format!("slot {slot}: {why}")),
        _ => Ok(()),
    }
}

/// The slots whose stores can't hold a key, each with the reason.
pub(crate) fn left_out(shards: &[Shard], key: &Key) -> Vec<(SlotIndex, String)> {
    let refusal = |shard: &Shard| Some((shard.part.slot, shard.store.holds(key).err()?.context().to_owned()));
    shards.iter().filter_map(refusal).collect()
}

/// Whether the shard counts in tables that another program made.
pub(crate) fn adopts(shard: &Shard) -> bool {
    match &shard.part.place {
        Place::Server(server) => server.options.code_tables.adopt,
        Place::Sqlite(_) | Place::Memory => false,
    }
}

/// Refuses numbers that differ from those that an old program makes, if a slot counts in its tables: both count by one
/// counter, so equal ids must be equal numbers.
pub(crate) fn agree_with_old(
    shards: &[Shard],
    key: &Key,
    span: Span,
    layout: Layout,
) -> Result<(), &'static str> {
    let first =
        layout.encode(1, 0).and_then(|encoded| Block::new(encoded << layout.memory_bits(), 1, 2).ok());
    let are_same = first.is_some_and(|first| span.numbers(layout, first) == Some(first));
    if are_same || !shards.iter().any(|shard| adopts(shard) && shard.store.holds(key).is_ok()) {
        return Ok(());
    }
    Err(
        "a shard has adopt_tables = true, so numbers must be those of the old program: numbering = \"encoded\" is expected",
    )
}

/// Stores by slot, for a ring.
pub(crate) fn by_slot(shards: &[Shard], slots: SlotIndex) -> Vec<Option<Arc<dyn Store>>> {
    let of = |slot| shards.iter().find(|shard| shard.part.slot == slot).map(|shard| Arc::clone(&shard.store));
    (0..slots).map(of).collect()
}
