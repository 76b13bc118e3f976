//! SQLite: one file a shard, and one for the ledger.
//!
//! Reading order: `fault` (what SQLite says, and who must react), `disk_gate` (a disk that hangs), `place` (which file is at the
//! path now), `atomic_create` (a new file appears complete or not at all), `checked_close` (when a connection may be closed),
//! `connection`, `opening` (how it comes in), `connection_slot` (where it is), `database` (one operation at a time), then `store` and
//! `ledger`.
//!
//! What it rests on:
//!
//! - A row of `RETURNING` arrives before the commit. A value counts once its statement has run to its end
//!   (`fetch_all`; sqlx's `fetch_one` and `fetch_optional` stop at the first row), or its transaction has committed.
//! - The path is looked at before and after each verb: a file that was moved away, deleted or replaced under a
//!   running process counts nothing any more, though SQLite would go on in it.
//! - So are `-wal` and `-shm`: who takes them away under a connection severs it (`poisoned_files`).
//! - A file is made once. Whoever deletes it under a running process gets an error, never a new file: an empty one would
//!   pass for a store that forgot, or for the ledger of a new cluster.
//! - Every call to a disk may hang for ever: those that are ours go by `disk_gate`, and a connection comes and goes in a task
//!   of its own, one at a time (`slot`), so that a disk that hangs costs a handful of threads, however long it lasts.
//! - No file of a database is ever opened here but through SQLite: closing any descriptor of a file drops all of
//!   the process's POSIX locks on it, SQLite's included.

mod atomic_create;
mod checked_close;
mod connection;
mod connection_slot;
mod database;
mod disk;
mod disk_gate;
mod disk_space;
mod fault;
mod ledger;
mod open;
mod opening;
mod place;
mod poisoned_files;
mod store;

use sequent_core::Env;

pub use ledger::SqliteLedger;
pub(crate) use open::{open_ledger, open_store};
pub use store::SqliteStore;

/// How a file is opened.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// Whether a missing file may be made (its directory must be there): once, and not where this store or ledger has
    /// connected before. A file that is there is never overwritten.
    pub create: bool,
    /// For identities of new files, the jitter of retries, and as the wall clock.
    pub env: Env,
}

impl Default for SqliteOptions {
    /// Makes no file; the machine's entropy and clock.
    fn default() -> Self {
        Self { create: false, env: Env::default() }
    }
}
