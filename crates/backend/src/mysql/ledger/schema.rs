//! Tables of the MySQL ledger.

use crate::mysql::{
    privileges::Needed,
    tables::{BOOT, FirstRow, Tables},
};

/// `id` never changes; `token` names the current history of the data; `accepted` is the instance on record.
const META: (&str, &str) = (
    "sequent_meta",
    "CREATE TABLE IF NOT EXISTS sequent_meta (
        one TINYINT NOT NULL PRIMARY KEY,
        id CHAR(32) CHARACTER SET ascii NOT NULL,
        token CHAR(32) CHARACTER SET ascii NOT NULL,
        version BIGINT NOT NULL DEFAULT 0,
        catalog BIGINT NOT NULL DEFAULT 0,
        accepted VARBINARY(1024),
        floor BIGINT NOT NULL DEFAULT 0
    ) ENGINE = InnoDB",
);

const SERVERS: (&str, &str) = (
    "sequent_servers",
    "CREATE TABLE IF NOT EXISTS sequent_servers (
        server BIGINT NOT NULL PRIMARY KEY,
        nonce BIGINT NOT NULL,
        seen_ms BIGINT NOT NULL,
        KEY servers_seen (seen_ms)
    ) ENGINE = InnoDB",
);

const COUNTERS: (&str, &str) = (
    "sequent_counters",
    "CREATE TABLE IF NOT EXISTS sequent_counters (
        slot SMALLINT UNSIGNED NOT NULL,
        k VARBINARY(240) NOT NULL,
        epoch BIGINT NOT NULL,
        store VARBINARY(1024) NOT NULL,
        ledger VARBINARY(1024) NOT NULL,
        base BIGINT NOT NULL,
        ceiling BIGINT NOT NULL,
        seen BIGINT NOT NULL,
        opened_at BIGINT NOT NULL,
        moved BIGINT NOT NULL,
        PRIMARY KEY (slot, k),
        KEY sequent_counters_moved (moved)
    ) ENGINE = InnoDB",
);

const HISTORY: (&str, &str) = (
    "sequent_history",
    "CREATE TABLE IF NOT EXISTS sequent_history (
        ended BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
        slot SMALLINT UNSIGNED NOT NULL,
        k VARBINARY(240) NOT NULL,
        epoch BIGINT NOT NULL,
        base BIGINT NOT NULL,
        ceiling BIGINT NOT NULL,
        KEY history_of (k, slot, ended)
    ) ENGINE = InnoDB",
);

/// The layout, definitions, notes, the stores' instances on record, and slot commands.
const DOCUMENTS: (&str, &str) = (
    "sequent_documents",
    "CREATE TABLE IF NOT EXISTS sequent_documents (
        name VARBINARY(320) NOT NULL PRIMARY KEY,
        body LONGBLOB NOT NULL
    ) ENGINE = InnoDB",
);

/// The highest number of each dense counter.
const DENSE: (&str, &str) = (
    "sequent_dense",
    "CREATE TABLE IF NOT EXISTS sequent_dense (
        k VARBINARY(240) NOT NULL PRIMARY KEY,
        v BIGINT NOT NULL,
        begun_at BIGINT NOT NULL
    ) ENGINE = InnoDB",
);

/// The ledger's tables. A server that stalls inside a transaction is disconnected before the others have waited for
/// long. So is a connection idle for longer than the interval of a ledger's calls.
pub(super) static TABLES: Tables = Tables {
    kind: "ledger",
    all: &[SERVERS, COUNTERS, HISTORY, DOCUMENTS, DENSE, BOOT, META],
    anchor: "sequent_meta",
    way: None,
    first_row: FirstRow {
        table: "sequent_meta",
        sql: "INSERT IGNORE INTO sequent_meta (one, id, token) SELECT 1, ?, ? FROM DUAL \
            WHERE NOT EXISTS (SELECT 1 FROM sequent_documents) AND NOT EXISTS (SELECT 1 FROM sequent_counters)",
    },
    auto_increment: false,
    transactions: true,
    session: ", wait_timeout = 10",
    needed: Needed { always: &["SELECT", "INSERT", "UPDATE", "DELETE"], at_times: &["CREATE"] },
};
