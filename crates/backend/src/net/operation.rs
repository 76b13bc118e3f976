//! Operations on a connection, and the connections that run them.

use std::future::Future;

use sequent_core::{Env, InstanceId, SourceError};

use super::Fault;

/// Transaction mode of an operation, on engines that have transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TxMode {
    /// No transaction: each statement by itself.
    Single,
    /// One consistent view for all statements.
    Read,
    /// All statements or none.
    Write,
}

/// A call on a connection. It can run again after a fault that states that nothing was done.
pub(crate) trait Operation<C>: Send + Sync {
    /// The result.
    type Out: Send;

    /// The name, for errors: `take from`.
    fn name(&self) -> &'static str;

    /// The transaction mode.
    fn mode(&self) -> TxMode {
        TxMode::Single
    }

    /// The only instance under which the operation may run; `None` if the operation checks that itself.
    fn under(&self) -> Option<&InstanceId> {
        None
    }

    /// Whether the connection must check the instance again before the operation runs.
    fn looks_again(&self) -> bool {
        false
    }

    /// Runs the operation once.
    fn run(&self, connection: &mut C) -> impl Future<Output = Result<Self::Out, Fault>> + Send;
}

/// An open connection, with the instance read when it was opened.
pub(crate) trait Connection: Sized + Send {
    /// The instance that answers on this connection.
    fn instance(&self) -> &InstanceId;

    /// Fails if the server does not answer.
    fn ping(&mut self) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Whether the instance read at opening is still current, on engines where it can change under an open connection.
    fn is_current(&mut self) -> impl Future<Output = bool> + Send {
        std::future::ready(true)
    }

    /// Runs an operation once, within its transaction.
    fn attempt<O: Operation<Self>>(
        &mut self,
        operation: &O,
    ) -> impl Future<Output = Result<O::Out, Fault>> + Send {
        operation.run(self)
    }

    /// Closes the connection with the protocol's farewell. A dropped connection is cut.
    fn close(self) -> impl Future<Output = ()> + Send {
        async { drop(self) }
    }
}

/// The connections of one store or ledger in this process.
pub(crate) trait Connections: Send + Sync + 'static {
    /// The type of a connection.
    type Connection: Connection;

    /// The clock and the source of randomness.
    fn env(&self) -> &Env;

    /// Runs an operation on a connection of the instance that it names.
    fn perform<O: Operation<Self::Connection>>(
        &self,
        operation: O,
    ) -> impl Future<Output = Result<O::Out, SourceError>> + Send;

    /// Runs a read-only operation on a separate connection that can't change anything.
    fn look<O: Operation<Self::Connection>>(
        &self,
        operation: O,
    ) -> impl Future<Output = Result<O::Out, SourceError>> + Send;

    /// Runs an operation only if a usable connection is already open.
    fn perform_if_connected<O: Operation<Self::Connection>>(
        &self,
        operation: O,
    ) -> impl Future<Output = Result<Option<O::Out>, SourceError>> + Send;

    /// Closes the connections. The next operation opens another.
    fn close(&self) -> impl Future<Output = ()> + Send;
}
