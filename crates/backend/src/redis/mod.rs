//! Redis and Valkey: two hashes a key, in one database of a server of its own.
//!
//! Reading order: `server` (where, and a login), `fault` (what the server says, and who must react), `settings` (what an
//! answer is worth), `names`, `scripts` (each call, in Lua), `run` (who answers), `connection`, then `store`. The pool of
//! connections is `net`'s, and what every store does is `crate::store`'s.
//!
//! What it rests on:
//!
//! - A script is one step. It compares epoch and openness where it counts, and numbers are text in it: a Lua number rounds
//!   above 2^53, and `HINCRBY` refuses what would pass 2^63-1.
//! - Nothing of the server's persistence: without any, a restart leaves no cell, and a take where no cell is answers
//!   `Regressed`. A cell is written by a close alone.
//! - The instance is `run_id` and `master_replid` of `INFO`, and a token in the shard's own key, learned once when a
//!   connection is opened. Each script compares the latter two again: a server that was made a replica, filled from another
//!   one and promoted again keeps its process and its connections, and one that was flushed keeps all but its data; both
//!   are others all the same. Some 8 µs of the server's time a call. A server gets another replication id, too, with its
//!   first replica, and an hour after its last: each of its counters then begins a new epoch.
//! - What somebody writes over a cell by hand (another type, a text, a number below zero, another number be it by one) is
//!   `Regressed`: its counter alone begins a new epoch. The value stands a second time in the cell's witness, a key of its
//!   own, so that a cell set back whole, or deleted and made again, is told by it; and a close finds in it what a cell that
//!   was evicted had given. Some 1.3 µs of the server's time a take, and 140 bytes a key.
//! - A connection whose call was dropped, or that failed with more than an answer, is closed.
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

mod connection;
mod fault;
mod names;
mod open;
mod run;
mod scripts;
mod server;
mod settings;
mod store;

pub(crate) use open::open_store;
pub use store::RedisStore;
