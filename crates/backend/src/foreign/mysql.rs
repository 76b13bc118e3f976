//! Tables of MySQL and MariaDB.

use mysql_async::{Conn, Row, Value, prelude::Queryable as _};

use super::{TextRow, sql::Tables};
use crate::{
    mysql::connect_to_read,
    net::{Fault, ServerOptions},
};

/// A database with tables of another program.
pub(super) struct Reader(Conn);

impl Tables for Reader {
    const CONTEXT: &'static str = "import from mysql";
    const WITHOUT_DIGITS: &'static [&'static str] = &["float", "bit"];
    type Place = ServerOptions;
    // Views are found apart, by `DISTINCT`: a join with all tables takes a second for a thousand of them.
    const COLUMNS: &'static str = "SELECT c.TABLE_NAME, c.COLUMN_NAME, c.EXTRA LIKE '%auto_increment%', c.DATA_TYPE, \
        v.TABLE_NAME IS NOT NULL FROM information_schema.COLUMNS c \
        LEFT JOIN (SELECT DISTINCT TABLE_NAME FROM information_schema.TABLES \
        WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE LIKE '%VIEW') v \
        ON CAST(v.TABLE_NAME AS BINARY) = CAST(c.TABLE_NAME AS BINARY) WHERE c.TABLE_SCHEMA = DATABASE() \
        ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION";

    async fn open(options: &ServerOptions) -> Result<Self, Fault> {
        Ok(Self(connect_to_read(options).await?))
    }

    async fn close(self) {
        let _ = self.0.disconnect().await;
    }

    async fn rows(&mut self, sql: &str) -> Result<Vec<TextRow>, Fault> {
        let rows: Vec<Row> = self.0.query(sql).await?;
        Ok(rows.into_iter().map(|row| row.unwrap_raw().into_iter().map(text_of).collect()).collect())
    }

    fn text(expression: &str) -> String {
        // Names may be binary (`varbinary`).
        format!("CONVERT({expression} USING utf8mb4)")
    }

    fn quoted(name: &str) -> String {
        format!("`{}`", name.replace('`', "``"))
    }

    async fn last_id(&mut self, table: &str, _column: &str) -> Result<Option<String>, Fault> {
        // MySQL 8 answers from statistics that may be a day old. MariaDB has no such setting, and refuses it.
        let _ = self.0.query_drop("SET SESSION information_schema_stats_expiry = 0").await;
        let name = table.replace('\\', "\\\\").replace('\'', "''");
        let sql = format!(
            "SELECT AUTO_INCREMENT - 1 FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{name}' AND CAST(TABLE_NAME AS BINARY) = '{name}'"
        );
        self.value(&sql).await
    }
}

/// A value of the text protocol.
fn text_of(value: Option<Value>) -> Option<String> {
    match value? {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        other => Some(other.as_sql(true)),
    }
}
