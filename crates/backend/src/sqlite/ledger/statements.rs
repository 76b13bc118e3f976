//! SQL statements of the ledger for SQLite.

use crate::{ledger::sql::Statements, sql::Many};

pub(super) static STATEMENTS: Statements = Statements {
    head: "SELECT s.nonce, m.version, m.catalog, m.floor, m.accepted, l.body \
        FROM meta m LEFT JOIN documents l ON l.name = 'layout' LEFT JOIN servers s ON s.server = ?1",
    identity: "SELECT id, version, token FROM meta",

    read_counters: Many::AnyOf(
        "SELECT slot, k, epoch, store, ledger, base, ceiling, seen, opened_at FROM counters WHERE {(slot = ? AND k = ?)}",
    ),
    all_counters: "SELECT slot, k, epoch, store, ledger, base, ceiling, seen, opened_at FROM counters ORDER BY slot, k LIMIT ?1",
    counters_of: "SELECT slot, k, epoch, store, ledger, base, ceiling, seen, opened_at FROM counters \
        WHERE k = ?1 OR (k >= ?2 AND k < ?3) ORDER BY slot, k LIMIT ?4",
    counters_between: "SELECT slot, k, epoch, store, ledger, base, ceiling, seen, opened_at FROM counters \
        WHERE slot = ?1 AND k >= ?2 AND k < ?3 ORDER BY k LIMIT ?4",
    moved: "SELECT slot, k, epoch, seen, moved FROM counters WHERE moved > ?1 ORDER BY moved LIMIT ?2",
    history: "SELECT epoch, base, ceiling FROM history WHERE k = ?1 AND slot = ?2 ORDER BY ended",
    write_counters: Many::Listed(
        "INSERT OR REPLACE INTO counters (slot, k, epoch, store, ledger, base, ceiling, seen, opened_at, moved) \
        VALUES {(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)}",
    ),
    write_history: Many::Listed(
        "INSERT INTO history (slot, k, epoch, base, ceiling) VALUES {(?, ?, ?, ?, ?)}",
    ),
    delete_counters: Many::AnyOf("DELETE FROM counters WHERE {(slot = ? AND k = ?)}"),
    delete_history: Many::AnyOf("DELETE FROM history WHERE {(slot = ? AND k = ?)}"),
    // A process that may write to a file may delete rows.
    delete_none: &[],

    hold_dense: Many::Listed("SELECT k, v, begun_at FROM dense WHERE k IN ({?})"),
    known_dense: None,
    all_dense: "SELECT k, v, begun_at FROM dense ORDER BY k LIMIT ?1",
    dense_of: "SELECT k, v, begun_at FROM dense WHERE k = ?1 OR (k >= ?2 AND k < ?3) ORDER BY k LIMIT ?4",
    dense_between: "SELECT k, v, begun_at FROM dense WHERE k >= ?1 AND k < ?2 ORDER BY k LIMIT ?3",
    write_dense: Many::Listed(
        "INSERT INTO dense (k, v, begun_at) VALUES {(?, ?, ?)} ON CONFLICT (k) DO UPDATE SET v = excluded.v",
    ),
    begin_dense: Many::Listed("INSERT OR IGNORE INTO dense (k, v, begun_at) VALUES {(?, ?, ?)}"),
    delete_dense: Many::Listed("DELETE FROM dense WHERE k IN ({?})"),

    read_documents: Many::Listed("SELECT name, body FROM documents WHERE name IN ({?})"),
    documents_in: "SELECT name, body FROM documents WHERE name >= ?1 AND name < ?2 ORDER BY name",
    write_documents: Many::Listed("INSERT OR REPLACE INTO documents (name, body) VALUES {(?, ?)}"),
    delete_documents: Many::Listed("DELETE FROM documents WHERE name IN ({?})"),
    delete_documents_in: "DELETE FROM documents WHERE name >= ?1 AND name < ?2",

    write_meta: "UPDATE meta SET version = ?1, catalog = ?2, floor = ?3, accepted = coalesce(?4, accepted), \
        token = coalesce(?5, token)",
    // `seen` is raised too: the lost ids count as taken, otherwise the next open would treat the stated loss as a jump.
    // The floor is raised because counters that began after the backup have no row and may have given as much.
    add_loss: &[
        "UPDATE counters SET ceiling = ceiling + min(?1, 9223372036854775807 - ceiling), \
            seen = seen + min(?1, 9223372036854775807 - seen)",
        "UPDATE dense SET v = v + min(?1, 9223372036854775807 - v)",
        "UPDATE meta SET floor = floor + min(?1, 9223372036854775807 - floor)",
    ],

    write_server: "INSERT INTO servers (server, nonce, seen_ms) VALUES (?1, ?2, ?3) \
        ON CONFLICT (server) DO UPDATE SET nonce = excluded.nonce, seen_ms = excluded.seen_ms",
    purge_servers: "DELETE FROM servers WHERE server IN (SELECT server FROM servers WHERE seen_ms <= ?1 ORDER BY seen_ms \
        LIMIT min(?3, max(0, (SELECT count(*) FROM servers) - ?2)))",
    delete_server: "DELETE FROM servers WHERE server = ?1",
};
