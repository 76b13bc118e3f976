//! A shard: two hashes a key, the cell and its witness, and one for the shard itself.

mod cells;
mod examine;
mod identity;
mod leaf;

use std::fmt;

use sequent_core::{
    Block, BoxFuture, Cell, ErrorKind, Examine, Incarnation, Inspection, Key, Life, SlotIndex, SourceError,
    Stamp, Store,
};

use super::{
    link::Link,
    options::{RedisOptions, Target},
};
use crate::wire::{Limits, Owner, Pool};
use cells::{Close, Install, Lift, Remove, Take};
use identity::{Beside, Inspect, Mark, Restamp};

/// A store in one database of a Redis or Valkey server, of kind `redis`. Handles of one owner, in this process or
/// another, count together.
///
/// Making one touches nothing; the first verb connects.
///
/// ```no_run
/// use sequent_backend::redis::{Owner, RedisOptions, RedisStore};
/// use sequent_core::{Cell, Key, Life, OsEntropy, Store};
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let owner = Owner { cluster: "shop-eu".parse()?, slot: 1 };
/// let store = RedisStore::new(RedisOptions::from_url("redis://sequent@db.example")?, owner);
/// let incarnation = store.inspect().await?.incarnation;
/// let (key, life) = (Key::from_stored("order"), Life::random(&OsEntropy));
/// let cell = Cell { key: &key, under: &incarnation };
/// assert_eq!(store.close(cell, life).await?, 0);
/// store.install(cell, life, 100).await?;
/// assert_eq!(store.take(cell, life, 3).await?.to_string(), "101..=103");
/// store.disconnect();
/// # Ok(())
/// # }
/// ```
pub struct RedisStore {
    pool: Pool<Link>,
}

impl RedisStore {
    /// The store of `owner` on the server that the options name.
    pub fn new(options: RedisOptions, owner: Owner) -> Self {
        let limits = Limits {
            connections_max: options.connections_max.clamp(1, RedisOptions::CONNECTIONS_MAX),
            connect: options.connect_limit,
            clock: options.clock.clone(),
        };
        let shown = options.address();
        Self { pool: Pool::new(Target { options, owner }, limits, shown) }
    }

    /// Closes the connections; the next verb opens another.
    pub fn disconnect(&self) {
        self.pool.renew();
    }

    fn owner(&self) -> &Owner {
        &self.pool.target().owner
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("address", &self.pool.shown())
            .field("owner", self.owner())
            .finish()
    }
}

impl Store for RedisStore {
    fn examiner(&self) -> Option<&dyn Examine> {
        Some(self)
    }

    fn inspect(&self) -> BoxFuture<'_, Result<Inspection, SourceError>> {
        Box::pin(self.pool.perform(Inspect { owner: self.owner() }))
    }

    fn stamp<'a>(
        &'a self,
        under: &'a Incarnation,
        expected: Option<&'a Stamp>,
        new: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(self.pool.perform(Restamp { under, expected, new }))
    }

    fn beside(&self, slots: SlotIndex) -> BoxFuture<'_, Result<Vec<Stamp>, SourceError>> {
        Box::pin(self.pool.perform(Beside { owner: self.owner(), slots }))
    }

    fn mark<'a>(&'a self, under: &'a Incarnation, version: u64) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.pool.perform(Mark { under, version }))
    }

    fn take<'a>(
        &'a self,
        cell: Cell<'a>,
        life: Life,
        want: u64,
    ) -> BoxFuture<'a, Result<Block, SourceError>> {
        Box::pin(self.pool.perform(Take { owner: self.owner(), cell, life, want }))
    }

    fn close<'a>(&'a self, cell: Cell<'a>, next: Life) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.pool.perform(Close { owner: self.owner(), cell, next }))
    }

    fn install<'a>(
        &'a self,
        cell: Cell<'a>,
        life: Life,
        base: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(self.pool.perform(Install { owner: self.owner(), cell, life, base }))
    }

    fn lift<'a>(&'a self, cell: Cell<'a>, life: Life, floor: u64) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.pool.perform(Lift { owner: self.owner(), cell, life, floor }))
    }

    fn remove<'a>(&'a self, cell: Cell<'a>) -> BoxFuture<'a, Result<bool, SourceError>> {
        Box::pin(self.pool.perform(Remove { owner: self.owner(), cell }))
    }
}

/// Where a key's cell is, and its witness. A cluster's name holds no `/`, and what follows `cell/` or `witness/` is the
/// key, byte for byte.
pub(super) struct CellNames {
    cell: Vec<u8>,
    witness: Vec<u8>,
}

impl CellNames {
    fn of(owner: &Owner, key: &Key) -> Self {
        let name = |what: &str| format!("sequent/{owner}/{what}/{}", key.as_str()).into_bytes();
        Self { cell: name("cell"), witness: name("witness") }
    }

    /// Both, as the scripts have them.
    pub(super) fn each(&self) -> [&[u8]; 2] {
        [&self.cell, &self.witness]
    }
}

/// Where the shard's own stamp and mark are: in one key, so that no eviction parts them.
pub(super) fn shard_name(owner: &Owner) -> Vec<u8> {
    format!("sequent/{owner}/shard").into_bytes()
}

/// A value as text that a server can add to.
fn stored(what: &str, key: &Key, value: u64) -> Result<String, SourceError> {
    if value <= Block::NUMBER_MAX {
        return Ok(value.to_string());
    }
    let context = format!("{key}: {what} {value} is above {}", Block::NUMBER_MAX);
    Err(SourceError::new(ErrorKind::Exhausted, context))
}
