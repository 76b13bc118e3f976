//! Values, sessions and statements over many rows, shared by the SQL engines.

mod many;
mod value;

use std::future::Future;

use sequent_core::{Durability, Fact};

pub(crate) use many::Many;
pub(crate) use value::{SqlRow, Value, bounded};

use crate::net::{Connection, Fault, Lent, Run, TxMode};

/// A connection that runs SQL statements.
pub(crate) trait SqlSession: Connection {
    /// A key or other text as the tables hold it.
    fn text(text: &str) -> Value {
        text.into()
    }

    /// The statement that begins a transaction.
    fn begin(&self, mode: TxMode) -> &'static str;

    /// Runs a statement to its end and returns its rows.
    fn rows(
        &mut self,
        sql: &str,
        params: Vec<Value>,
    ) -> impl Future<Output = Result<Vec<SqlRow>, Fault>> + Send;

    /// The first row of a statement, if there is one.
    fn row(
        &mut self,
        sql: &str,
        params: Vec<Value>,
    ) -> impl Future<Output = Result<Option<SqlRow>, Fault>> + Send {
        async move { Ok(self.rows(sql, params).await?.into_iter().next()) }
    }

    /// The row of a statement that always has one.
    fn only(&mut self, sql: &str, params: Vec<Value>) -> impl Future<Output = Result<SqlRow, Fault>> + Send {
        async move { self.row(sql, params).await?.ok_or_else(Fault::emptied) }
    }

    /// Runs a statement to its end and returns how many rows it touched.
    fn execute(&mut self, sql: &str, params: Vec<Value>) -> impl Future<Output = Result<u64, Fault>> + Send;

    /// Runs a statement that begins or ends a transaction.
    fn control(&mut self, sql: &'static str) -> impl Future<Output = Result<(), Fault>> + Send {
        async move { self.execute(sql, Vec::new()).await.map(drop) }
    }

    /// Reads the facts about the server.
    fn server_facts(&mut self) -> impl Future<Output = Result<ServerFacts, Fault>> + Send;

    /// Further facts for a read-only examination.
    fn facts(&mut self) -> impl Future<Output = Result<Vec<Fact>, Fault>> + Send;
}

/// Facts about an engine's server.
#[derive(Debug)]
pub(crate) struct ServerFacts {
    /// Which writes survive a crash.
    pub(crate) durability: Durability,
    /// Name and version, for operators.
    pub(crate) engine: String,
}

/// Runs a call once within its transaction, which is ended whatever the outcome.
pub(crate) async fn attempt<S: SqlSession, T: Send>(
    session: &mut S,
    mode: TxMode,
    run: &Run<'_, S, T>,
) -> Result<T, Fault> {
    if mode == TxMode::Single {
        return run(Lent::new(session)).await;
    }
    session.control(session.begin(mode)).await?;
    let done = match run(Lent::new(session)).await {
        Ok(out) => session.control("COMMIT").await.map(|()| out),
        Err(fault) => Err(fault),
    };
    if let Err(fault) = &done
        && fault.leaves_connection_sound()
    {
        let lost = |_| Fault::away("a transaction could not be rolled back");
        session.control("ROLLBACK").await.map_err(lost)?;
    }
    done
}
