//! memcached store: one item per key. It is volatile whatever the server's settings, because a stop loses every item
//! and a full server any item. Lost counters continue above the ledger's ceilings.
//!
//! Reading order: `server` (address), `codec` (the commands used, and the parser of their answers), `key_names` (names
//! of items), `entry` (items under compare and swap), `stats`, `connection` (with its instance), then `store`. The
//! calls on cells are those of `store::cas`; the connection pool is `net`'s.
//!
//! Properties that uniqueness rests on:
//!
//! - Commands: `mg` and `ms` on items, `mn` as a ping, `stats` for the instance. `incr` is not used: it wraps at 2^64,
//!   accepts `12 x` as a number, and compares no epoch.
//! - An item holds epoch, openness and value together. It is replaced whole or not at all (`ms … C`). Version numbers
//!   (CAS ids) begin again at 1 when the server restarts, so each is used only on the connection that read it.
//! - The instance is the server's process, its start time in seconds, and a token in the shard's own item. A connection
//!   reads it once, when it is opened. Each call compares the token again: a flush removes it. Items survive a process
//!   only with `--memory-file`; a copy of that file belongs to another process.
//! - Items have no time to live. If an operator sets one, the next swap removes it. A counter that expires before
//!   begins a new epoch.
//! - Stamp, mark and token are one item, so an eviction takes all three or none. Each use of a cell uses it too, so an
//!   LRU eviction keeps it as long as any cell. Without it, the store counts as empty and is stamped again.
//! - Names are `sequent/<cluster>/<slot>/cell/<key>`. Characters that a name can't contain are escaped; a name above
//!   250 bytes is replaced by its digest.
//!
//! If the server was started with `--auth-file`, the URL has the user and password. There is no TLS.

mod codec;
mod connection;
mod entry;
mod key_names;
mod server;
mod stats;
mod store;

pub use store::MemcachedStore;
