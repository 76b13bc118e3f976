//! Stores, written once for all engines: this module keeps the contract of [`Store`], and an engine brings the calls on
//! one connection.

mod call;
pub(crate) mod cas;
mod cell;
mod engine;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub(crate) mod sql;

use std::fmt;

use sequent_core::{
    Block, BoxFuture, Cell, CellPage, Epoch, Examination, Examine, Inspection, InstanceId, Key, SlotIndex,
    SourceError, Stamp, Store,
};

use call::{Call, Lent, Terms};
use cell::fitting;
pub(crate) use cell::{CellRef, CellState, Swapped, block, parse_stamp};
use engine::unlisted;
pub(crate) use engine::{Counting, Examining, StoreConnection};

use crate::net::{Connections, Fault};

/// A store: its connections, and how it counts on them. The first call connects.
pub struct CoreStore<C, E> {
    connections: C,
    engine: E,
}

impl<C: Connections, E> CoreStore<C, E> {
    pub(crate) fn on(connections: C, engine: E) -> Self {
        Self { connections, engine }
    }

    /// Closes the connections. The next call opens another.
    pub async fn disconnect(&self) {
        self.connections.close().await;
    }

    async fn perform<'a, T: Send>(
        &'a self,
        name: &'static str,
        terms: Terms<'a>,
        run: impl for<'c> Fn(Lent<'c, 'a, C::Connection>) -> BoxFuture<'c, Result<T, Fault>> + Send + Sync,
    ) -> Result<T, SourceError> {
        self.connections.perform(Call { name, terms, run }).await
    }

    async fn look<'a, T: Send>(
        &'a self,
        name: &'static str,
        terms: Terms<'a>,
        run: impl for<'c> Fn(Lent<'c, 'a, C::Connection>) -> BoxFuture<'c, Result<T, Fault>> + Send + Sync,
    ) -> Result<T, SourceError> {
        self.connections.look(Call { name, terms, run }).await
    }
}

impl<C, E> fmt::Debug for CoreStore<C, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreStore").finish_non_exhaustive()
    }
}

impl<C: Connections<Connection: StoreConnection>, E> Store for CoreStore<C, E>
where
    E: Counting<C::Connection> + Examining<C::Connection>,
{
    fn holds(&self, key: &Key) -> Result<(), SourceError> {
        self.engine.holds(key)
    }

    fn examiner(&self) -> Option<&dyn Examine> {
        Some(self)
    }

    fn inspect(&self) -> BoxFuture<'_, Result<Inspection, SourceError>> {
        let terms = Terms { mode: C::Connection::INSPECT_MODE, looks_again: true, ..Terms::ANY };
        Box::pin(self.perform("inspect", terms, |lent| Box::pin(lent.0.inspect())))
    }

    fn stamp<'a>(
        &'a self,
        under: &'a InstanceId,
        expected: Option<&'a Stamp>,
        new: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        let terms = Terms { mode: C::Connection::INSPECT_MODE, ..Terms::under(under) };
        Box::pin(self.perform("stamp", terms, move |lent| {
            Box::pin(async move {
                let (expected, new) = (expected.map(ToString::to_string), new.to_string());
                let swapped = lent.0.swap_stamp(expected.as_deref(), &new).await?;
                Ok(swapped.expecting(expected.as_deref())?)
            })
        }))
    }

    fn mark<'a>(&'a self, under: &'a InstanceId, version: u64) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(async move {
            let version = fitting("mark", &"the store", version)?;
            self.perform("mark", Terms::under(under), move |lent| Box::pin(lent.0.mark(version))).await
        })
    }

    fn take<'a>(
        &'a self,
        Cell { key, under }: Cell<'a>,
        epoch: Epoch,
        want: u64,
    ) -> BoxFuture<'a, Result<Block, SourceError>> {
        Box::pin(async move {
            let (cell, want) = (CellRef { key, epoch }, fitting("count", key, want.max(1))?);
            let _turn = self.engine.turn(key).await;
            self.perform("take from", Terms::under(under), move |lent| {
                Box::pin(self.engine.take(lent.0, cell, want))
            })
            .await
        })
    }

    fn close<'a>(
        &'a self,
        Cell { key, under }: Cell<'a>,
        epoch: Epoch,
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(self.perform("close a cell of", Terms::under(under), move |lent| {
            Box::pin(self.engine.close(lent.0, CellRef { key, epoch }))
        }))
    }

    fn install<'a>(
        &'a self,
        Cell { key, under }: Cell<'a>,
        epoch: Epoch,
        base: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(async move {
            let (cell, base) = (CellRef { key, epoch }, fitting("base", key, base)?);
            self.perform("install a cell of", Terms::under(under), move |lent| {
                Box::pin(self.engine.install(lent.0, cell, base))
            })
            .await
        })
    }

    fn lift<'a>(
        &'a self,
        Cell { key, under }: Cell<'a>,
        epoch: Epoch,
        floor: u64,
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(async move {
            let (cell, floor) = (CellRef { key, epoch }, fitting("floor", key, floor)?);
            self.perform("lift a cell of", Terms::under(under), move |lent| {
                Box::pin(self.engine.lift(lent.0, cell, floor))
            })
            .await
        })
    }

    fn beside(&self, slots: SlotIndex) -> BoxFuture<'_, Result<Vec<Stamp>, SourceError>> {
        if !C::Connection::HAS_SIBLINGS {
            return Box::pin(std::future::ready(Ok(Vec::new())));
        }
        let siblings = "look for other slots on";
        Box::pin(self.perform(siblings, Terms::ANY, move |lent| Box::pin(lent.0.siblings(slots))))
    }

    fn remove<'a>(&'a self, Cell { key, under }: Cell<'a>) -> BoxFuture<'a, Result<bool, SourceError>> {
        Box::pin(self.perform("remove a cell of", Terms::under(under), move |lent| {
            Box::pin(self.engine.remove(lent.0, key))
        }))
    }
}

impl<C: Connections<Connection: StoreConnection>, E: Examining<C::Connection>> Examine for CoreStore<C, E> {
    fn examine<'a>(&'a self, keys: &'a [Key]) -> BoxFuture<'a, Result<Examination, SourceError>> {
        let terms = Terms { mode: C::Connection::LOOK_MODE, ..Terms::ANY };
        Box::pin(self.look("examine", terms, move |lent| Box::pin(self.engine.examine(lent.0, keys))))
    }

    fn cells<'a>(&'a self, from: Option<&'a str>) -> BoxFuture<'a, Result<CellPage, SourceError>> {
        if !E::LISTS_CELLS {
            return Box::pin(std::future::ready(Ok(unlisted())));
        }
        let terms = Terms { mode: C::Connection::LOOK_MODE, ..Terms::ANY };
        Box::pin(self.look("read the cells of", terms, move |lent| Box::pin(self.engine.cells(lent.0, from))))
    }
}
