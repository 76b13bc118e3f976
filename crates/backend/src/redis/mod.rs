//! Redis and Valkey store: two hashes per key, in one database of a standalone server.
//!
//! Reading order: `server` (address and login), `fault` (errors), `settings` (durability), `names`, `scripts` (each
//! call, in Lua), `instance`, `connection`, then `store`. The connection pool is `net`'s; what all stores share is
//! `crate::store`'s.
//!
//! Properties that uniqueness rests on:
//!
//! - A script is atomic. It compares epoch and openness where it counts. Numbers are text in scripts: a Lua number
//!   rounds above 2^53. `HINCRBY` refuses to pass 2^63-1.
//! - Persistence is not required. Without it a restart loses every cell, and a take on a missing cell answers
//!   `Regressed`. Only a close creates a cell.
//! - The instance is `run_id` and `master_replid` of `INFO`, and a token in the shard's own key. A connection reads it
//!   once, when it is opened. Each script compares `master_replid` and the token again, which costs the server about 8
//!   µs a call.
//! - `master_replid` detects a server that was made a replica, filled from another one and promoted again: it keeps its
//!   process and its connections. The token detects a flush. A server also gets another replication id with its first
//!   replica, and an hour after its last: each of its counters then begins a new epoch.
//! - A manual change of a cell (another type, a text, a number below zero, a number off by one) is `Regressed`: that
//!   counter alone begins a new epoch.
//! - The cell's witness, a separate key, holds the value a second time. It detects a cell that was set back whole, or
//!   deleted and created again. A close reads from it what an evicted cell had given. It costs the server about 1.3 µs
//!   a take, and 140 bytes a key.
//! - A connection is closed if a call on it was dropped, or failed with more than the call's own error.
//! - All names begin with `sequent/<cluster>/<slot>/`. Stamp, mark and token are one key, so an eviction takes all
//!   three or none. Each use of a cell uses it too, so an LRU eviction keeps it as long as any cell. Without it, the
//!   store counts as empty and is stamped again.
//!
//! A replica is `Unavailable`, since it may be promoted a moment later. A node of a Redis Cluster and a sentinel are
//! `Refused`.
//!
//! # Permissions
//!
//! A user needs exactly these (Redis 6, Valkey; `+select` only if the database is not 0):
//!
//! ```text
//! ACL SETUSER sequent on >PASSWORD resetkeys ~sequent/shop-eu/* resetchannels -@all +ping +select +info +config|get +scan +time +eval +evalsha +hget +hset +hsetnx +hmget +hincrby +persist +pttl +del
//! ```
//!
//! Without `+config|get`, or if a provider has removed the command, the store works and counts as volatile.

mod connection;
mod fault;
mod instance;
mod names;
mod scripts;
mod server;
mod settings;
mod store;

pub(crate) use server::connect_to_read;
pub use store::RedisStore;
