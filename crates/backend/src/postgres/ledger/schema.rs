//! Tables of the PostgreSQL ledger.

use crate::postgres::schema::Tables;

pub(super) static TABLES: Tables = Tables {
    kind: "ledger",
    schema: "sequent_ledger",
    version: 3,
    statements: &[
        // `id` never changes; `token` names the current history of the data; `accepted` is the instance on record.
        // Every writer locks this row first.
        "CREATE TABLE meta (
            one integer PRIMARY KEY CHECK (one = 1),
            id text NOT NULL,
            token text NOT NULL,
            version bigint NOT NULL DEFAULT 0,
            catalog bigint NOT NULL DEFAULT 0,
            accepted text,
            floor bigint NOT NULL DEFAULT 0
        )",
        "CREATE TABLE servers (
            server bigint PRIMARY KEY,
            nonce bigint NOT NULL,
            seen_ms bigint NOT NULL
        )",
        "CREATE INDEX servers_seen ON servers (seen_ms)",
        // Keys are bytes, because no collation folds bytes, and a PostgreSQL text can't contain a zero byte.
        "CREATE TABLE counters (
            slot integer NOT NULL,
            k bytea NOT NULL,
            epoch bigint NOT NULL,
            store text NOT NULL,
            ledger text NOT NULL,
            base bigint NOT NULL,
            ceiling bigint NOT NULL,
            seen bigint NOT NULL,
            opened_at bigint NOT NULL,
            moved bigint NOT NULL,
            PRIMARY KEY (slot, k)
        ) WITH (fillfactor = 80)",
        // The version of the call that last changed the row.
        "CREATE INDEX counters_moved ON counters (moved)",
        // Numbered under the lock on `meta`, so in commit order.
        "CREATE TABLE history (
            ended bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            slot integer NOT NULL,
            k bytea NOT NULL,
            epoch bigint NOT NULL,
            base bigint NOT NULL,
            ceiling bigint NOT NULL
        )",
        "CREATE INDEX history_of ON history (k, slot, ended)",
        // The layout, definitions, notes, the stores' instances on record, and slot commands. They are bytes too, so the
        // database's encoding does not matter.
        "CREATE TABLE documents (
            name bytea PRIMARY KEY,
            body bytea NOT NULL
        )",
        "CREATE TABLE dense (
            k bytea PRIMARY KEY,
            v bigint NOT NULL,
            begun_at bigint NOT NULL
        ) WITH (fillfactor = 50)",
    ],
    first_row: "INSERT INTO meta (one, id, token) \
        VALUES (1, $1, md5(random()::text || clock_timestamp()::text || pg_backend_pid()::text))",
    anchor: "counters",
    needed: &[
        ("about", "SELECT"),
        ("run", "SELECT, INSERT"),
        ("history", "SELECT, INSERT"),
        ("meta", "SELECT, UPDATE"),
        ("dense", "SELECT, INSERT, UPDATE"),
        ("counters", "SELECT, INSERT, UPDATE, DELETE"),
        ("servers", "SELECT, INSERT, UPDATE, DELETE"),
        ("documents", "SELECT, INSERT, UPDATE, DELETE"),
    ],
};
