//! Tables in a SQLite file.

use std::path::PathBuf;

use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Row as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteRow},
};

use super::{TextRow, sql::Tables};
use crate::{net::Fault, sqlite::from_driver};

/// A file with tables of another program.
pub(super) struct Reader(SqliteConnection);

impl Tables for Reader {
    const CONTEXT: &'static str = "import from sqlite";
    type Place = PathBuf;
    const COLUMNS: &'static str = "SELECT m.name, p.name, \
        CAST(p.pk = 1 AND upper(p.type) = 'INTEGER' AS TEXT), p.type, '0' \
        FROM sqlite_master m JOIN pragma_table_info(m.name) p \
        WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY m.name, p.cid";

    async fn open(path: &PathBuf) -> Result<Self, Fault> {
        let options = SqliteConnectOptions::new().filename(path).read_only(true).disable_statement_logging();
        options.connect().await.map(Self).map_err(from_driver)
    }

    async fn rows(&mut self, sql: &str) -> Result<Vec<TextRow>, Fault> {
        let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut self.0).await;
        rows.and_then(|rows| rows.iter().map(texts).collect()).map_err(from_driver)
    }

    fn text(expression: &str) -> String {
        format!("CAST({expression} AS TEXT)")
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

fn texts(row: &SqliteRow) -> Result<TextRow, sqlx::Error> {
    (0..row.len()).map(|at| row.try_get(at)).collect()
}
