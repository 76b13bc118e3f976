//! Calls on a connection, and the connections that run them.

use std::{future::Future, marker::PhantomData};

use sequent_core::{BoxFuture, Env, InstanceId, SourceError};

use super::Fault;

/// Transaction mode of a call, on engines that have transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TxMode {
    /// No transaction: each statement by itself.
    Single,
    /// One consistent view for all statements.
    Read,
    /// All statements or none.
    Write,
}

/// How a call is run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'a> {
    /// The call's name, for errors: `take from`.
    pub(crate) name: &'static str,
    /// The transaction mode.
    pub(crate) mode: TxMode,
    /// The only instance under which the call may run; `None` if the call checks that itself.
    pub(crate) under: Option<&'a InstanceId>,
    /// Whether the connection must check the instance again before the call runs.
    pub(crate) looks_again: bool,
}

impl<'a> Terms<'a> {
    /// A call of this name, in no transaction and under any instance.
    pub(crate) const fn named(name: &'static str) -> Self {
        Self { name, mode: TxMode::Single, under: None, looks_again: false }
    }

    /// The same call, only under this instance.
    pub(crate) const fn under(self, instance: &'a InstanceId) -> Self {
        Self { under: Some(instance), ..self }
    }
}

/// A connection lent to a call. What the call refers to lives for `'a`, which outlives the loan.
pub(crate) struct Lent<'c, 'a, C>(pub(crate) &'c mut C, PhantomData<&'c &'a ()>);

impl<'c, C> Lent<'c, '_, C> {
    pub(crate) fn new(connection: &'c mut C) -> Self {
        Self(connection, PhantomData)
    }
}

/// What a call does on a connection. It can run again after a fault that states that nothing was done.
pub(crate) type Run<'a, C, T> =
    dyn for<'c> Fn(Lent<'c, 'a, C>) -> BoxFuture<'c, Result<T, Fault>> + Send + Sync + 'a;

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

    /// Runs a call once, within its transaction.
    fn attempt<T: Send>(
        &mut self,
        mode: TxMode,
        run: &Run<'_, Self, T>,
    ) -> impl Future<Output = Result<T, Fault>> + Send {
        let _ = mode;
        async move { run(Lent::new(self)).await }
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

    /// Runs a call on a connection of the instance that it names.
    fn perform<T: Send>(
        &self,
        terms: Terms<'_>,
        run: &Run<'_, Self::Connection, T>,
    ) -> impl Future<Output = Result<T, SourceError>> + Send;

    /// Runs a read-only call on a separate connection that can't change anything.
    fn look<T: Send>(
        &self,
        terms: Terms<'_>,
        run: &Run<'_, Self::Connection, T>,
    ) -> impl Future<Output = Result<T, SourceError>> + Send;

    /// Whether a connection is open and not in use.
    fn is_connected(&self) -> impl Future<Output = bool> + Send;

    /// Closes the connections. The next call opens another.
    fn close(&self) -> impl Future<Output = ()> + Send;
}
