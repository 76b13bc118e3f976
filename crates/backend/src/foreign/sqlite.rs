//! Tables in a SQLite file.

use std::path::PathBuf;

use sequent_core::{BoxFuture, SourceError};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Row as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteRow},
};

use super::{
    Source, Table, TextRow, Wanted,
    sql::{self, Tables},
};
use crate::sqlite::from_driver;

/// What is said in front of an error.
const CONTEXT: &str = "import from sqlite";

/// A file with tables of another program.
pub(super) struct SqliteTables(pub(super) PathBuf);

impl Source for SqliteTables {
    fn read<'a>(&'a self, wanted: &'a Wanted) -> BoxFuture<'a, Result<Vec<Table>, SourceError>> {
        Box::pin(async move {
            let options =
                SqliteConnectOptions::new().filename(&self.0).read_only(true).disable_statement_logging();
            let connection = options.connect().await;
            let mut reader = Reader(connection.map_err(|error| from_driver(error).into_error(CONTEXT))?);
            sql::read(&mut reader, wanted).await
        })
    }
}

struct Reader(SqliteConnection);

impl Tables for Reader {
    const COLUMNS: &'static str = "SELECT m.name, p.name, \
        CAST(p.pk = 1 AND upper(p.type) = 'INTEGER' AS TEXT), p.type, '0' \
        FROM sqlite_master m JOIN pragma_table_info(m.name) p \
        WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY m.name, p.cid";

    async fn rows(&mut self, sql: &str) -> Result<Vec<TextRow>, SourceError> {
        let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut self.0).await;
        let of_driver = |error: sqlx::Error| from_driver(error).into_error(CONTEXT);
        rows.map_err(of_driver)?.iter().map(texts).collect::<Result<_, _>>().map_err(of_driver)
    }

    fn text(expression: &str) -> String {
        format!("CAST({expression} AS TEXT)")
    }

    async fn last_id(&mut self, table: &str, _column: &str) -> Result<Option<String>, SourceError> {
        // The table is there only if some table of the file says AUTOINCREMENT.
        let is_kept = "SELECT name FROM sqlite_master WHERE name = 'sqlite_sequence'";
        if self.rows(is_kept).await?.is_empty() {
            return Ok(None);
        }
        let name = table.replace('\'', "''");
        let sql = format!("SELECT CAST(seq AS TEXT) FROM sqlite_sequence WHERE name = '{name}'");
        Ok(self.rows(&sql).await?.into_iter().next().and_then(|row| row.into_iter().next()).flatten())
    }

    /// A value has its own type there, whatever its column's is.
    async fn other_type(
        &mut self,
        table: &str,
        column: &str,
        _declared: &str,
    ) -> Result<Option<String>, SourceError> {
        let (table, column) = (Self::quoted(table), Self::quoted(column));
        let sql = format!(
            "SELECT typeof({column}) FROM {table} WHERE typeof({column}) NOT IN ('integer', 'null') LIMIT 1"
        );
        Ok(self.rows(&sql).await?.into_iter().next().and_then(|row| row.into_iter().next()).flatten())
    }
}

fn texts(row: &SqliteRow) -> Result<TextRow, sqlx::Error> {
    (0..row.len()).map(|at| row.try_get(at)).collect()
}
