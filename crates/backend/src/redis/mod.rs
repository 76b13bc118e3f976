//! Redis and Valkey: two hashes a key, in one database of a server of its own.
//!
//! Reading order: `options` (where, and a secret), `fault` (what the server says, and who must react), `settings` (what an
//! answer is worth), `scripts` (each verb, in Lua), `link` (a connection, and who speaks on it), then `store`. The
//! connections and their pool are `wire`, which memcached shares.
//!
//! What it rests on:
//!
//! - A script is one step. It compares life and openness where it counts, and numbers are text in it: a Lua number rounds
//!   above 2^53, and `HINCRBY` refuses what would pass 2^63-1.
//! - Nothing of the server's persistence: without any, a restart leaves no cell, and a take where no cell is answers
//!   `Regressed`. A cell is written by a close alone.
//! - The incarnation is `run_id` and `master_replid` of `INFO`, and a token in the shard's own key, learned once when a
//!   connection is opened. Each script compares the latter two again: a server that was made a replica, filled from another
//!   one and promoted again keeps its process and its connections, and one that was flushed keeps all but its data; both
//!   are others all the same. Some 8 µs of the server's time a verb. A server gets another replication id, too, with its
//!   first replica, and an hour after its last: each of its counters then begins a new life.
//! - What somebody writes over a cell by hand (another type, a text, a number below zero, another number be it by one) is
//!   `Regressed`: its counter alone begins a new life. The value stands a second time in the cell's witness, a key of its
//!   own, so that a cell set back whole, or deleted and made again, is told by it; and a close finds in it what a cell that
//!   was evicted had given. Some 1.3 µs of the server's time a take, and 140 bytes a key.
//! - A connection whose verb was dropped, or that failed with more than an answer, is closed.
//! - Everything is under `sequent/<cluster>/<slot>/`. Stamp, mark and token are one key, so that no eviction parts
//!   them, and which is in use whenever a cell is. Where it is gone the store is taken for an empty one, and stamped again.
//!
//! A replica is `Unavailable`, since it may be promoted a moment later. A node of a Redis Cluster and a sentinel are
//! `Refused`.
//!
//! # Permissions
//!
//! A user with exactly these (Redis 6, Valkey; `+select` only where the database is not 0):
//!
//! ```text
//! ACL SETUSER sequent on >PASSWORD resetkeys ~sequent/shop-eu/* resetchannels -@all +ping +select +info +config|get +scan +time +eval +evalsha +hget +hset +hsetnx +hmget +hincrby +persist +pttl +del
//! ```
//!
//! Without `+config|get`, or where a provider has taken it away, the store is taken for volatile, and works.

mod fault;
mod link;
mod open;
mod options;
mod scripts;
mod settings;
mod store;

pub use crate::wire::{Owner, Password};
pub(crate) use open::{locate, open_store};
pub use options::{RedisOptions, RedisTls};
pub use store::RedisStore;
