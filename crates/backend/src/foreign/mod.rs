//! Counters of other programs: tables, keys and sequences, read as text for an import. Nothing is written.
//!
//! What a table means is decided above: an engine here lists tables with their columns, asks [`Wanted`] what to
//! read of each, and returns texts.

#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;

use sequent_core::{BoxFuture, SourceError};

pub use crate::net::TableFormat;
use crate::net::{ServerOptions, refused};

/// The most counters of one reading. They are held in memory.
pub const COUNTERS_MAX: usize = 200_000;

/// The columns of a table that has one counter a row: its name, the highest number given, the step, the next number, the last one
/// that it will give, and why it can't be imported. One of the first two numbers is enough.
pub const COUNTER_COLUMNS: [&str; 6] = ["counter", "last_number", "step", "next_number", "end", "refused"];

/// What stands for the table of counters that are tables, each with a column that counts by itself.
pub const COUNTING_TABLES: &str = "ids";

/// What stands for the table of counters that are the maxima of columns.
const MAXIMA: &str = "columns";

/// What stands for the table of counters that are sequences.
const SEQUENCES: &str = "sequences";

/// What stands for tables of counters that have no table.
pub const COUNTER_LISTS: [&str; 3] = [COUNTING_TABLES, MAXIMA, SEQUENCES];

/// Why a replica is refused.
const REPLICA: &str = "the server is a replica, whose counters may be behind: name the primary";

/// A row as text; `None` is NULL.
pub type TextRow = Vec<Option<String>>;

/// A table as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The name, or what it is in place of a table: `keys`, `sequences`.
    pub name: String,
    /// The names of its columns, in lower case.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<TextRow>,
}

/// What is read of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Every row.
    Rows,
    /// The highest id of its column that counts by itself (`AUTO_INCREMENT`).
    Ids,
    /// Nothing.
    Nothing,
}

/// What an import wants to read.
#[derive(Clone)]
pub struct Wanted {
    /// The tables and sequences to read, as far as they are there; empty: all that `look` knows.
    pub tables: Vec<String>,
    /// Columns whose maximum is wanted, as table and column. They are read alone, or beside named tables.
    pub columns: Vec<(String, String)>,
    /// Keys of Redis, as SCAN matches them; `None`: all.
    pub pattern: Option<String>,
    /// The names of slot tables.
    pub table_names: TableFormat,
    /// What to read of a table of this name with these columns, in lower case, if slot tables have these names.
    pub look: fn(&str, &[String], &TableFormat) -> Look,
}

/// A system with counters.
pub trait Source: Send + Sync {
    /// Reads what is wanted. The system is not changed.
    fn read<'a>(&'a self, wanted: &'a Wanted) -> BoxFuture<'a, Result<Vec<Table>, SourceError>>;
}

/// The source on a server.
///
/// # Errors
///
/// `Refused` for a server that has no counters to import, or whose driver this build lacks.
pub fn on_server(options: ServerOptions) -> Result<Box<dyn Source>, SourceError> {
    match options.url.driver().name {
        #[cfg(feature = "mysql")]
        "mysql" => Ok(Box::new(sql::SqlSource::<mysql::Reader>(options))),
        #[cfg(feature = "postgres")]
        "postgres" => Ok(Box::new(sql::SqlSource::<postgres::Reader>(options))),
        #[cfg(feature = "redis")]
        "redis" => Ok(Box::new(redis::RedisKeys(options))),
        other => Err(refused(format!(
            "nothing can be imported from {other} in this build: mysql, postgres, redis, a SQLite file, or a file \
             in CSV or JSON is expected"
        ))),
    }
}

/// The source in a SQLite file.
#[cfg(feature = "sqlite")]
pub fn in_file(path: &std::path::Path) -> Box<dyn Source> {
    Box::new(sql::SqlSource::<sqlite::Reader>(path.to_owned()))
}

/// A row of [`COUNTER_COLUMNS`] with the highest number given; `None`: none yet.
fn counter(name: &str, last: Option<String>) -> TextRow {
    let last = last.unwrap_or_else(|| "0".to_owned());
    vec![Some(name.to_owned()), Some(last), Some("1".to_owned()), None, None, None]
}

/// A row of [`COUNTER_COLUMNS`] for a counter that can't be imported.
fn refused_counter(name: &str, why: String) -> TextRow {
    vec![Some(name.to_owned()), None, Some("1".to_owned()), None, None, Some(why)]
}

/// Refuses more counters than are held in memory.
fn check_count(count: usize) -> Result<(), SourceError> {
    if count <= COUNTERS_MAX {
        return Ok(());
    }
    Err(refused(format!("more than {COUNTERS_MAX} counters are found: name fewer by --table or --pattern")))
}

/// A table of counters.
fn counters(name: &str, rows: Vec<TextRow>) -> Table {
    Table { name: name.to_owned(), columns: COUNTER_COLUMNS.map(str::to_owned).to_vec(), rows }
}
