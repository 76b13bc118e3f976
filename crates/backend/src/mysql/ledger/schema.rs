//! Tables of the MySQL ledger.

use crate::mysql::tables::{BOOT, FirstRow, Tables};

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

const LAYOUT: (&str, &str) = (
    "sequent_layout",
    "CREATE TABLE IF NOT EXISTS sequent_layout (
        one TINYINT NOT NULL PRIMARY KEY,
        cluster VARBINARY(128) NOT NULL,
        shard_bits TINYINT UNSIGNED NOT NULL,
        memory_bits TINYINT UNSIGNED NOT NULL,
        generation BIGINT NOT NULL,
        next_shard_bits TINYINT UNSIGNED,
        next_memory_bits TINYINT UNSIGNED,
        fenced TINYINT NOT NULL DEFAULT 0
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

const SLOTS: (&str, &str) = (
    "sequent_slots",
    "CREATE TABLE IF NOT EXISTS sequent_slots (
        slot SMALLINT UNSIGNED NOT NULL PRIMARY KEY,
        instance VARBINARY(1024) NOT NULL
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

const DEFINITIONS: (&str, &str) = (
    "sequent_definitions",
    "CREATE TABLE IF NOT EXISTS sequent_definitions (
        name VARBINARY(128) NOT NULL,
        version INT UNSIGNED NOT NULL,
        body LONGBLOB NOT NULL,
        PRIMARY KEY (name, version)
    ) ENGINE = InnoDB",
);

const ADVANCES: (&str, &str) = (
    "sequent_advances",
    "CREATE TABLE IF NOT EXISTS sequent_advances (
        k VARBINARY(240) NOT NULL PRIMARY KEY,
        number BIGINT NOT NULL
    ) ENGINE = InnoDB",
);

const WORDS: (&str, &str) = (
    "sequent_slot_commands",
    "CREATE TABLE IF NOT EXISTS sequent_slot_commands (
        slot SMALLINT UNSIGNED NOT NULL PRIMARY KEY,
        verb VARBINARY(16) NOT NULL,
        who BLOB NOT NULL,
        why BLOB NOT NULL,
        at_ms BIGINT NOT NULL,
        until_ms BIGINT
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
    all: &[LAYOUT, SERVERS, SLOTS, COUNTERS, HISTORY, DEFINITIONS, ADVANCES, WORDS, DENSE, BOOT, META],
    anchor: "sequent_meta",
    way: None,
    first_row: FirstRow {
        table: "sequent_meta",
        sql: "INSERT IGNORE INTO sequent_meta (one, id, token) SELECT 1, ?, ? FROM DUAL \
            WHERE NOT EXISTS (SELECT 1 FROM sequent_layout) AND NOT EXISTS (SELECT 1 FROM sequent_counters)",
        tokens: 2,
    },
    auto_increment: false,
    transactions: true,
    session: ", wait_timeout = 10",
};
