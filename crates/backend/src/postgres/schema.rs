//! The names of schemas, and tables that appear complete or not at all.

use std::{fmt, str::FromStr};

use sequent_core::ErrorKind;
use sqlx::{AssertSqlSafe, query, query_as};

use super::{
    fault::Fault,
    link::{Kind, Session},
};

/// The name of a schema: 1 to 63 bytes, as PostgreSQL keeps it; always quoted, so any text will do.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SchemaName(String);

/// A name that no schema can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaNameError(String);

impl fmt::Display for SchemaNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SchemaNameError {}

impl SchemaName {
    /// The longest name, in bytes: PostgreSQL cuts longer ones, and two could become one.
    pub const LENGTH_MAX: usize = 63;

    /// The name as it stands in statements.
    pub(super) fn quoted(&self) -> String {
        format!("\"{}\"", self.0.replace('"', "\"\""))
    }

    /// The name of a kind's tables where none was configured.
    pub(super) fn of_kind(kind: &Kind) -> Self {
        Self(format!("sequent_{}", kind.word))
    }
}

impl FromStr for SchemaName {
    type Err = SchemaNameError;

    fn from_str(text: &str) -> Result<Self, SchemaNameError> {
        let bound = Self::LENGTH_MAX;
        let fault = match text.len() {
            0 => "is empty".to_owned(),
            length if length > bound => format!("has {length} bytes: at most {bound} are allowed"),
            _ if text.contains('\0') => "holds a zero byte".to_owned(),
            _ if text.starts_with("pg_") => {
                format!("is {text:?}: names that begin with pg_ are the server's")
            }
            _ => return Ok(Self(text.to_owned())),
        };
        Err(SchemaNameError(format!("schema {fault}")))
    }
}

impl fmt::Display for SchemaName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What every schema of ours has, whatever its kind. `run` is unlogged: PostgreSQL empties such a table whenever it
/// recovers from a crash, even from that of a single backend, and that is what tells.
const COMMON: [&str; 2] = [
    "CREATE TABLE about (
        one integer PRIMARY KEY CHECK (one = 1),
        kind text NOT NULL,
        schema_version integer NOT NULL
    )",
    "CREATE UNLOGGED TABLE run (
        one integer PRIMARY KEY CHECK (one = 1),
        uuid text NOT NULL
    )",
];

/// Names the lock that makers of tables exclude each other by, within one database.
const MAKERS_LOCK: i64 = 0x7371_6e73;

/// Whether the tables are there. Asked of the catalog: `to_regclass` may not have heard of a schema made meanwhile.
pub(super) async fn exists(session: &mut Session, name: &SchemaName) -> Result<bool, Fault> {
    let sql = "SELECT EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
        WHERE n.nspname = $1 AND c.relname = 'about')";
    let (exists,): (bool,) = session.only(query_as(sql).bind(&name.0)).await?;
    Ok(exists)
}

/// Makes the tables, unless somebody else has meanwhile: in one transaction, all or none.
pub(super) async fn create(
    session: &mut Session,
    kind: &Kind,
    name: &SchemaName,
    token: &str,
) -> Result<(), Fault> {
    session.run(query("BEGIN")).await?;
    session.run(query("SELECT pg_advisory_xact_lock($1)").bind(MAKERS_LOCK)).await?;
    if !exists(session, name).await? {
        let there = "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)";
        let (there,): (bool,) = session.only(query_as(there).bind(&name.0)).await?;
        // CREATE … IF NOT EXISTS asks for the privilege to create one even where nothing is to be created.
        if !there {
            let sql = format!("CREATE SCHEMA {}", name.quoted());
            session.run(query(AssertSqlSafe(sql))).await?;
        }
        for statement in COMMON.iter().chain(kind.schema) {
            session.run(query(*statement)).await?;
        }
        let about = "INSERT INTO about (one, kind, schema_version) VALUES (1, $1, $2)";
        session.run(query(about).bind(kind.word).bind(kind.schema_version)).await?;
        session.run(query(kind.beget).bind(token)).await?;
    }
    session.run(query("COMMIT")).await?;
    Ok(())
}

/// Refuses tables of another kind or version.
pub(super) async fn recognise(session: &mut Session, kind: &Kind) -> Result<(), Fault> {
    let (found, version): (String, i32) =
        session.only(query_as("SELECT kind, schema_version FROM about")).await?;
    if found != kind.word {
        let cause = format!(
            "the schema is a {found}'s, expected a {}'s: give each shard, and the ledger, a schema of its own",
            kind.word
        );
        return Err(Fault::broken(ErrorKind::Refused, cause));
    }
    if version != kind.schema_version {
        let cause = format!("schema version: found {version}, expected {}", kind.schema_version);
        return Err(Fault::broken(ErrorKind::Refused, cause));
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_and_quoted() {
        for (text, part) in [("", "empty"), ("a\0b", "zero"), ("pg_x", "server's"), (&"号".repeat(22), "63")]
        {
            let error = text.parse::<SchemaName>().unwrap_err().to_string();
            assert!(error.contains(part), "{text:?}: {error}");
        }
        let name: SchemaName = "a\"b; --".parse().unwrap();
        assert_eq!(name.quoted(), "\"a\"\"b; --\"");
        assert!("x".repeat(SchemaName::LENGTH_MAX).parse::<SchemaName>().is_ok());
    }
}
