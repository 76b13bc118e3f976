//! Store calls as operations: the name, the instance they run under, and the engine's call.

use sequent_core::{
    Block, Cell, CellPage, Epoch, Examination, Inspection, InstanceId, Key, SlotIndex, Stamp,
};

use super::{ConnectionOf, StoreEngine};
use crate::net::{Fault, Operation, TxMode};

pub(super) struct Inspect<'a, E> {
    pub(super) engine: &'a E,
}

impl<E: StoreEngine> Operation<ConnectionOf<E>> for Inspect<'_, E> {
    type Out = Inspection;

    fn name(&self) -> &'static str {
        "inspect"
    }

    fn mode(&self) -> TxMode {
        E::INSPECT_MODE
    }

    fn looks_again(&self) -> bool {
        true
    }

    async fn run(&self, connection: &mut ConnectionOf<E>) -> Result<Inspection, Fault> {
        self.engine.inspect(connection).await
    }
}

pub(super) struct StampIt<'a, E> {
    pub(super) engine: &'a E,
    pub(super) under: &'a InstanceId,
    pub(super) expected: Option<String>,
    pub(super) new: String,
}

impl<E: StoreEngine> Operation<ConnectionOf<E>> for StampIt<'_, E> {
    type Out = ();

    fn name(&self) -> &'static str {
        "stamp"
    }

    fn mode(&self) -> TxMode {
        E::INSPECT_MODE
    }

    fn under(&self) -> Option<&InstanceId> {
        Some(self.under)
    }

    async fn run(&self, connection: &mut ConnectionOf<E>) -> Result<(), Fault> {
        let expected = self.expected.as_deref();
        let swapped = self.engine.swap_stamp(connection, expected, &self.new).await?;
        Ok(swapped.expecting(expected)?)
    }
}

pub(super) struct Mark<'a, E> {
    pub(super) engine: &'a E,
    pub(super) under: &'a InstanceId,
    pub(super) version: u64,
}

impl<E: StoreEngine> Operation<ConnectionOf<E>> for Mark<'_, E> {
    type Out = u64;

    fn name(&self) -> &'static str {
        "mark"
    }

    fn under(&self) -> Option<&InstanceId> {
        Some(self.under)
    }

    async fn run(&self, connection: &mut ConnectionOf<E>) -> Result<u64, Fault> {
        self.engine.mark(connection, self.version).await
    }
}

pub(super) struct Take<'a, E> {
    pub(super) engine: &'a E,
    pub(super) cell: Cell<'a>,
    pub(super) epoch: Epoch,
    pub(super) want: u64,
}

impl<E: StoreEngine> Operation<ConnectionOf<E>> for Take<'_, E> {
    type Out = Block;

    fn name(&self) -> &'static str {
        "take from"
    }

    fn under(&self) -> Option<&InstanceId> {
        Some(self.cell.under)
    }

    async fn run(&self, connection: &mut ConnectionOf<E>) -> Result<Block, Fault> {
        self.engine.take(connection, self.cell.key, self.epoch, self.want).await
    }
}

pub(super) struct Close<'a, E> {
    pub(super) engine: &'a E,
    pub(super) cell: Cell<'a>,
    pub(super) next: Epoch,
}

impl<E: StoreEngine> Operation<ConnectionOf<E>> for Close<'_, E> {
    type Out = u64;

    fn name(&self) -> &'static str {
        "close a cell of"
    }

    fn under(&self) -> Option<&InstanceId> {
        Some(self.cell.under)
    }

    async fn run(&self, connection: &mut ConnectionOf<E>) -> Result<u64, Fault> {
        self.engine.close(connection, self.cell.key, self.next).await
    }
}

pub(super) struct Install<'a, E> {
    pub(super) engine: &'a E,
    pub(super) cell: Cell<'a>,
    pub(super) epoch: Epoch,
    pub(super) base: u64,
}

impl<E: StoreEngine> Operation<ConnectionOf<E>> for Install<'_, E> {
    type Out = ();

    fn name(&self) -> &'static str {
        "install a cell of"
    }

    fn under(&self) -> Option<&InstanceId> {
        Some(self.cell.under)
    }

    async fn run(&self, connection: &mut ConnectionOf<E>) -> Result<(), Fault> {
        self.engine.install(connection, self.cell.key, self.epoch, self.base).await
    }
}

pub(super) struct Lift<'a, E> {
    pub(super) engine: &'a E,
    pub(super) cell: Cell<'a>,
    pub(super) epoch: Epoch,
    pub(super) floor: u64,
}

impl<E: StoreEngine> Operation<ConnectionOf<E>> for Lift<'_, E> {
    type Out = u64;

    fn name(&self) -> &'static str {
        "lift a cell of"
    }

    fn under(&self) -> Option<&InstanceId> {
        Some(self.cell.under)
    }

    async fn run(&self, connection: &mut ConnectionOf<E>) -> Result<u64, Fault> {
        self.engine.lift(connection, self.cell.key, self.epoch, self.floor).await
    }
}

pub(super) struct Remove<'a, E> {
    pub(super) engine: &'a E,
    pub(super) cell: Cell<'a>,
}

impl<E: StoreEngine> Operation<ConnectionOf<E>> for Remove<'_, E> {
    type Out = bool;

    fn name(&self) -> &'static str {
        "remove a cell of"
    }

    fn under(&self) -> Option<&InstanceId> {
        Some(self.cell.under)
    }

    async fn run(&self, connection: &mut ConnectionOf<E>) -> Result<bool, Fault> {
        self.engine.remove(connection, self.cell.key).await
    }
}

pub(super) struct Siblings<'a, E> {
    pub(super) engine: &'a E,
    pub(super) slots: SlotIndex,
}

impl<E: StoreEngine> Operation<ConnectionOf<E>> for Siblings<'_, E> {
    type Out = Vec<Stamp>;

    fn name(&self) -> &'static str {
        "look for other slots on"
    }

    async fn run(&self, connection: &mut ConnectionOf<E>) -> Result<Vec<Stamp>, Fault> {
        self.engine.siblings(connection, self.slots).await
    }
}

pub(super) struct ExamineKeys<'a, E> {
    pub(super) engine: &'a E,
    pub(super) keys: &'a [Key],
}

impl<E: StoreEngine> Operation<ConnectionOf<E>> for ExamineKeys<'_, E> {
    type Out = Examination;

    fn name(&self) -> &'static str {
        "examine"
    }

    fn mode(&self) -> TxMode {
        E::LOOK_MODE
    }

    async fn run(&self, connection: &mut ConnectionOf<E>) -> Result<Examination, Fault> {
        self.engine.examine(connection, self.keys).await
    }
}

pub(super) struct Cells<'a, E> {
    pub(super) engine: &'a E,
    pub(super) from: Option<&'a str>,
}

impl<E: StoreEngine> Operation<ConnectionOf<E>> for Cells<'_, E> {
    type Out = CellPage;

    fn name(&self) -> &'static str {
        "read the cells of"
    }

    fn mode(&self) -> TxMode {
        E::LOOK_MODE
    }

    async fn run(&self, connection: &mut ConnectionOf<E>) -> Result<CellPage, Fault> {
        self.engine.cells(connection, self.from).await
    }
}
