//! MySQL and MariaDB stores: cells in one database, counted in one of three ways.

mod auto_increment;
mod segment;

use std::hash::{DefaultHasher, Hash, Hasher};

use sequent_core::Key;

use super::{
    connection::Connection,
    privileges::Needed,
    server::MysqlServer,
    tables::{BOOT, FirstRow, Tables},
};
use crate::{
    net::{Fault, Pool, ServerOptions},
    sql::{Many, Value},
    store::{
        CoreStore,
        sql::{InPlace, StoreSession, StoreStatements},
    },
};
pub use auto_increment::MysqlAutoIncrementStore;
pub use segment::MysqlSegmentStore;

/// The shard's row: stamp, mark, and the way of counting.
const SHARD: (&str, &str) = (
    "sequent_shard",
    "CREATE TABLE IF NOT EXISTS sequent_shard (
        one TINYINT NOT NULL PRIMARY KEY,
        way VARBINARY(32) NOT NULL,
        stamp VARBINARY(512),
        mark BIGINT NOT NULL DEFAULT 0
    ) ENGINE = InnoDB",
);

/// VARBINARY: no collation folds, trims or pads a key.
const CELLS: (&str, &str) = (
    "sequent_cells",
    "CREATE TABLE IF NOT EXISTS sequent_cells (
        k VARBINARY(240) NOT NULL PRIMARY KEY,
        epoch BIGINT NOT NULL,
        open TINYINT NOT NULL,
        v BIGINT NOT NULL
    ) ENGINE = InnoDB",
);

/// The tables of counters in rows.
const ROWS: Tables = Tables {
    kind: "store",
    all: &[SHARD, CELLS, BOOT],
    anchor: "sequent_cells",
    way: Some("rows"),
    first_row: FirstRow {
        table: "sequent_shard",
        sql: "INSERT IGNORE INTO sequent_shard (one, way) VALUES (1, ?)",
    },
    auto_increment: false,
    transactions: false,
    session: "",
    needed: Needed { always: &["SELECT", "INSERT", "UPDATE"], at_times: &["CREATE"] },
};

/// The value of a change is the id of its OK packet. A take past the range is error 1690, which becomes `Exhausted`.
static STATEMENTS: StoreStatements = StoreStatements {
    take: "UPDATE sequent_cells SET v = LAST_INSERT_ID(v + ?) WHERE k = ? AND epoch = ? AND open = 1 AND v >= 0",
    // A new row has no id in the OK packet, which is read as 0: the correct value.
    close: "INSERT INTO sequent_cells (k, epoch, open, v) VALUES (?, ?, 0, 0) \
        ON DUPLICATE KEY UPDATE v = LAST_INSERT_ID(GREATEST(v, 0)), epoch = VALUES(epoch), open = 0",
    // `v` is set before `open`: assignments run from left to right.
    install: "UPDATE sequent_cells SET v = IF(open, v, GREATEST(v, ?)), open = 1 WHERE k = ? AND epoch = ?",
    lift: "UPDATE sequent_cells SET v = LAST_INSERT_ID(GREATEST(v, ?)) WHERE k = ? AND epoch = ? AND open = 1",
    remove: "DELETE FROM sequent_cells WHERE k = ?",
    cell: "SELECT epoch, open, v FROM sequent_cells WHERE k = ?",
    cells: Many::Listed("SELECT k, epoch, open, v FROM sequent_cells WHERE k IN ({?})"),
    page: "SELECT k, v FROM sequent_cells WHERE k > ? ORDER BY k LIMIT ?",
    shard: "SELECT stamp, mark, EXISTS (SELECT 1 FROM sequent_cells), \
        CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED) FROM sequent_shard WHERE one = 1",
    stamp: "UPDATE sequent_shard SET stamp = ? WHERE one = 1 AND stamp <=> ?",
    mark: "UPDATE sequent_shard SET mark = LAST_INSERT_ID(GREATEST(mark, ?)) WHERE one = 1",
};

impl StoreSession for Connection {
    const STATEMENTS: &'static StoreStatements = &STATEMENTS;

    async fn change(&mut self, sql: &'static str, params: Vec<Value>) -> Result<Option<u64>, Fault> {
        let done = self.exec(sql, params).await?;
        Ok((done.found > 0).then_some(done.id))
    }
}

/// `mysql-row`: a store in one MySQL or MariaDB database, one row per key, added to in place. It is the default choice
/// among the MySQL kinds. All handles to one database, in this process or another, count together.
///
/// The first call connects. A database may be used by one kind of store only.
pub type MysqlRowStore = CoreStore<Pool<MysqlServer>, InPlace>;

impl MysqlRowStore {
    /// The store in the options' database.
    pub fn new(options: ServerOptions) -> Self {
        Self::on(Pool::new(MysqlServer { options, tables: &ROWS }), InPlace)
    }
}

/// A bucket for a key; stable within a process.
fn place_of(key: &Key, places: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    usize::try_from(hasher.finish() % places.max(1) as u64).unwrap_or(0)
}
