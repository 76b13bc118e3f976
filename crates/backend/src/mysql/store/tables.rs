//! The tables of a store.

use crate::mysql::schema::Schema;

/// Stamp and mark: rows by name, outside of every key's reach.
const IDENTITY: (&str, &str) = (
    "sequent_identity",
    "CREATE TABLE IF NOT EXISTS sequent_identity (
        name VARBINARY(16) NOT NULL PRIMARY KEY,
        held BIGINT NOT NULL DEFAULT 0,
        said VARBINARY(512)
    ) ENGINE = InnoDB",
);

/// VARBINARY: no collation folds, trims or pads a key.
const CELLS_TABLE: (&str, &str) = (
    "sequent_cells",
    "CREATE TABLE IF NOT EXISTS sequent_cells (
        k VARBINARY(240) NOT NULL PRIMARY KEY,
        life BIGINT NOT NULL,
        open TINYINT NOT NULL,
        v BIGINT NOT NULL
    ) ENGINE = InnoDB",
);

/// Emptied by each start of the server.
pub(in crate::mysql) const BOOT: (&str, &str) = (
    "sequent_boot",
    "CREATE TABLE IF NOT EXISTS sequent_boot (
        one TINYINT NOT NULL PRIMARY KEY,
        token CHAR(32) CHARACTER SET ascii NOT NULL
    ) ENGINE = MEMORY",
);

/// Counters in rows.
const ROWS: Schema = Schema {
    word: "store",
    tables: &[IDENTITY, CELLS_TABLE, BOOT],
    anchor: "sequent_cells",
    boot: "sequent_boot",
    way: Some("rows"),
    beget: None,
    auto_increment: false,
    transactions: false,
    session: "",
};

/// Counters in rows.
pub(super) static CELLS: Schema = ROWS;

/// Counters in tables of their own, with rows as fences.
pub(super) static FENCES: Schema = Schema {
    way: Some("tables with AUTO_INCREMENT"),
    auto_increment: true,
    session: ", auto_increment_increment = 1, auto_increment_offset = 1",
    ..ROWS
};
