//! SQL statements of the ledger for MySQL and MariaDB.

use crate::{ledger::sql::Statements, sql::Many};

pub(super) static STATEMENTS: Statements = Statements {
    head: "SELECT s.nonce, m.version, m.catalog, m.floor, m.accepted, l.cluster, l.shard_bits, l.memory_bits, l.generation, \
            l.next_shard_bits, l.next_memory_bits, l.fenced \
        FROM sequent_meta m LEFT JOIN sequent_layout l ON l.one = 1 LEFT JOIN sequent_servers s ON s.server = ? WHERE m.one = 1",
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
    raise_counters: None,
    write_history: Many::Listed(
        "INSERT INTO sequent_history (slot, k, epoch, base, ceiling) VALUES {(?, ?, ?, ?, ?)}",
    ),
    delete_counters: Many::Grouped("DELETE FROM sequent_counters WHERE slot = ? AND k IN ({?})"),
    delete_history: Many::Grouped("DELETE FROM sequent_history WHERE slot = ? AND k IN ({?})"),
    delete_none: &["DELETE FROM sequent_counters WHERE k = ''", "DELETE FROM sequent_slots WHERE 1 = 0"],

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

    read_notes: Many::Listed("SELECT k, number FROM sequent_advances WHERE k IN ({?})"),
    all_notes: "SELECT k, number FROM sequent_advances ORDER BY k",
    write_notes: Many::Listed("REPLACE INTO sequent_advances (k, number) VALUES {(?, ?)}"),
    delete_notes: Many::Listed("DELETE FROM sequent_advances WHERE k IN ({?})"),

    definition: "SELECT name, version, body FROM sequent_definitions WHERE name = ? ORDER BY version DESC LIMIT 1",
    all_definitions: "SELECT d.name, d.version, d.body FROM sequent_definitions d \
        JOIN (SELECT name, MAX(version) AS version FROM sequent_definitions GROUP BY name) newest \
        ON d.name = newest.name AND d.version = newest.version ORDER BY d.name",
    write_definition: "INSERT INTO sequent_definitions (name, version, body) VALUES (?, ?, ?)",

    commands: "SELECT slot, verb, who, why, at_ms, until_ms FROM sequent_slot_commands ORDER BY slot",
    write_command: "REPLACE INTO sequent_slot_commands (slot, verb, who, why, at_ms, until_ms) VALUES (?, ?, ?, ?, ?, ?)",

    stores: "SELECT slot, instance FROM sequent_slots ORDER BY slot",
    write_store: "REPLACE INTO sequent_slots (slot, instance) VALUES (?, ?)",
    delete_stores: "DELETE FROM sequent_slots",

    write_meta: "UPDATE sequent_meta SET version = ?, catalog = ?, floor = ?, accepted = coalesce(?, accepted), \
        token = coalesce(?, token) WHERE one = 1",
    write_layout: "REPLACE INTO sequent_layout \
        (one, cluster, shard_bits, memory_bits, generation, next_shard_bits, next_memory_bits, fenced) \
        VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
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
