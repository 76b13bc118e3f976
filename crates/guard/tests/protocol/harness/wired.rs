//! Store and ledger at the far end of a wire.

use std::sync::Arc;

use sequent_backend::memory::{MemoryLedger, MemoryStore};
use sequent_core::{
    Block, BoxFuture, Cell, Epoch, Inspection, InstanceId, Key, SequenceName, SlotIndex, SourceError, Stamp,
    Store,
    ledger::{
        Answer, Catalog, Counter, Defined, Definition, Dense, DenseAsk, DenseRow, DenseTaken, Fence,
        Heartbeat, Identity, Known, LayoutBook, LayoutPage, LayoutRecord, LedgerInspection, LedgerNote, Loss,
        Moved, NoteSubject, Opened, Opening, Pass, PastEpoch, Presence, Raise, Raised, Reading, Rebased,
        Recovery, Retention, Row, Rows, ServerId, SlotCommand, SlotCommands,
    },
};

use super::wire::Wire;

type Answered<'a, T> = BoxFuture<'a, Result<T, SourceError>>;

/// A system behind a wire.
pub(crate) struct Wired<S> {
    pub(crate) wire: Arc<Wire>,
    pub(crate) inner: S,
}

impl Store for Wired<MemoryStore> {
    fn inspect(&self) -> Answered<'_, Inspection> {
        Box::pin(self.wire.carry("inspect", self.inner.inspect()))
    }

    fn stamp<'a>(
        &'a self,
        under: &'a InstanceId,
        expected: Option<&'a Stamp>,
        new: &'a Stamp,
    ) -> Answered<'a, ()> {
        Box::pin(self.wire.carry("stamp", self.inner.stamp(under, expected, new)))
    }

    fn beside(&self, _slots: SlotIndex) -> Answered<'_, Vec<Stamp>> {
        Box::pin(self.wire.carry("beside", std::future::ready(Ok(self.wire.beside()))))
    }

    fn mark<'a>(&'a self, under: &'a InstanceId, version: u64) -> Answered<'a, u64> {
        Box::pin(self.wire.carry("mark", self.inner.mark(under, version)))
    }

    fn take<'a>(&'a self, cell: Cell<'a>, epoch: Epoch, want: u64) -> Answered<'a, Block> {
        Box::pin(self.wire.carry("take", self.inner.take(cell, epoch, want)))
    }

    fn close<'a>(&'a self, cell: Cell<'a>, next: Epoch) -> Answered<'a, u64> {
        Box::pin(self.wire.carry("close", self.inner.close(cell, next)))
    }

    fn install<'a>(&'a self, cell: Cell<'a>, epoch: Epoch, base: u64) -> Answered<'a, ()> {
        Box::pin(self.wire.carry("install", self.inner.install(cell, epoch, base)))
    }

    fn lift<'a>(&'a self, cell: Cell<'a>, epoch: Epoch, floor: u64) -> Answered<'a, u64> {
        Box::pin(self.wire.carry("lift", self.inner.lift(cell, epoch, floor)))
    }

    fn remove<'a>(&'a self, cell: Cell<'a>) -> Answered<'a, bool> {
        Box::pin(self.wire.carry("remove", self.inner.remove(cell)))
    }
}

impl Identity for Wired<MemoryLedger> {
    fn inspect(&self) -> Answered<'_, LedgerInspection> {
        Box::pin(self.wire.carry("inspect", self.inner.inspect()))
    }

    fn enlist<'a>(&'a self, under: &'a InstanceId, server: ServerId, nonce: u64) -> Answered<'a, ()> {
        Box::pin(self.wire.carry("enlist", self.inner.enlist(under, server, nonce)))
    }

    fn rebear<'a>(&'a self, was: &'a InstanceId) -> Answered<'a, InstanceId> {
        Box::pin(self.wire.carry("rebear", self.inner.rebear(was)))
    }

    fn known(&self) -> Answered<'_, Known> {
        Box::pin(self.wire.carry("known", self.inner.known()))
    }

    fn record<'a>(
        &'a self,
        under: &'a InstanceId,
        slot: Option<SlotIndex>,
        instance: &'a InstanceId,
    ) -> Answered<'a, ()> {
        Box::pin(self.wire.carry("record", self.inner.record(under, slot, instance)))
    }
}

impl Rows for Wired<MemoryLedger> {
    fn read<'a>(&'a self, under: &'a InstanceId, counters: &'a [Counter]) -> Answered<'a, Reading> {
        Box::pin(self.wire.carry("read", self.inner.read(under, counters)))
    }

    fn open<'a>(&'a self, pass: Pass<'a>, openings: &'a [Opening]) -> Answered<'a, Answer<Vec<Opened>>> {
        Box::pin(self.wire.carry("open", self.inner.open(pass, openings)))
    }

    fn raise<'a>(&'a self, pass: Pass<'a>, raises: &'a [Raise]) -> Answered<'a, Answer<Vec<Raised>>> {
        Box::pin(self.wire.carry("raise", self.inner.raise(pass, raises)))
    }

    fn moved<'a>(&'a self, under: &'a InstanceId, since: u64, most: usize) -> Answered<'a, Vec<Moved>> {
        Box::pin(self.wire.carry("moved", self.inner.moved(under, since, most)))
    }

    fn list<'a>(&'a self, sequence: Option<&'a str>, most: usize) -> Answered<'a, Vec<(Counter, Row)>> {
        Box::pin(self.wire.carry("list", self.inner.list(sequence, most)))
    }

    fn history<'a>(&'a self, counter: &'a Counter) -> Answered<'a, Vec<PastEpoch>> {
        Box::pin(self.wire.carry("history", self.inner.history(counter)))
    }
}

