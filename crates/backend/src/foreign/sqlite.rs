//! Tables in a SQLite file.

use std::path::{Path, PathBuf};

use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Row as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteRow},
};

use super::{TextRow, refused, sql::Tables};
use crate::{
    net::Fault,
    sqlite::{CORRUPT, NOTADB, from_driver},
};

/// A file with tables of another program.
pub(super) struct Reader {
    connection: SqliteConnection,
    path: PathBuf,
}

impl Tables for Reader {
    const CONTEXT: &'static str = "import from sqlite";
    type Place = PathBuf;
    const COLUMNS: &'static str = "SELECT m.name, p.name, \
        CAST(p.pk = 1 AND upper(p.type) = 'INTEGER' AS TEXT), p.type, '0' \
        FROM sqlite_master m JOIN pragma_table_info(m.name) p \
        WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY m.name, p.cid";

    async fn open(path: &PathBuf) -> Result<Self, Fault> {
        let options = SqliteConnectOptions::new().filename(path).read_only(true).disable_statement_logging();
        let connection = options.connect().await.map_err(|error| told(path, error))?;
        Ok(Self { connection, path: path.clone() })
    }

    async fn rows(&mut self, sql: &str) -> Result<Vec<TextRow>, Fault> {
        let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut self.connection).await;
        let texts = rows.and_then(|rows| rows.iter().map(texts).collect());
        texts.map_err(|error| told(&self.path, error))
    }

    fn text(expression: &str) -> String {
        // The text of a real has fifteen digits.
        format!(
            "CASE typeof({expression}) WHEN 'real' THEN printf('%!.17g', {expression}) ELSE CAST({expression} AS TEXT) END"
        )
    }

    async fn last_id(&mut self, table: &str, _column: &str) -> Result<Option<String>, Fault> {
        // The table is there only if some table of the file says AUTOINCREMENT.
        let is_kept = "SELECT name FROM sqlite_master WHERE name = 'sqlite_sequence'";
        if self.rows(is_kept).await?.is_empty() {
            return Ok(None);
        }
        let name = table.replace('\'', "''");
        let sql = format!("SELECT CAST(seq AS TEXT) FROM sqlite_sequence WHERE name = '{name}'");
        self.value(&sql).await
    }

    /// A value has its own type there, whatever its column's is.
    async fn other_type(
        &mut self,
        table: &str,
        column: &str,
        _declared: &str,
    ) -> Result<Option<String>, Fault> {
        let (table, column) = (Self::quoted(table), Self::quoted(column));
        let sql = format!(
            "SELECT typeof({column}) FROM {table} WHERE typeof({column}) NOT IN ('integer', 'null') LIMIT 1"
        );
        self.value(&sql).await
    }
}

/// The error of reading a file. It is another program's, so it is not told what to do with a file of a store.
fn told(path: &Path, error: sqlx::Error) -> Fault {
    let path = path.display();
    let code = error.as_database_error().and_then(|said| said.code()?.parse::<i32>().ok());
    match code.map(|code| code & 0xff) {
        Some(NOTADB) => refused(format!(
            "file {path}: it is no SQLite database, nor named *.csv, *.json: one of these is expected"
        ))
        .into(),
        Some(CORRUPT) => refused(format!("file {path}: {error}")).into(),
        _ => from_driver(error),
    }
}

/// The values of a row. Bytes that are no UTF-8 are replaced: no name may have the replacement, and no text.
fn texts(row: &SqliteRow) -> Result<TextRow, sqlx::Error> {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (0..row.len()).map(|at| Ok(row.try_get::<Option<Vec<u8>>, _>(at)?.map(text))).collect()
}
