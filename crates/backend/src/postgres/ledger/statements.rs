//! SQL statements of the ledger for PostgreSQL. Keys are bytes, and compare as such.

use crate::{ledger::sql::Statements, sql::Many};

pub(super) static STATEMENTS: Statements = Statements {
    head: "SELECT s.nonce, m.version, m.catalog, m.floor, m.accepted, l.body \
        FROM meta m LEFT JOIN documents l ON l.name = 'layout' LEFT JOIN servers s ON s.server = $1",
    identity: "SELECT id, version, token FROM meta",

    read_counters: Many::Columns(
        "SELECT c.slot, c.k, c.epoch, c.store, c.ledger, c.base, c.ceiling, c.seen, c.opened_at \
        FROM unnest($1::int8[]::int4[], $2::bytea[]) AS a (slot, k) \
        JOIN counters c ON c.slot = a.slot AND c.k = a.k",
    ),
    all_counters: "SELECT slot, k, epoch, store, ledger, base, ceiling, seen, opened_at FROM counters ORDER BY slot, k LIMIT $1",
    counters_of: "SELECT slot, k, epoch, store, ledger, base, ceiling, seen, opened_at FROM counters \
        WHERE k = $1 OR (k >= $2 AND k < $3) ORDER BY slot, k LIMIT $4",
    counters_between: "SELECT slot, k, epoch, store, ledger, base, ceiling, seen, opened_at FROM counters \
        WHERE slot = $1::int8::int4 AND k >= $2 AND k < $3 ORDER BY k LIMIT $4",
    moved: "SELECT slot, k, epoch, seen, moved FROM counters WHERE moved > $1 ORDER BY moved LIMIT $2",
    history: "SELECT epoch, base, ceiling FROM history WHERE k = $1 AND slot = $2::int8::int4 ORDER BY ended",
    write_counters: Many::Columns(
        "INSERT INTO counters (slot, k, epoch, store, ledger, base, ceiling, seen, opened_at, moved) \
        SELECT * FROM unnest($1::int8[]::int4[], $2::bytea[], $3::int8[], $4::text[], $5::text[], $6::int8[], $7::int8[], \
            $8::int8[], $9::int8[], $10::int8[]) \
        ON CONFLICT (slot, k) DO UPDATE SET epoch = excluded.epoch, store = excluded.store, ledger = excluded.ledger, \
            base = excluded.base, ceiling = excluded.ceiling, seen = excluded.seen, opened_at = excluded.opened_at, \
            moved = excluded.moved",
    ),
    // In the order of the calls, since the history's ids define its order.
    write_history: Many::Columns(
        "INSERT INTO history (slot, k, epoch, base, ceiling) SELECT slot, k, epoch, base, ceiling \
        FROM unnest($1::int8[]::int4[], $2::bytea[], $3::int8[], $4::int8[], $5::int8[]) \
            WITH ORDINALITY AS a (slot, k, epoch, base, ceiling, at) ORDER BY at",
    ),
    delete_counters: Many::Columns(
        "DELETE FROM counters c USING unnest($1::int8[]::int4[], $2::bytea[]) AS a (slot, k) \
        WHERE c.slot = a.slot AND c.k = a.k",
    ),
    delete_history: Many::Columns(
        "DELETE FROM history c USING unnest($1::int8[]::int4[], $2::bytea[]) AS a (slot, k) \
        WHERE c.slot = a.slot AND c.k = a.k",
    ),
    delete_none: &["DELETE FROM counters WHERE false", "DELETE FROM documents WHERE false"],

    hold_dense: Many::Columns(
        "SELECT k, v, begun_at FROM dense WHERE k = ANY($1::bytea[]) FOR NO KEY UPDATE SKIP LOCKED",
    ),
    known_dense: Some(Many::Columns("SELECT k FROM dense WHERE k = ANY($1::bytea[])")),
    all_dense: "SELECT k, v, begun_at FROM dense ORDER BY k LIMIT $1",
    dense_of: "SELECT k, v, begun_at FROM dense WHERE k = $1 OR (k >= $2 AND k < $3) ORDER BY k LIMIT $4",
    dense_between: "SELECT k, v, begun_at FROM dense WHERE k >= $1 AND k < $2 ORDER BY k LIMIT $3",
    write_dense: Many::Columns(
        "INSERT INTO dense (k, v, begun_at) SELECT * FROM unnest($1::bytea[], $2::int8[], $3::int8[]) \
        ON CONFLICT (k) DO UPDATE SET v = excluded.v",
    ),
    begin_dense: Many::Columns(
        "INSERT INTO dense (k, v, begun_at) SELECT * FROM unnest($1::bytea[], $2::int8[], $3::int8[]) \
        ON CONFLICT (k) DO NOTHING",
    ),
    delete_dense: Many::Columns("DELETE FROM dense WHERE k = ANY($1::bytea[])"),

    read_documents: Many::Columns("SELECT name, body FROM documents WHERE name = ANY($1::bytea[])"),
    documents_in: "SELECT name, body FROM documents WHERE name >= $1 AND name < $2 ORDER BY name",
    write_documents: Many::Columns(
        "INSERT INTO documents (name, body) SELECT * FROM unnest($1::bytea[], $2::bytea[]) \
        ON CONFLICT (name) DO UPDATE SET body = excluded.body",
    ),
    delete_documents: Many::Columns("DELETE FROM documents WHERE name = ANY($1::bytea[])"),
    delete_documents_in: "DELETE FROM documents WHERE name >= $1 AND name < $2",

    write_meta: "UPDATE meta SET version = $1, catalog = $2, floor = $3, accepted = coalesce($4, accepted), \
        token = coalesce($5, token)",
    // `seen` is raised too: the lost ids count as taken, otherwise the next open would treat the stated loss as a jump.
    // The floor is raised because counters that began after the backup have no row and may have given as much.
    add_loss: &[
        "UPDATE counters SET ceiling = ceiling + LEAST($1, 9223372036854775807 - ceiling), \
            seen = seen + LEAST($1, 9223372036854775807 - seen)",
        "UPDATE dense SET v = v + LEAST($1, 9223372036854775807 - v)",
        "UPDATE meta SET floor = floor + LEAST($1, 9223372036854775807 - floor)",
    ],

    write_server: "INSERT INTO servers (server, nonce, seen_ms) VALUES ($1, $2, $3) \
        ON CONFLICT (server) DO UPDATE SET nonce = excluded.nonce, seen_ms = excluded.seen_ms",
    purge_servers: "DELETE FROM servers WHERE server IN (SELECT server FROM servers WHERE seen_ms <= $1 ORDER BY seen_ms \
        LIMIT LEAST($3, GREATEST(0, (SELECT count(*) FROM servers) - $2)))",
    delete_server: "DELETE FROM servers WHERE server = $1",
};
