//! Take of the `mysql-auto-increment` store: rows inserted through the fence.

use sequent_core::Block;

use super::{FAR, NOW, fence::Counter, table::KeyTable};
use crate::{
    mysql::{
        connection::{Connection, Done},
        fault::{ER_AUTOINC, ER_DUP_ENTRY, ER_WRONG_VALUE},
    },
    net::{Fault, hex},
    store::{CellRef, block},
};

/// The most rows of one take, if the server accepts such a long statement; a larger request gets this many. Ten times
/// as many exceeded an attempt's time limit on a busy server. A statement costs as much as fifty rows.
const ROWS_MAX: u64 = 4096;

/// The most rows of a prepared statement; the server keeps each one in memory.
const ROWS_PREPARED_MAX: u64 = 64;

/// How often a statement that met an id which exists already is repeated. A lift, which inserts between the ids that the
/// server had reserved, meets one statement once. A unique index or a trigger meets each.
const REPEATS_MAX: u32 = 8;

/// Length of one row in the statement, and upper bound of all the rest, in bytes.
const ROW_BYTES: u64 = "(),".len() as u64 + NOW.len() as u64;
const FENCE_BYTES_MAX: u64 = 4096;

impl Counter<'_> {
    /// Takes ids. If the key's last take had the same count (`again`), far from the end of the range, the repeated
    /// statement is prepared.
    pub(super) async fn take(
        &self,
        connection: &mut Connection,
        want: u64,
        again: bool,
    ) -> Result<Block, Fault> {
        let most = Block::NUMBER_MAX.saturating_sub(want);
        let count = want.min(rows_max(connection));
        let mut done = self.insert_rows(connection, (count, most), again).await;
        for _ in 0..REPEATS_MAX {
            if !matches!(&done, Err(fault) if fault.is(ER_DUP_ENTRY)) {
                break;
            }
            done = self.insert_rows(connection, (count, most), again).await;
        }
        match done {
            Ok(done) if done.found == 0 => Err(self.refused(connection, want, most, None).await),
            Ok(done) if done.found == count => Ok(block(done.id.saturating_add(count - 1), count)?),
            Ok(done) => Err(Fault::away(format!("{count} rows were asked for, {} inserted", done.found))),
            Err(fault) if fault.is(ER_WRONG_VALUE) => Err(self.refused(connection, want, most, None).await),
            Err(Fault::Server(ER_DUP_ENTRY, _, cause)) => {
                let why = format!("no row can be inserted, see its unique indexes and triggers: {cause}");
                let unfit = self.table.unfit(why).into();
                Err(self.refused(connection, want, most, Some(unfit)).await)
            }
            // Servers also report this far from the end of the range, if the statement lost its wait for the counter's
            // lock.
            Err(Fault::Server(said, _, cause)) if ER_AUTOINC.contains(&said) => {
                Err(self.refused(connection, want, FAR, Some(Fault::Busy(cause))).await)
            }
            Err(fault) => Err(self.fault(connection, fault).await),
        }
    }

    async fn insert_rows(
        &self,
        connection: &mut Connection,
        (count, most): (u64, u64),
        again: bool,
    ) -> Result<Done, Fault> {
        if again && count <= ROWS_PREPARED_MAX {
            return connection.exec(&statement(&self.table, ("?", "?"), None, count), self.params()).await;
        }
        let CellRef { key, epoch } = self.cell;
        // Hexadecimal digits can't contain SQL syntax.
        let named = (&*format!("x'{}'", hex(key.as_str().as_bytes())), &*epoch.to_stored().to_string());
        connection.text(&statement(&self.table, named, Some(most), count)).await
    }

    /// The fault of a take that gave nothing. If an id is above `most`, the range ends. Else the epoch has ended,
    /// unless the statement met an id that exists already, or the server had no next id: `met` says what to do.
    async fn refused(&self, connection: &mut Connection, want: u64, most: u64, met: Option<Fault>) -> Fault {
        match (self.highest(connection).await, met) {
            (Err(fault), _) => fault,
            (Ok(Some(highest)), _) if highest > most => self.cell.exhausted(want, highest).into(),
            (Ok(Some(_)), Some(met)) => met,
            _ => self.regressed(connection).await,
        }
    }
}

/// Inserts `count` rows through fence and anchor. With `most`, it inserts only if no id is above that. Without it, the
/// server itself reports the end of the range.
///
/// One row gets its id by `INSERT … SELECT`, which inserts nothing if refused. Several are `VALUES` with a known number
/// of rows: their ids follow the OK packet's without gaps in every lock mode, unlike those of `INSERT … SELECT`. If
/// refused, the first value is a text that is no time, which a strict server refuses with the whole statement, whether or
/// not the column allows NULL. The derived table allows the statement to read the table that it writes.
fn statement(table: &KeyTable<'_>, (key, epoch): (&str, &str), most: Option<u64>, count: u64) -> String {
    let table = &table.sql;
    let most = most.map(|most| format!(" AND (SELECT MAX(m.id) FROM {table} m) <= {most}"));
    let fence = format!(
        "SELECT {NOW} t FROM sequent_cells c JOIN {table} a ON a.id = c.v \
        WHERE c.k = {key} AND c.epoch = {epoch} AND c.open = 1{} LIMIT 1 LOCK IN SHARE MODE",
        most.unwrap_or_default()
    );
    if count == 1 {
        return format!("INSERT INTO {table} (generate_time) {fence}");
    }
    let mut sql = format!(
        "INSERT INTO {table} (generate_time) VALUES (COALESCE((SELECT fence.t FROM ({fence}) fence), 'no fence'))"
    );
    for _ in 1..count {
        sql.push_str(",(");
        sql.push_str(NOW);
        sql.push(')');
    }
    sql
}

fn rows_max(connection: &Connection) -> u64 {
    let fits = connection.settings.packet_max().saturating_sub(FENCE_BYTES_MAX) / ROW_BYTES;
    fits.clamp(1, ROWS_MAX)
}
