//! SQLite: one file per store, and one for the ledger.
//!
//! Reading order: `fault` (errors), `disk_gate` (hanging disks), `file_identity` (which file is at the path),
//! `atomic_create` (a new file appears complete or not at all), `checked_close` (when a connection may be closed),
//! `connection`. Then `connect` (how a connection is opened), `connection_slot` (where it is kept), `database` (one
//! operation at a time), and last `store` and `ledger`.
//!
//! Properties that uniqueness rests on:
//!
//! - A row of `RETURNING` arrives before the commit. A value counts once its statement has run to its end, or its
//!   transaction has committed. `fetch_all` ensures that; sqlx's `fetch_one` and `fetch_optional` stop at the first
//!   row.
//! - The path is checked before and after each call. A file that was moved away, deleted or replaced under a running
//!   process no longer counts, though SQLite would continue in it.
//! - `-wal` and `-shm` are checked too. If they are removed under an open connection, it is severed (`poisoned_files`).
//! - A file is created once. If it is deleted under a running process, calls fail and never create a new one. An empty
//!   file would pass for a store that lost its data, or for the ledger of a new cluster.
//! - Every disk access may hang for ever. Our own go through `disk_gate`. A connection opens and closes in a task of
//!   its own, one at a time (`connection_slot`). So a hanging disk costs a handful of threads, however long it hangs.
//! - Only SQLite opens a database file here. Closing any descriptor of a file drops all of the process's POSIX locks on
//!   it, SQLite's included.

mod atomic_create;
mod checked_close;
mod connect;
mod connection;
mod connection_slot;
mod database;
mod disk;
mod disk_gate;
mod disk_space;
mod fault;
mod file_identity;
mod ledger;
mod poisoned_files;
mod store;

use sequent_core::Env;

pub(crate) use fault::{CORRUPT, NOTADB, from_driver};
pub use ledger::SqliteLedger;
pub use store::SqliteStore;

/// Options of a SQLite store or ledger. By default no file is created, and entropy and clock are the machine's.
#[derive(Debug, Clone, Default)]
pub struct SqliteOptions {
    /// Whether a missing file may be created (its directory must exist). It is created only until this store or ledger
    /// has connected once. An existing file is never overwritten.
    pub create: bool,
    /// Entropy for new files' identities and the jitter of retries; the wall clock.
    pub env: Env,
}
