//! What the SQL engines share: values, sessions, and statements over many rows.

mod many;
mod value;
mod work;

use std::future::Future;

use sequent_core::SourceError;

pub(crate) use many::Many;
#[cfg(feature = "mysql")]
pub(crate) use value::bounded;
pub(crate) use value::{SqlRow, Value};
pub(crate) use work::{TxMode, Work};

/// One connection on which statements run.
pub(crate) trait SqlSession: Send {
    /// Why a statement did not come to its end.
    type Fault: From<SourceError> + Send;

    /// Others write where nobody else should: the connection is given up.
    fn broken(cause: String) -> Self::Fault;

    /// The ledger refuses, and another connection may lead to one that does not: the connection is given up.
    fn refused(cause: String) -> Self::Fault;

    /// Every row of a statement that has run to its end.
    fn rows(
        &mut self,
        sql: &str,
        params: Vec<Value>,
    ) -> impl Future<Output = Result<Vec<SqlRow>, Self::Fault>> + Send;

    /// Runs a statement to its end; returns how many rows it touched.
    fn execute(
        &mut self,
        sql: &str,
        params: Vec<Value>,
    ) -> impl Future<Output = Result<u64, Self::Fault>> + Send;
}