impl Heartbeat for Wired<MemoryLedger> {
    fn heartbeat<'a>(&'a self, pass: Pass<'a>, raises: &'a [Raise]) -> Answered<'a, Answer<Presence>> {
        Box::pin(self.wire.carry("heartbeat", self.inner.heartbeat(pass, raises)))
    }
}

impl LayoutBook for Wired<MemoryLedger> {
    fn layout(&self) -> Answered<'_, Option<LayoutRecord>> {
        Box::pin(self.wire.carry("layout", self.inner.layout()))
    }

    fn found<'a>(&'a self, first: &'a LayoutRecord) -> Answered<'a, LayoutRecord> {
        Box::pin(self.wire.carry("found", self.inner.found(first)))
    }

    fn page(&self) -> Answered<'_, Option<LayoutPage>> {
        Box::pin(self.wire.carry("page", self.inner.page()))
    }

    fn turn<'a>(&'a self, held: &'a LayoutPage, new: &'a LayoutPage) -> Answered<'a, u64> {
        Box::pin(self.wire.carry("turn", self.inner.turn(held, new)))
    }

    fn rebase<'a>(&'a self, held: &'a LayoutPage, keys: &'a [Rebased]) -> Answered<'a, u64> {
        let rebase = async move {
            self.wire.dwell(keys.len()).await;
            self.inner.rebase(held, keys).await
        };
        Box::pin(self.wire.carry("rebase", rebase))
    }
}

impl Catalog for Wired<MemoryLedger> {
    fn definitions(&self) -> Answered<'_, (u64, Vec<Definition>)> {
        Box::pin(self.wire.carry("definitions", self.inner.definitions()))
    }

    fn definition<'a>(&'a self, name: &'a SequenceName) -> Answered<'a, Option<Definition>> {
        Box::pin(self.wire.carry("definition", self.inner.definition(name)))
    }

    fn define<'a>(&'a self, definition: &'a Definition, judged: Option<u32>) -> Answered<'a, Defined> {
        Box::pin(self.wire.carry("define", self.inner.define(definition, judged)))
    }

    fn notes(&self) -> Answered<'_, Vec<LedgerNote>> {
        Box::pin(self.wire.carry("notes", self.inner.notes()))
    }

    fn noted<'a>(&'a self, about: &'a NoteSubject) -> Answered<'a, u64> {
        Box::pin(self.wire.carry("noted", self.inner.noted(about)))
    }

    fn note<'a>(&'a self, note: &'a LedgerNote) -> Answered<'a, u64> {
        Box::pin(self.wire.carry("note", self.inner.note(note)))
    }
}

impl SlotCommands for Wired<MemoryLedger> {
    fn slot_commands(&self) -> Answered<'_, Vec<SlotCommand>> {
        Box::pin(self.wire.carry("slot_commands", self.inner.slot_commands()))
    }

    fn say<'a>(&'a self, word: &'a SlotCommand) -> Answered<'a, SlotCommand> {
        Box::pin(self.wire.carry("say", self.inner.say(word)))
    }
}

impl Dense for Wired<MemoryLedger> {
    fn count<'a>(&'a self, pass: Pass<'a>, asks: &'a [DenseAsk]) -> Answered<'a, Answer<Vec<DenseTaken>>> {
        Box::pin(self.wire.carry("count", self.inner.count(pass, asks)))
    }

    fn dense<'a>(&'a self, under: Option<&'a str>, most: usize) -> Answered<'a, Vec<DenseRow>> {
        Box::pin(self.wire.carry("dense", self.inner.dense(under, most)))
    }
}

impl Recovery for Wired<MemoryLedger> {
    fn recover(&self, loss: Loss, version_floor: u64) -> Answered<'_, InstanceId> {
        Box::pin(self.wire.carry("recover", self.inner.recover(loss, version_floor)))
    }
}

impl Retention for Wired<MemoryLedger> {
    fn keys_between<'a>(
        &'a self,
        slot: SlotIndex,
        from: &'a str,
        below: &'a str,
        most: usize,
    ) -> Answered<'a, Vec<Key>> {
        Box::pin(self.wire.carry("keys_between", self.inner.keys_between(slot, from, below, most)))
    }

    fn forget<'a>(&'a self, fence: &'a Fence, counters: &'a [Counter]) -> Answered<'a, u64> {
        Box::pin(self.wire.carry("forget", self.inner.forget(fence, counters)))
    }

    fn dense_between<'a>(&'a self, from: &'a str, below: &'a str, most: usize) -> Answered<'a, Vec<Key>> {
        Box::pin(self.wire.carry("dense_between", self.inner.dense_between(from, below, most)))
    }

    fn forget_dense<'a>(&'a self, fence: &'a Fence, keys: &'a [Key]) -> Answered<'a, u64> {
        Box::pin(self.wire.carry("forget_dense", self.inner.forget_dense(fence, keys)))
    }
}
