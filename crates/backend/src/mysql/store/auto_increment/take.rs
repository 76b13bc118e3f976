//! Take of the `mysql-auto-increment` store: rows inserted through the fence.

use std::fmt::Write;

use sequent_core::{Block, Epoch, ErrorKind, Key, SourceError};

use super::{
    FAR, NOW, regressed_table,
    rules::missing_table,
    shape::{of_table, unfit},
    table::KeyTable,
};
use crate::{
    mysql::{
        connection::{Connection, Done},
        fault::{ER_AUTOINC, ER_DUP_ENTRY, ER_NO_SUCH_TABLE, ER_WRONG_VALUE},
    },
    net::Fault,
    store::block,
};

/// The most rows of one take, if the server accepts such a long statement; a larger request gets this many. Ten times
/// as many exceeded an attempt's time limit on a busy server. A statement costs as much as fifty rows.
const ROWS_MAX: u64 = 4096;

/// The most rows of a prepared statement; the server keeps each one in memory.
const ROWS_PREPARED_MAX: u64 = 64;

/// Length of one row in the statement, and upper bound of all the rest, in bytes.
const ROW_BYTES: u64 = "(),".len() as u64 + NOW.len() as u64;
const FENCE_BYTES_MAX: u64 = 4096;

/// How often a statement that met an id which exists already is repeated. A lift meets one statement once. A unique
/// index or a trigger meets each.
const REPEATS_MAX: u32 = 8;

/// A take of one key from its table.
pub(super) struct Take<'a> {
    pub(super) key: &'a Key,
    pub(super) epoch: Epoch,
    pub(super) want: u64,
    pub(super) table: &'a KeyTable,
    /// Whether the key's last take had the same count, far from the end of the range. Such a repeated statement is
    /// prepared.
    pub(super) again: bool,
}

impl Take<'_> {
    pub(super) async fn run(&self, connection: &mut Connection) -> Result<Block, Fault> {
        let (key, table, most) = (self.key, self.table, i64::MAX.saturating_sub_unsigned(self.want));
        let count = self.want.min(rows_max(connection));
        let mut done = self.insert(connection, most, count).await;
        for _ in 0..REPEATS_MAX {
            if !matches!(&done, Err(fault) if fault.is(ER_DUP_ENTRY)) {
                break;
            }
            done = self.insert(connection, most, count).await;
        }
        match done {
            Ok(done) if done.found == 0 => Err(self.refused(connection, most).await?),
            Ok(done) if done.found == count => Ok(block(done.id.saturating_add(count - 1), count)?),
            Ok(done) => Err(Fault::away(format!("{count} rows were asked for, {} inserted", done.found))),
            Err(fault) if fault.is(ER_WRONG_VALUE) => Err(self.refused(connection, most).await?),
            Err(Fault::Server(ER_NO_SUCH_TABLE, _, cause)) => {
                Err(missing_table(connection, (key, self.epoch), table, &cause).await?)
            }
            Err(Fault::Server(ER_DUP_ENTRY, _, cause)) => {
                let why = format!("no row can be inserted, see its unique indexes and triggers: {cause}");
                Err(self.met(connection, most, unfit(key, table, &why).into()).await?)
            }
            // Servers also report this far from the end of the range, if the statement lost its wait for the counter's
            // lock.
            Err(Fault::Server(said, _, cause)) if ER_AUTOINC.contains(&said) => {
                Err(self.met(connection, FAR.cast_signed(), Fault::Busy(cause)).await?)
            }
            Err(fault) => Err(of_table(key, table, fault)),
        }
    }

    async fn insert(&self, connection: &mut Connection, most: i64, count: u64) -> Result<Done, Fault> {
        let (key, table) = (self.key, self.table);
        if self.again && count <= ROWS_PREPARED_MAX {
            let params = vec![key.as_str().into(), self.epoch.to_stored().into()];
            return connection.exec(&statement(table, ("?", "?"), None, count), params).await;
        }
        let named = (&*format!("x'{}'", hex(key.as_str())), &*self.epoch.to_stored().to_string());
        connection.text(&statement(table, named, Some(most), count)).await
    }

    /// The error of a take refused by the fence: the range is exhausted, or the epoch has ended.
    async fn refused(&self, connection: &mut Connection, most: i64) -> Result<Fault, Fault> {
        match self.highest(connection).await? {
            Some(highest) if highest > most => Ok(self.exhausted().into()),
            _ => regressed_table(connection, self.key, self.epoch, self.table).await,
        }
    }

    /// The error if an id to give exists already, or the server has no next id. Either the range ends, or a lift
    /// inserted between the ids that the server had reserved. If the highest id is at most `most`, the statement has
    /// done nothing, and `otherwise` says what to do.
    async fn met(&self, connection: &mut Connection, most: i64, otherwise: Fault) -> Result<Fault, Fault> {
        match self.highest(connection).await? {
            Some(highest) if highest <= most => Ok(otherwise),
            Some(_) => Ok(self.exhausted().into()),
            None => regressed_table(connection, self.key, self.epoch, self.table).await,
        }
    }

    /// The highest id, through fence and anchor.
    async fn highest(&self, connection: &mut Connection) -> Result<Option<i64>, Fault> {
        let params = vec![self.key.as_str().into(), self.epoch.to_stored().into()];
        let row = connection.row(&self.table.highest_of_epoch(), params).await?;
        Ok(row.map(|mut row| row.int()).transpose()?)
    }

    fn exhausted(&self) -> SourceError {
        let context = format!("{}: {} more is above {}", self.key, self.want, i64::MAX);
        SourceError::new(ErrorKind::Exhausted, context)
    }
}

/// Inserts `count` rows through fence and anchor. With `most`, it inserts only if no id is above that. Without it, the
/// server itself reports the end of the range.
///
/// One row gets its id by `INSERT … SELECT`, which inserts nothing if refused. Several are `VALUES` with a known number
/// of rows: their ids follow the OK packet's without gaps in every lock mode, unlike those of `INSERT … SELECT`. If
/// refused, the first value is a text that is no time, which a strict server refuses with the whole statement, whether or
/// not the column allows NULL. The derived table allows the statement to read the table that it writes.
fn statement(table: &KeyTable, (key, epoch): (&str, &str), most: Option<i64>, count: u64) -> String {
    let table = table.sql();
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
    let fits = connection.settings().packet_max().saturating_sub(FENCE_BYTES_MAX) / ROW_BYTES;
    fits.clamp(1, ROWS_MAX)
}

/// A text as hexadecimal digits, which can't contain SQL syntax.
fn hex(text: &str) -> String {
    text.bytes().fold(String::with_capacity(2 * text.len()), |mut digits, byte| {
        // Writing to a `String` never fails.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
