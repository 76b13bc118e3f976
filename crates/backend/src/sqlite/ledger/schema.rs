//! Tables of the SQLite ledger.

use crate::sqlite::connection::Tables;

/// `sqnl`.
pub(in crate::sqlite) const APPLICATION_ID: i64 = 0x7371_6e6c;

pub(super) static TABLES: Tables = Tables {
    kind: "ledger",
    application_id: APPLICATION_ID,
    version: 4,
    statements: &[
        // `id` never changes; `token` names the current history of the data; `accepted` is the instance on record.
        "CREATE TABLE meta (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            id TEXT NOT NULL,
            token TEXT NOT NULL,
            version INTEGER NOT NULL DEFAULT 0,
            catalog INTEGER NOT NULL DEFAULT 0,
            accepted TEXT,
            floor INTEGER NOT NULL DEFAULT 0
        ) STRICT",
        "CREATE TABLE servers (
            server INTEGER PRIMARY KEY,
            nonce INTEGER NOT NULL,
            seen_ms INTEGER NOT NULL
        ) STRICT",
        "CREATE INDEX servers_seen ON servers (seen_ms)",
        "CREATE TABLE counters (
            slot INTEGER NOT NULL,
            k TEXT NOT NULL,
            epoch INTEGER NOT NULL,
            store TEXT NOT NULL,
            ledger TEXT NOT NULL,
            base INTEGER NOT NULL,
            ceiling INTEGER NOT NULL,
            seen INTEGER NOT NULL,
            opened_at INTEGER NOT NULL,
            moved INTEGER NOT NULL,
            PRIMARY KEY (slot, k)
        ) STRICT, WITHOUT ROWID",
        // The version of the call that last changed the row.
        "CREATE INDEX counters_moved ON counters (moved)",
        "CREATE TABLE history (
            ended INTEGER PRIMARY KEY,
            slot INTEGER NOT NULL,
            k TEXT NOT NULL,
            epoch INTEGER NOT NULL,
            base INTEGER NOT NULL,
            ceiling INTEGER NOT NULL
        ) STRICT",
        "CREATE INDEX history_of ON history (k, slot, ended)",
        // The layout, definitions, notes, the stores' instances on record, and slot commands.
        "CREATE TABLE documents (
            name TEXT PRIMARY KEY,
            body TEXT NOT NULL
        ) STRICT, WITHOUT ROWID",
        "CREATE TABLE dense (
            k TEXT PRIMARY KEY,
            v INTEGER NOT NULL,
            begun_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID",
        "PRAGMA user_version = 4",
        "PRAGMA application_id = 0x73716e6c",
    ],
    first_row: "INSERT INTO meta (one, id, token) VALUES (1, ?1, lower(hex(randomblob(16))))",
    token: "SELECT token FROM meta",
};
