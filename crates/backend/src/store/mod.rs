//! Stores, written once for all engines: this module keeps the contract of [`Store`], and an engine brings the calls on
//! one connection.

pub(crate) mod cas;
mod cell;
mod engine;
pub(crate) mod sql;

use std::fmt;

use sequent_core::{
    Block, BoxFuture, Cell, CellPage, Epoch, Examination, Examine, Inspection, InstanceId, Key, SlotIndex,
    SourceError, Stamp, Store,
};

pub use cell::CellState;
pub(crate) use cell::{CellRef, block, fitting, other_stamp, parse_stamp};
use engine::unlisted;
pub(crate) use engine::{Counting, Examining, StoreConnection};

use crate::net::{Connections, Terms};

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
        Box::pin(async move {
            let mode = C::Connection::INSPECT_MODE;
            let terms = Terms { mode, looks_again: true, ..Terms::named("inspect") };
            self.connections.perform(terms, &|lent| Box::pin(lent.0.inspect())).await
        })
    }

    fn stamp<'a>(
        &'a self,
        under: &'a InstanceId,
        expected: Option<&'a Stamp>,
        new: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(async move {
            let terms = Terms { mode: C::Connection::INSPECT_MODE, ..Terms::named("stamp").under(under) };
            let (expected, new) = (expected.map(ToString::to_string), new.to_string());
            let (expected, new) = (expected.as_deref(), new.as_str());
            self.connections.perform(terms, &|lent| Box::pin(lent.0.swap_stamp(expected, new))).await
        })
    }

    fn mark<'a>(&'a self, under: &'a InstanceId, version: u64) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(async move {
            let version = fitting("mark", &"the store", version)?;
            let terms = Terms::named("mark").under(under);
            self.connections.perform(terms, &|lent| Box::pin(lent.0.mark(version))).await
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
            let terms = Terms::named("take from").under(under);
            self.connections.perform(terms, &|lent| Box::pin(self.engine.take(lent.0, cell, want))).await
        })
    }

    fn close<'a>(
        &'a self,
        Cell { key, under }: Cell<'a>,
        epoch: Epoch,
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(async move {
            let (cell, terms) = (CellRef { key, epoch }, Terms::named("close a cell of").under(under));
            self.connections.perform(terms, &|lent| Box::pin(self.engine.close(lent.0, cell))).await
        })
    }

    fn install<'a>(
        &'a self,
        Cell { key, under }: Cell<'a>,
        epoch: Epoch,
        base: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(async move {
            let (cell, base) = (CellRef { key, epoch }, fitting("base", key, base)?);
            let terms = Terms::named("install a cell of").under(under);
            self.connections.perform(terms, &|lent| Box::pin(self.engine.install(lent.0, cell, base))).await
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
            let terms = Terms::named("lift a cell of").under(under);
            self.connections.perform(terms, &|lent| Box::pin(self.engine.lift(lent.0, cell, floor))).await
        })
    }

    fn beside(&self, slots: SlotIndex) -> BoxFuture<'_, Result<Vec<Stamp>, SourceError>> {
        Box::pin(async move {
            if !C::Connection::HAS_SIBLINGS {
                return Ok(Vec::new());
            }
            let terms = Terms::named("look for other slots on");
            self.connections.perform(terms, &|lent| Box::pin(lent.0.siblings(slots))).await
        })
    }

    fn remove<'a>(&'a self, Cell { key, under }: Cell<'a>) -> BoxFuture<'a, Result<bool, SourceError>> {
        Box::pin(async move {
            let terms = Terms::named("remove a cell of").under(under);
            self.connections.perform(terms, &|lent| Box::pin(self.engine.remove(lent.0, key))).await
        })
    }
}

impl<C: Connections<Connection: StoreConnection>, E: Examining<C::Connection>> Examine for CoreStore<C, E> {
    fn examine<'a>(&'a self, keys: &'a [Key]) -> BoxFuture<'a, Result<Examination, SourceError>> {
        Box::pin(async move {
            let terms = Terms { mode: C::Connection::LOOK_MODE, ..Terms::named("examine") };
            self.connections.look(terms, &|lent| Box::pin(self.engine.examine(lent.0, keys))).await
        })
    }

    fn cells<'a>(&'a self, from: Option<&'a str>) -> BoxFuture<'a, Result<CellPage, SourceError>> {
        Box::pin(async move {
            if !E::LISTS_CELLS {
                return Ok(unlisted());
            }
            let terms = Terms { mode: C::Connection::LOOK_MODE, ..Terms::named("read the cells of") };
            self.connections.look(terms, &|lent| Box::pin(self.engine.cells(lent.0, from))).await
        })
    }
}
