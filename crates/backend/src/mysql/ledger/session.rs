//! Statements of the ledger's on a connection to a database.

use mysql_async::Row;
use sequent_core::{ErrorKind, Fact, Incarnation};

use super::{masters::other_master, statements::STATEMENTS};
use crate::{
    ledger::sql::{Hold, LedgerSession, SqlFacts, Statements},
    mysql::{
        fault::Fault,
        grants::{self, Needed},
        link::Link,
    },
    sql::{SqlRow, SqlSession, TxMode, Value, bounded},
};

const NEEDED: Needed = Needed { always: &["SELECT", "INSERT", "UPDATE", "DELETE"], at_times: &["CREATE"] };

impl SqlSession for Link {
    type Fault = Fault;

    fn broken(cause: String) -> Fault {
        Fault::broken(ErrorKind::Unavailable, cause)
    }

    fn refused(cause: String) -> Fault {
        Fault::broken(ErrorKind::Refused, cause)
    }

    async fn rows(&mut self, sql: &str, params: Vec<Value>) -> Result<Vec<SqlRow>, Fault> {
        let rows: Vec<Row> = Self::rows(self, sql, bound(params)).await?;
        Ok(rows.into_iter().map(values).collect())
    }

    async fn execute(&mut self, sql: &str, params: Vec<Value>) -> Result<u64, Fault> {
        Ok(self.exec(sql, bound(params)).await?.found)
    }
}

impl LedgerSession for Link {
    const INSPECTS_BY: TxMode = TxMode::Single;
    const STATEMENTS: &'static Statements = &STATEMENTS;

    fn text(text: &str) -> Value {
        text.into()
    }

    fn speaks_by(&self, token: &str) -> Incarnation {
        Incarnation::new(format!("{} ledger {token}", self.incarnation()))
    }

    async fn hold(&mut self, hold: Hold) -> Result<(String, u64), Fault> {
        let sql = match hold {
            Hold::Write => {
                "SELECT token, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED) FROM sequent_meta WHERE one = 1 FOR UPDATE"
            }
            Hold::Read => {
                "SELECT token, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED) FROM sequent_meta WHERE one = 1 \
                LOCK IN SHARE MODE"
            }
            Hold::Look => {
                "SELECT token, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED) FROM sequent_meta WHERE one = 1"
            }
        };
        self.only(sql, ()).await
    }

    async fn facts(&mut self) -> Result<SqlFacts, Fault> {
        let other_master = other_master(self).await?;
        let settings = self.settings();
        Ok(SqlFacts { durability: settings.durability(), engine: settings.engine(), other_master })
    }

    async fn examine(&mut self, _facts: &SqlFacts) -> Result<Vec<Fact>, Fault> {
        let mut facts = self.settings().losses();
        let (database,): (String,) = self.only("SELECT DATABASE()", ()).await?;
        facts.extend(grants::facts(self, &database, &NEEDED).await?);
        Ok(facts)
    }
}

/// The ledger's token where it speaks as `incarnation` here; `None` where another must speak.
pub(super) fn token_of<'a>(link: &Link, incarnation: &'a Incarnation) -> Option<&'a str> {
    incarnation.as_str().strip_prefix(link.incarnation().as_str())?.strip_prefix(" ledger ")
}

fn bound(params: Vec<Value>) -> Vec<mysql_async::Value> {
    let value = |value| match value {
        Value::Int(number) => mysql_async::Value::Int(number),
        Value::Text(text) => mysql_async::Value::Bytes(text.into_bytes()),
        Value::Bytes(bytes) => mysql_async::Value::Bytes(bytes),
        Value::Null | Value::NoText | Value::Ints(_) | Value::Texts(_) | Value::ManyBytes(_) => {
            mysql_async::Value::NULL
        }
    };
    params.into_iter().map(value).collect()
}

fn values(row: Row) -> SqlRow {
    let value = |value| match value {
        mysql_async::Value::Int(number) => Value::Int(number),
        mysql_async::Value::UInt(number) => Value::Int(bounded(number)),
        mysql_async::Value::Bytes(bytes) => Value::Bytes(bytes),
        // No column of ours holds anything else.
        _ => Value::Null,
    };
    SqlRow::new(row.unwrap_raw().into_iter().map(|column| column.map_or(Value::Null, value)).collect())
}
