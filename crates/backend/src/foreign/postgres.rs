//! Tables and sequences of PostgreSQL, in the schema that the user sees first.

use std::collections::HashMap;

use sqlx::{AssertSqlSafe, PgConnection, Row as _};

use super::{REPLICA, TextRow, refused, refused_counter, sql::Tables};
use crate::{
    net::{Fault, ServerOptions},
    postgres,
};

/// How many sequences one statement reads.
const AT_ONCE_MAX: usize = 200;

/// A database with tables of another program.
pub(super) struct Reader(PgConnection);

impl Tables for Reader {
    const CONTEXT: &'static str = "import from postgres";
    const WITHOUT_DIGITS: &'static [&'static str] = &["real"];
    type Place = ServerOptions;
    const COLUMNS: &'static str = "SELECT c.table_name::text, c.column_name::text, '0', c.data_type::text, \
        CASE t.table_type WHEN 'VIEW' THEN '1' ELSE '0' END \
        FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name) \
        WHERE table_schema = current_schema() \
        ORDER BY table_name, c.ordinal_position";

    async fn open(options: &ServerOptions) -> Result<Self, Fault> {
        let mut reader = Self(postgres::connect_to_read(options).await?);
        match reader.value("SELECT pg_is_in_recovery()::text").await? {
            Some(word) if word == "true" => Err(refused(REPLICA.to_owned()).into()),
            _ => Ok(reader),
        }
    }

    async fn rows(&mut self, sql: &str) -> Result<Vec<TextRow>, Fault> {
        let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut self.0).await;
        let rows = rows.and_then(|rows| rows.iter().map(texts).collect());
        rows.map_err(postgres::from_driver)
    }

    fn text(expression: &str) -> String {
        format!("{expression}::text")
    }

    async fn last_id(&mut self, _table: &str, _column: &str) -> Result<Option<String>, Fault> {
        Ok(None)
    }

    async fn sequences(&mut self) -> Result<Vec<TextRow>, Fault> {
        let sql = "SELECT sequencename::text, format('%I.%I', schemaname, sequencename), increment_by::text, cycle::text, max_value::text, \
            has_sequence_privilege(format('%I.%I', schemaname, sequencename), 'SELECT')::text \
            FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1";
        let found: Vec<Found> = self.rows(sql).await?.into_iter().map(Found::of).collect();
        let mut positions = HashMap::new();
        let readable: Vec<&Found> = found.iter().filter(|sequence| sequence.fault().is_none()).collect();
        for some in readable.chunks(AT_ONCE_MAX) {
            let select = |sequence: &&Found| {
                let (name, from) = (sequence.name.replace('\'', "''"), &sequence.quoted);
                format!("SELECT '{name}', last_value::text, is_called::text FROM {from}")
            };
            let sql = some.iter().map(select).collect::<Vec<_>>().join(" UNION ALL ");
            positions.extend(self.rows(&sql).await?.into_iter().map(position));
        }
        Ok(found.into_iter().map(|sequence| sequence.counter(&positions)).collect())
    }
}

/// A sequence as the catalogue lists it.
struct Found {
    name: String,
    /// With its schema, as an identifier.
    quoted: String,
    increment: String,
    cycles: bool,
    end: String,
    is_readable: bool,
}

/// The value that a sequence has, and whether it was given. `setval(…, false)` and `RESTART` set one that was not.
type Position = (String, bool);

fn position(row: TextRow) -> (String, Position) {
    let mut texts = row.into_iter().map(Option::unwrap_or_default);
    let mut next = || texts.next().unwrap_or_default();
    let (name, last, is_called) = (next(), next(), next());
    (name, (last, is_called == "true"))
}

impl Found {
    fn of(row: TextRow) -> Self {
        let mut texts = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || texts.next().unwrap_or_default();
        let (name, quoted, increment) = (next(), next(), next());
        let (cycles, end) = (next() == "true", next());
        Self { name, quoted, increment, cycles, end, is_readable: next() == "true" }
    }

    /// Why its next number can't be known.
    fn fault(&self) -> Option<String> {
        let Self { name, quoted, .. } = self;
        if !self.is_readable {
            return Some(format!(
                "its value can't be read: give this user SELECT, GRANT SELECT ON SEQUENCE {quoted} TO …"
            ));
        }
        self.cycles.then(|| {
            format!(
                "it says CYCLE: whether it went round can't be seen, so that numbers above its value may be given already; \
                 name the column with its numbers by --column, or if {name} never went round, ALTER SEQUENCE {quoted} NO CYCLE"
            )
        })
    }

    /// The sequence as a row of [`COUNTER_COLUMNS`](super::COUNTER_COLUMNS). Numbers that sessions hold in their cache are at or
    /// below its value.
    fn counter(self, positions: &HashMap<String, Position>) -> TextRow {
        if let Some(why) = self.fault() {
            return refused_counter(&self.name, why);
        }
        let (last, next) = match positions.get(&self.name) {
            Some((value, true)) => (Some(value.clone()), None),
            Some((value, false)) => (None, Some(value.clone())),
            None => (None, None),
        };
        vec![Some(self.name), last, Some(self.increment), next, Some(self.end), None]
    }
}

fn texts(row: &sqlx::postgres::PgRow) -> Result<TextRow, sqlx::Error> {
    (0..row.len()).map(|at| row.try_get(at)).collect()
}
