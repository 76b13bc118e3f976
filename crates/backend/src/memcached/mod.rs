//! memcached: an item a key. It forgets everything when it ends, and anything when it is full; so it is volatile, whatever
//! its settings, and its counters go on above the ledger's ceilings.
//!
//! Reading order: `server` (where), `codec` (the commands used, and how their answers are read), `name` (what items are
//! called), `item` (read, compared and swapped), `stats`, `connection` (and who answers on it), then `store`. The calls on
//! cells are those of `store::cas`; the pool of connections is `net`'s.
//!
//! What it rests on:
//!
//! - Four meta commands: `mg` and `ms` on items, `mn` to ask whether anybody answers; `stats` for who answers. `incr` is not
//!   used: it wraps at 2^64, takes `12 x` for a number, and knows no epoch.
//! - An item holds epoch, openness and value together, and is replaced whole or not at all (`ms … C`). The ids by which
//!   versions are compared begin again at 1 when the server does: each is used on the connection that read it, and nowhere
//!   else.
//! - The instance is the server's process, the second of its start, and a token in the shard's own item, learned once when
//!   a connection is opened. Each call compares the token again: it is gone where everything was flushed. Items outlive a
//!   process only where it was started with `--memory-file`; a copy of that file is another process's.
//! - Items have no time to live; one given by hand ends with the next swap, and a counter that it ends begins a new epoch.
//! - Stamp, mark and token are one item, so that no eviction parts them, and which is in use whenever a cell is. Where it
//!   is gone the store is taken for an empty one, and stamped again.
//! - Names are `sequent/<cluster>/<slot>/cell/<key>`; what a name can't hold is escaped, and one above 250 bytes is
//!   replaced by its digest.
//!
//! Where the server was started with `--auth-file`, user and password are those of the URL. No TLS.

mod codec;
mod connection;
mod item;
mod name;
mod open;
mod server;
mod stats;
mod store;

pub(crate) use open::open_store;
pub use store::MemcachedStore;
