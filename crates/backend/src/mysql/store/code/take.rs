//! A take: rows inserted through the fence.

use std::fmt::Write;

use sequent_core::{Block, Cell, ErrorKind, Incarnation, Life, SourceError};

use super::{
    FAR,
    purge::Purge,
    refuse,
    table::{Code, Tables},
};
use crate::mysql::{
    fault::{Cause, ER_AUTOINC, ER_BAD_NULL, ER_DUP_ENTRY, ER_NO_SUCH_TABLE, Fault},
    link::Link,
    store::stored,
};
use crate::sql::{TxMode, Work};

/// The most rows that one take inserts, where the server takes as long a statement: who wants more gets this many. Ten
/// times as many took longer than an attempt may on a busy server, and each statement costs as much as fifty rows.
const ROWS_MAX: u64 = 4096;

/// The most rows of a statement that is prepared: the server keeps each.
const ROWS_PREPARED_MAX: u64 = 64;

/// How long a row is in the statement, and how long all the rest of it may be.
const ROW_BYTES: u64 = 4;
const FENCE_BYTES_MAX: u64 = 4096;

pub(super) struct Take<'a> {
    pub(super) cell: Cell<'a>,
    pub(super) life: Life,
    pub(super) want: u64,
    pub(super) tables: &'a Tables,
    /// Up to which id old rows may go first, if they shall.
    pub(super) purge_below: Option<u64>,
    /// Whether as many were taken of this key last, far from the end of the range: what comes again and again is prepared.
    pub(super) again: bool,
}

impl Work<Link> for Take<'_> {
    type Out = Block;
    const VERB: &'static str = "take from";
    const MODE: TxMode = TxMode::Single;

    fn under(&self) -> Option<&Incarnation> {
        Some(self.cell.under)
    }

    async fn run(&self, link: &mut Link) -> Result<Block, Fault> {
        let (key, want) = (self.cell.key, self.want.max(1));
        let code = self.tables.of(link, key)?;
        let most = i64::MAX - stored("count", key, want)?;
        if let Some(below) = self.purge_below {
            Purge { code: &code, key, below }.run(link).await?;
        }
        let count = want.min(rows_max(link));
        let done = if self.again && count <= ROWS_PREPARED_MAX {
            let params = (key.as_str(), self.life.to_stored());
            link.exec(&statement(&code, ("?", "?"), None, count), params).await
        } else {
            let named = (&*format!("x'{}'", hex(key.as_str())), &*self.life.to_stored().to_string());
            link.text(&statement(&code, named, Some(most), count)).await
        };
        match done {
            Ok(done) if done.found == 0 => Err(self.refused(link, &code, most).await?),
            Ok(done) if done.found == count => {
                let last = done.id.saturating_add(count - 1);
                Block::ending_at(last, count).map_err(|error| SourceError::exhausted(error).into())
            }
            Ok(done) => {
                let cause = format!("{count} rows were asked for, {} inserted", done.found);
                Err(Fault::broken(ErrorKind::Unavailable, cause))
            }
            Err(fault) if fault.is(ER_BAD_NULL) => Err(self.refused(link, &code, most).await?),
            Err(fault) if fault.is(ER_NO_SUCH_TABLE) => {
                Err(refuse(link, &self.cell, self.life, &code).await?)
            }
            Err(Fault::Server(ER_DUP_ENTRY, cause)) => Err(self.met(link, &code, most, cause).await?),
            // Also far from the end of the range: so a server says that the statement lost its wait for the counter's lock.
            Err(Fault::Server(said, cause)) if ER_AUTOINC.contains(&said) => {
                Err(self.met(link, &code, FAR.cast_signed(), cause).await?)
            }
            Err(fault) => Err(fault),
        }
    }
}

impl Take<'_> {
    /// The fence gave nothing: is the end of the range near, or is it not this life's?
    async fn refused(&self, link: &mut Link, code: &Code, most: i64) -> Result<Fault, Fault> {
        match self.highest(link, code).await? {
            Some(highest) if highest > most => Ok(self.exhausted().into()),
            _ => refuse(link, &self.cell, self.life, code).await,
        }
    }

    /// An id that this take was to give is there already, or the server has none: at the end of the range; or a lift came
    /// in between the ids that the server had set aside for it. Up to `most` the statement, which has done nothing, goes
    /// again.
    async fn met(&self, link: &mut Link, code: &Code, most: i64, cause: Cause) -> Result<Fault, Fault> {
        match self.highest(link, code).await? {
            Some(highest) if highest <= most => Ok(Fault::Busy(cause)),
            Some(_) => Ok(self.exhausted().into()),
            None => refuse(link, &self.cell, self.life, code).await,
        }
    }

    /// The highest id, through fence and anchor.
    async fn highest(&self, link: &mut Link, code: &Code) -> Result<Option<i64>, Fault> {
        let sql = format!(
            "SELECT (SELECT MAX(m.id) FROM {table} m) FROM sequent_cells c JOIN {table} a ON a.id = c.v \
            WHERE c.k = ? AND c.life = ? AND c.open = 1",
            table = code.sql()
        );
        let highest: Option<(i64,)> = link.row(&sql, (self.cell.key.as_str(), self.life.to_stored())).await?;
        Ok(highest.map(|(highest,)| highest))
    }

    fn exhausted(&self) -> SourceError {
        let context = format!("{}: {} more is above {}", self.cell.key, self.want.max(1), i64::MAX);
        SourceError::new(ErrorKind::Exhausted, context)
    }
}

/// Inserts `count` rows through fence and anchor. With `most`, only where no id is above it; without, the server itself finds
/// at the end of the range that it has no next id.
///
/// One row gets its id by `INSERT … SELECT`, which refused inserts none. Several are `VALUES` with a known number of rows:
/// their ids run on from the OK packet's in every lock mode, which those of `INSERT … SELECT` do not; refused, the first is
/// NULL. The derived table lets the statement read the table that it writes.
fn statement(code: &Code, (key, life): (&str, &str), most: Option<i64>, count: u64) -> String {
    let table = code.sql();
    let most = most.map(|most| format!(" AND (SELECT MAX(m.id) FROM {table} m) <= {most}"));
    let fence = format!(
        "SELECT c.open FROM sequent_cells c JOIN {table} a ON a.id = c.v \
        WHERE c.k = {key} AND c.life = {life} AND c.open = 1{} LIMIT 1 LOCK IN SHARE MODE",
        most.unwrap_or_default()
    );
    if count == 1 {
        return format!("INSERT INTO {table} (f) {fence}");
    }
    let mut sql = format!("INSERT INTO {table} (f) VALUES ((SELECT fence.open FROM ({fence}) fence))");
    for _ in 1..count {
        sql.push_str(",(1)");
    }
    sql
}

fn rows_max(link: &Link) -> u64 {
    let fits = link.settings().packet_max().saturating_sub(FENCE_BYTES_MAX) / ROW_BYTES;
    fits.clamp(1, ROWS_MAX)
}

/// A text as digits: whatever is in it, it is no syntax.
fn hex(text: &str) -> String {
    text.bytes().fold(String::with_capacity(2 * text.len()), |mut digits, byte| {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
