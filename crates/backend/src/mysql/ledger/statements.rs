//! SQL statements of the ledger for MySQL and MariaDB.

use crate::{ledger::sql::Statements, sql::Many};

pub(super) static STATEMENTS: Statements = Statements {
    head: "SELECT s.nonce, m.version, m.catalog, m.floor, m.accepted, l.body \
        FROM sequent_meta m LEFT JOIN sequent_documents l ON l.name = 'layout' \
        LEFT JOIN sequent_servers s ON s.server = ? WHERE m.one = 1",
    identity: "SELECT id, version, token FROM sequent_meta",

    read_counters: Many::Grouped(
        "SELECT slot, k, epoch, store, ledger, base, ceiling, seen, opened_at FROM sequent_counters \
        WHERE slot = ? AND k IN ({?})",
    ),
    all_counters: "SELECT slot, k, epoch, store, ledger, base, ceiling, seen, opened_at FROM sequent_counters ORDER BY slot, k LIMIT ?",
    counters_of: "SELECT slot, k, epoch, store, ledger, base, ceiling, seen, opened_at FROM sequent_counters \
        WHERE k = ? OR (k >= ? AND k < ?) ORDER BY slot, k LIMIT ?",
    counters_between: "SELECT slot, k, epoch, store, ledger, base, ceiling, seen, opened_at FROM sequent_counters \
        WHERE slot = ? AND k >= ? AND k < ? ORDER BY k LIMIT ?",
    moved: "SELECT slot, k, epoch, seen, moved FROM sequent_counters WHERE moved > ? ORDER BY moved LIMIT ?",
    history: "SELECT epoch, base, ceiling FROM sequent_history WHERE k = ? AND slot = ? ORDER BY ended",
    write_counters: Many::Listed(
        "INSERT INTO sequent_counters (slot, k, epoch, store, ledger, base, ceiling, seen, opened_at, moved) \
        VALUES {(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)} ON DUPLICATE KEY UPDATE epoch = VALUES(epoch), store = VALUES(store), \
            ledger = VALUES(ledger), base = VALUES(base), ceiling = VALUES(ceiling), seen = VALUES(seen), \
            opened_at = VALUES(opened_at), moved = VALUES(moved)",
    ),
    write_history: Many::Listed(
        "INSERT INTO sequent_history (slot, k, epoch, base, ceiling) VALUES {(?, ?, ?, ?, ?)}",
    ),
    delete_counters: Many::Grouped("DELETE FROM sequent_counters WHERE slot = ? AND k IN ({?})"),
    delete_history: Many::Grouped("DELETE FROM sequent_history WHERE slot = ? AND k IN ({?})"),
    delete_none: &["DELETE FROM sequent_counters WHERE k = ''", "DELETE FROM sequent_documents WHERE 1 = 0"],

    hold_dense: Many::Listed(
        "SELECT k, v, begun_at FROM sequent_dense WHERE k IN ({?}) FOR UPDATE SKIP LOCKED",
    ),
    known_dense: Some(Many::Listed("SELECT k FROM sequent_dense WHERE k IN ({?})")),
    all_dense: "SELECT k, v, begun_at FROM sequent_dense ORDER BY k LIMIT ?",
    dense_of: "SELECT k, v, begun_at FROM sequent_dense WHERE k = ? OR (k >= ? AND k < ?) ORDER BY k LIMIT ?",
    dense_between: "SELECT k, v, begun_at FROM sequent_dense WHERE k >= ? AND k < ? ORDER BY k LIMIT ?",
    write_dense: Many::Listed(
        "INSERT INTO sequent_dense (k, v, begun_at) VALUES {(?, ?, ?)} ON DUPLICATE KEY UPDATE v = VALUES(v)",
    ),
    begin_dense: Many::Listed("INSERT IGNORE INTO sequent_dense (k, v, begun_at) VALUES {(?, ?, ?)}"),
    delete_dense: Many::Listed("DELETE FROM sequent_dense WHERE k IN ({?})"),

    read_documents: Many::Listed("SELECT name, body FROM sequent_documents WHERE name IN ({?})"),
    documents_in: "SELECT name, body FROM sequent_documents WHERE name >= ? AND name < ? ORDER BY name",
    write_documents: Many::Listed("REPLACE INTO sequent_documents (name, body) VALUES {(?, ?)}"),
    delete_documents: Many::Listed("DELETE FROM sequent_documents WHERE name IN ({?})"),
    delete_documents_in: "DELETE FROM sequent_documents WHERE name >= ? AND name < ?",

    write_meta: "UPDATE sequent_meta SET version = ?, catalog = ?, floor = ?, accepted = coalesce(?, accepted), \
        token = coalesce(?, token) WHERE one = 1",
    // `seen` is raised too: the lost ids count as taken, otherwise the next open would treat the stated loss as a jump.
    // The floor is raised because counters that began after the backup have no row and may have given as much.
    add_loss: &[
        "UPDATE sequent_counters SET ceiling = ceiling + LEAST(?, 9223372036854775807 - ceiling)",
        "UPDATE sequent_counters SET seen = seen + LEAST(?, 9223372036854775807 - seen)",
        "UPDATE sequent_dense SET v = v + LEAST(?, 9223372036854775807 - v)",
        "UPDATE sequent_meta SET floor = floor + LEAST(?, 9223372036854775807 - floor) WHERE one = 1",
    ],

    write_server: "INSERT INTO sequent_servers (server, nonce, seen_ms) VALUES (?, ?, ?) \
        ON DUPLICATE KEY UPDATE nonce = VALUES(nonce), seen_ms = VALUES(seen_ms)",
    purge_servers: "DELETE FROM sequent_servers WHERE seen_ms <= ? AND (seen_ms, server) <= (SELECT seen_ms, server FROM \
            (SELECT seen_ms, server FROM sequent_servers ORDER BY seen_ms DESC, server DESC LIMIT ?, 1) AS beyond) \
        ORDER BY seen_ms, server LIMIT ?",
    delete_server: "DELETE FROM sequent_servers WHERE server = ?",
};
