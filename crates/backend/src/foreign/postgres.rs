//! Tables and sequences of PostgreSQL, in the schema that the user sees first.

use sequent_core::{BoxFuture, SourceError};
use sqlx::{AssertSqlSafe, PgConnection, Row as _};

use super::{
    Source, Table, TextRow, Wanted,
    sql::{self, Tables},
};
use crate::{net::ServerOptions, postgres};

/// What is said in front of an error.
const CONTEXT: &str = "import from postgres";

/// A database with tables of another program.
pub(super) struct PostgresTables(pub(super) ServerOptions);

impl Source for PostgresTables {
    fn read<'a>(&'a self, wanted: &'a Wanted) -> BoxFuture<'a, Result<Vec<Table>, SourceError>> {
        Box::pin(async move {
            let connection = postgres::connect_to_read(&self.0).await;
            let mut reader = Reader(connection.map_err(|fault| fault.into_error(CONTEXT))?);
            sql::read(&mut reader, wanted).await
        })
    }
}

struct Reader(PgConnection);

impl Tables for Reader {
    const COLUMNS: &'static str = "SELECT c.table_name::text, c.column_name::text, '0' \
        FROM information_schema.columns c WHERE c.table_schema = current_schema() \
        ORDER BY c.table_name, c.ordinal_position";

    async fn rows(&mut self, sql: &str) -> Result<Vec<TextRow>, SourceError> {
        let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut self.0).await;
        let of_driver = |error: sqlx::Error| postgres::from_driver(error).into_error(CONTEXT);
        rows.map_err(of_driver)?.iter().map(texts).collect::<Result<_, _>>().map_err(of_driver)
    }

    fn text(expression: &str) -> String {
        format!("{expression}::text")
    }

    async fn last_id(&mut self, _table: &str, _column: &str) -> Result<Option<String>, SourceError> {
        Ok(None)
    }

    async fn sequences(&mut self) -> Result<Vec<TextRow>, SourceError> {
        // `last_value` is NULL until the first call, and for a user without the privilege to read it. Numbers that
        // sessions hold in their cache are at or below it.
        let sql = "SELECT sequencename::text, last_value::text, increment_by::text, \
            CASE WHEN last_value IS NULL \
            AND has_sequence_privilege(format('%I.%I', schemaname, sequencename), 'USAGE, SELECT') \
            THEN start_value::text END \
            FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1";
        self.rows(sql).await
    }
}

fn texts(row: &sqlx::postgres::PgRow) -> Result<TextRow, sqlx::Error> {
    (0..row.len()).map(|at| row.try_get(at)).collect()
}
