//! What runs on a connection, and where connections come from.

use std::future::Future;

use sequent_core::{Env, InstanceId, SourceError};

use super::Fault;

/// How the statements of an operation are held together, where the engine has transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TxMode {
    /// Each statement by itself.
    Single,
    /// One view of the tables for all of them.
    Read,
    /// All or none.
    Write,
}

/// One call on a connection, made so that it can be run again: where it failed with a fault of which nothing was done.
pub(crate) trait Operation<C>: Send + Sync {
    /// What it returns.
    type Out: Send;

    /// Its name, for errors: `take from`.
    fn name(&self) -> &'static str;

    /// How its statements are held together.
    fn mode(&self) -> TxMode {
        TxMode::Single
    }

    /// The instance under which alone it may run; `None` where it finds that out itself.
    fn under(&self) -> Option<&InstanceId> {
        None
    }

    /// Whether the connection must look again who answers, before it runs.
    fn looks_again(&self) -> bool {
        false
    }

    /// Runs it once.
    fn run(&self, connection: &mut C) -> impl Future<Output = Result<Self::Out, Fault>> + Send;
}

/// An open connection, and what was learned when it was opened.
pub(crate) trait Connection: Sized + Send {
    /// Which run of which data answers here.
    fn instance(&self) -> &InstanceId;

    /// Whether anybody answers.
    fn ping(&mut self) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Whether what was learned at the opening is still true, for engines that let it change under a connection.
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

    /// Ends it politely. Dropped, it just ends.
    fn close(self) -> impl Future<Output = ()> + Send {
        async { drop(self) }
    }
}

/// The connections of one store or ledger in this process.
pub(crate) trait Connections: Send + Sync + 'static {
    /// What operations run on.
    type Connection: Connection;

    /// Where time is read, and what is random.
    fn env(&self) -> &Env;

    /// Runs an operation, on a connection of the instance that it names.
    fn perform<O: Operation<Self::Connection>>(
        &self,
        operation: O,
    ) -> impl Future<Output = Result<O::Out, SourceError>> + Send;

    /// Runs what only reads, on a connection of its own on which nothing can be changed.
    fn look<O: Operation<Self::Connection>>(
        &self,
        operation: O,
    ) -> impl Future<Output = Result<O::Out, SourceError>> + Send;

    /// Runs an operation if a connection is there that can be used.
    fn perform_if_connected<O: Operation<Self::Connection>>(
        &self,
        operation: O,
    ) -> impl Future<Output = Result<Option<O::Out>, SourceError>> + Send;

    /// Closes the connections; the next operation opens another.
    fn close(&self) -> impl Future<Output = ()> + Send;
}
