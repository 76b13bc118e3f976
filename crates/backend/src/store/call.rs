//! A call of a store as an operation on a connection.

use std::marker::PhantomData;

use sequent_core::{BoxFuture, InstanceId};

use crate::net::{Fault, Operation, TxMode};

/// A connection lent to a call. What the call refers to lives for `'a`, which outlives the loan.
pub(super) struct Lent<'c, 'a, C>(pub(super) &'c mut C, PhantomData<&'c &'a ()>);

/// How a call is run. By default it is no transaction, and under any instance.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) mode: TxMode,
    pub(super) under: Option<&'a InstanceId>,
    pub(super) looks_again: bool,
}

impl<'a> Terms<'a> {
    pub(super) const ANY: Self = Self { mode: TxMode::Single, under: None, looks_again: false };

    /// Only under this instance.
    pub(super) fn under(instance: &'a InstanceId) -> Self {
        Self { under: Some(instance), ..Self::ANY }
    }
}

/// A call: its name, how it is run, and what it does.
pub(super) struct Call<'a, F> {
    pub(super) name: &'static str,
    pub(super) terms: Terms<'a>,
    pub(super) run: F,
}

impl<'a, C, T, F> Operation<C> for Call<'a, F>
where
    C: Send,
    T: Send,
    F: for<'c> Fn(Lent<'c, 'a, C>) -> BoxFuture<'c, Result<T, Fault>> + Send + Sync,
{
    type Out = T;

    fn name(&self) -> &'static str {
        self.name
    }

    fn mode(&self) -> TxMode {
        self.terms.mode
    }

    fn under(&self) -> Option<&InstanceId> {
        self.terms.under
    }

    fn looks_again(&self) -> bool {
        self.terms.looks_again
    }

    async fn run(&self, connection: &mut C) -> Result<T, Fault> {
        (self.run)(Lent(connection, PhantomData)).await
    }
}
