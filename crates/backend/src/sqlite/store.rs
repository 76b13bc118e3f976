//! SQLite store: cells in one file.

use std::path::PathBuf;

use super::{
    SqliteOptions,
    connection::{Connection, Tables},
    database::Database,
    disk_space,
};
use crate::{
    net::{Fault, TxMode},
    sql::{Many, Value},
    store::{
        CoreStore,
        sql::{InPlace, StoreSession, StoreStatements},
    },
};

/// `sqns`.
pub(super) const APPLICATION_ID: i64 = 0x7371_6e73;

static TABLES: Tables = Tables {
    kind: "store",
    application_id: APPLICATION_ID,
    version: 1,
    statements: &[
        "CREATE TABLE identity (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            uuid TEXT NOT NULL,
            stamp TEXT,
            mark INTEGER NOT NULL DEFAULT 0
        ) STRICT",
        // STRICT: otherwise a sum above 2^63 - 1 silently becomes a REAL.
        "CREATE TABLE cells (
            k TEXT PRIMARY KEY,
            epoch INTEGER NOT NULL,
            open INTEGER NOT NULL,
            v INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID",
        "PRAGMA user_version = 1",
        "PRAGMA application_id = 0x73716e73",
    ],
    first_row: "INSERT INTO identity (one, uuid) VALUES (1, ?1)",
    token: "SELECT uuid FROM identity",
};

static STATEMENTS: StoreStatements = StoreStatements {
    take: "UPDATE cells SET v = v + ?1 WHERE k = ?2 AND epoch = ?3 AND open = 1 \
        AND v BETWEEN 0 AND 9223372036854775807 - ?1 RETURNING v",
    close: "INSERT INTO cells (k, epoch, open, v) VALUES (?1, ?2, 0, 0) \
        ON CONFLICT (k) DO UPDATE SET epoch = excluded.epoch, open = 0 RETURNING v",
    install: "UPDATE cells SET v = CASE WHEN open THEN v ELSE max(v, ?1) END, open = 1 \
        WHERE k = ?2 AND epoch = ?3 RETURNING v",
    lift: "UPDATE cells SET v = max(v, ?1) WHERE k = ?2 AND epoch = ?3 AND open = 1 RETURNING v",
    remove: "DELETE FROM cells WHERE k = ?1",
    cell: "SELECT epoch, open, v FROM cells WHERE k = ?1",
    cells: Many::Listed("SELECT k, epoch, open, v FROM cells WHERE k IN ({?})"),
    page: "SELECT k, v FROM cells WHERE k > ?1 ORDER BY k LIMIT ?2",
    // The 0 is replaced by this process's clock.
    shard: "SELECT stamp, mark, EXISTS (SELECT 1 FROM cells), 0 FROM identity",
    stamp: "UPDATE identity SET stamp = ?1 WHERE stamp IS ?2 RETURNING 0",
    mark: "UPDATE identity SET mark = ?1 WHERE mark < ?1 RETURNING mark",
};

/// A store in one SQLite file. All handles to one file, in this process or another, count together. The last process
/// that closes the file removes `-wal` and `-shm`.
///
/// The first call connects.
///
/// ```
/// use sequent_backend::sqlite::{SqliteOptions, SqliteStore};
/// use sequent_core::{Cell, Key, Epoch, OsEntropy, Store};
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("shard-0.db");
/// let store = SqliteStore::new(path, SqliteOptions { create: true, ..SqliteOptions::default() });
/// let instance = store.inspect().await?.instance;
/// let (key, epoch) = (Key::from_stored("order"), Epoch::random(&OsEntropy));
/// let cell = Cell { key: &key, under: &instance };
/// assert_eq!(store.close(cell, epoch).await?, 0);
/// store.install(cell, epoch, 100).await?;
/// assert_eq!(store.take(cell, epoch, 3).await?.to_string(), "101..=103");
/// store.disconnect().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type SqliteStore = CoreStore<Database, InPlace>;

impl SqliteStore {
    /// The store in the file at `path`.
    pub fn new(path: impl Into<PathBuf>, options: SqliteOptions) -> Self {
        Self::on(Database::new(path.into(), &TABLES, options), InPlace)
    }
}

impl StoreSession for Connection {
    const STATEMENTS: &'static StoreStatements = &STATEMENTS;
    // A writer's lock detects a locked or read-only file. Nothing is written: the store may belong to another cluster.
    const INSPECT_MODE: TxMode = TxMode::Write;
    const LOOK_MODE: TxMode = TxMode::Read;

    async fn change(&mut self, sql: &'static str, params: Vec<Value>) -> Result<Option<u64>, Fault> {
        let row = self.read(sql, params).await?;
        Ok(row.map(|mut row| row.count()).transpose()?)
    }

    fn clock_ms(&self, _told: u64) -> u64 {
        self.wall_ms()
    }

    async fn check_space(&mut self) -> Result<(), Fault> {
        self.inner.place.on_thread(disk_space::check).await
    }
}
