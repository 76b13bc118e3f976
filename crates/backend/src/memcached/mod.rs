//! memcached: an item a key. It forgets everything when it ends, and anything when it is full; so it is volatile, whatever
//! its settings, and its counters go on above the ledger's ceilings.
//!
//! Reading order: `options` (where, and a secret), `codec` (the commands used, and how their answers are read), `link` (a
//! connection, and who speaks on it), `name` (what items are called), `item` (read, compared and swapped), then `store`.
//! The verbs are those of `cas`; the connections and their pool are `wire`, which Redis shares.
//!
//! What it rests on:
//!
//! - Four meta commands: `mg` and `ms` on items, `mn` to ask whether anybody answers; `stats` for who speaks. `incr` is not
//!   used: it wraps at 2^64, takes `12 x` for a number, and knows no life.
//! - An item holds life, openness and value together, and is replaced whole or not at all (`ms … C`). The ids by which
//!   versions are compared begin again at 1 when the server does: each is used on the connection that read it, and nowhere
//!   else.
//! - The incarnation is the server's process, the second of its start, and a token in the shard's own item, learned once when
//!   a connection is opened. Each verb compares the token again: it is gone where everything was flushed. Items outlive a
//!   process only where it was started with `--memory-file`; a copy of that file is another process's.
//! - Items have no time to live; one given by hand ends with the next swap, and a counter that it ends begins a new life.
//! - Stamp, mark and token are one item, so that no eviction parts them, and which is in use whenever a cell is. Where it
//!   is gone the store is taken for an empty one, and stamped again.
//! - Names are `sequent/<cluster>/<slot>/cell/<key>`; what a name can't hold is escaped, and one above 250 bytes is
//!   replaced by its digest.
//!
//! Where the server was started with `--auth-file`, user and password are those of the URL. No TLS.

mod codec;
mod item;
mod link;
mod name;
mod open;
mod options;
mod store;

pub use crate::wire::{Owner, Password};
pub(crate) use open::{locate, open_store};
pub use options::MemcachedOptions;
pub use store::MemcachedStore;
