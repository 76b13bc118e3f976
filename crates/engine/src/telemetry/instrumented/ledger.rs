//! A ledger whose calls are counted and timed, beneath the callers' time limits.

use std::sync::Arc;

use sequent_core::{
    BoxFuture, Clock, ExamineLedger, InstanceId, Key, SequenceName, SlotIndex, SourceError,
    ledger::{
        Answer, Catalog, Counter, Defined, Definition, Dense, DenseAsk, DenseRow, DenseTaken, Fence,
        Heartbeat, Identity, Known, LayoutBook, LayoutPage, LayoutRecord, Ledger, LedgerInspection,
        LedgerNote, Loss, Moved, NoteSubject, Opened, Opening, Pass, PastEpoch, Presence, Raise, Raised,
        Reading, Rebased, Recovery, Retention, Row, Rows, ServerId, SlotCommand, SlotCommands,
    },
};

use super::Tally;
use crate::telemetry::names::{CALL_OUTCOMES, LEDGER_CALLS, LEDGER_SECONDS};

/// A ledger whose calls are counted: those that numbers wait for by name, the others together.
pub(crate) struct Metered {
    ledger: Arc<dyn Ledger>,
    read: Tally,
    open: Tally,
    raise: Tally,
    heartbeat: Tally,
    count: Tally,
    other: Tally,
}

impl Metered {
    pub(crate) fn of(ledger: Arc<dyn Ledger>, clock: &Arc<dyn Clock>) -> Arc<dyn Ledger> {
        let tally = |call: &'static str| {
            let counter = |outcome| metrics::counter!(LEDGER_CALLS, "call" => call, "outcome" => outcome);
            Tally::new(clock, &CALL_OUTCOMES, counter, metrics::histogram!(LEDGER_SECONDS, "call" => call))
        };
        Arc::new(Self {
            ledger,
            read: tally("read"),
            open: tally("open"),
            raise: tally("raise"),
            heartbeat: tally("heartbeat"),
            count: tally("count"),
            other: tally("other"),
        })
    }
}

/// The result of a ledger's call.
type Told<'a, T> = BoxFuture<'a, Result<T, SourceError>>;

#[deny(clippy::missing_trait_methods)]
impl Identity for Metered {
    fn examiner(&self) -> Option<&dyn ExamineLedger> {
        self.ledger.examiner()
    }

    fn inspect(&self) -> Told<'_, LedgerInspection> {
        Box::pin(self.other.of(self.ledger.inspect()))
    }

    fn enlist<'a>(&'a self, under: &'a InstanceId, server: ServerId, nonce: u64) -> Told<'a, ()> {
        Box::pin(self.other.of(self.ledger.enlist(under, server, nonce)))
    }

    fn rebear<'a>(&'a self, was: &'a InstanceId) -> Told<'a, InstanceId> {
        Box::pin(self.other.of(self.ledger.rebear(was)))
    }

    fn known(&self) -> Told<'_, Known> {
        Box::pin(self.other.of(self.ledger.known()))
    }

    fn record<'a>(
        &'a self,
        under: &'a InstanceId,
        slot: Option<SlotIndex>,
        instance: &'a InstanceId,
    ) -> Told<'a, ()> {
        Box::pin(self.other.of(self.ledger.record(under, slot, instance)))
    }
}

#[deny(clippy::missing_trait_methods)]
impl Rows for Metered {
    fn batch_max(&self) -> usize {
        self.ledger.batch_max()
    }

    fn read<'a>(&'a self, under: &'a InstanceId, counters: &'a [Counter]) -> Told<'a, Reading> {
        Box::pin(self.read.of(self.ledger.read(under, counters)))
    }

    fn open<'a>(&'a self, pass: Pass<'a>, openings: &'a [Opening]) -> Told<'a, Answer<Vec<Opened>>> {
        Box::pin(self.open.of(self.ledger.open(pass, openings)))
    }

    fn raise<'a>(&'a self, pass: Pass<'a>, raises: &'a [Raise]) -> Told<'a, Answer<Vec<Raised>>> {
        Box::pin(self.raise.of(self.ledger.raise(pass, raises)))
    }

    fn moved<'a>(&'a self, under: &'a InstanceId, since: u64, most: usize) -> Told<'a, Vec<Moved>> {
        Box::pin(self.read.of(self.ledger.moved(under, since, most)))
    }

    fn list<'a>(&'a self, sequence: Option<&'a str>, most: usize) -> Told<'a, Vec<(Counter, Row)>> {
        Box::pin(self.other.of(self.ledger.list(sequence, most)))
    }

    fn history<'a>(&'a self, counter: &'a Counter) -> Told<'a, Vec<PastEpoch>> {
        Box::pin(self.other.of(self.ledger.history(counter)))
    }
}

#[deny(clippy::missing_trait_methods)]
impl Heartbeat for Metered {
    fn heartbeat<'a>(&'a self, pass: Pass<'a>, raises: &'a [Raise]) -> Told<'a, Answer<Presence>> {
        Box::pin(self.heartbeat.of(self.ledger.heartbeat(pass, raises)))
    }
}

#[deny(clippy::missing_trait_methods)]
impl LayoutBook for Metered {
    fn layout(&self) -> Told<'_, Option<LayoutRecord>> {
        Box::pin(self.other.of(self.ledger.layout()))
    }

    fn found<'a>(&'a self, first: &'a LayoutRecord) -> Told<'a, LayoutRecord> {
        Box::pin(self.other.of(self.ledger.found(first)))
    }

    fn found_anew<'a>(&'a self, first: &'a LayoutRecord) -> Told<'a, (LayoutRecord, bool)> {
        Box::pin(self.other.of(self.ledger.found_anew(first)))
    }

    fn page(&self) -> Told<'_, Option<LayoutPage>> {
        Box::pin(self.other.of(self.ledger.page()))
    }

    fn turn<'a>(&'a self, held: &'a LayoutPage, new: &'a LayoutPage) -> Told<'a, u64> {
        Box::pin(self.other.of(self.ledger.turn(held, new)))
    }

    fn rebase<'a>(&'a self, held: &'a LayoutPage, keys: &'a [Rebased]) -> Told<'a, u64> {
        Box::pin(self.other.of(self.ledger.rebase(held, keys)))
    }
}

#[deny(clippy::missing_trait_methods)]
impl Catalog for Metered {
    fn definitions(&self) -> Told<'_, (u64, Vec<Definition>)> {
        Box::pin(self.other.of(self.ledger.definitions()))
    }

    fn definition<'a>(&'a self, name: &'a SequenceName) -> Told<'a, Option<Definition>> {
        Box::pin(self.other.of(self.ledger.definition(name)))
    }

    fn define<'a>(&'a self, definition: &'a Definition, judged: Option<u32>) -> Told<'a, Defined> {
        Box::pin(self.other.of(self.ledger.define(definition, judged)))
    }

    fn notes(&self) -> Told<'_, Vec<LedgerNote>> {
        Box::pin(self.other.of(self.ledger.notes()))
    }

    fn noted<'a>(&'a self, about: &'a NoteSubject) -> Told<'a, u64> {
        Box::pin(self.other.of(self.ledger.noted(about)))
    }

    fn note<'a>(&'a self, note: &'a LedgerNote) -> Told<'a, u64> {
        Box::pin(self.other.of(self.ledger.note(note)))
    }

    fn note_all<'a>(&'a self, notes: &'a [LedgerNote]) -> Told<'a, ()> {
        Box::pin(self.other.of(self.ledger.note_all(notes)))
    }
}

#[deny(clippy::missing_trait_methods)]
impl Dense for Metered {
    fn count<'a>(&'a self, pass: Pass<'a>, asks: &'a [DenseAsk]) -> Told<'a, Answer<Vec<DenseTaken>>> {
        Box::pin(self.count.of(self.ledger.count(pass, asks)))
    }

    fn dense<'a>(&'a self, under: Option<&'a str>, most: usize) -> Told<'a, Vec<DenseRow>> {
        Box::pin(self.other.of(self.ledger.dense(under, most)))
    }
}

#[deny(clippy::missing_trait_methods)]
impl SlotCommands for Metered {
    fn slot_commands(&self) -> Told<'_, Vec<SlotCommand>> {
        Box::pin(self.other.of(self.ledger.slot_commands()))
    }

    fn say<'a>(&'a self, word: &'a SlotCommand) -> Told<'a, SlotCommand> {
        Box::pin(self.other.of(self.ledger.say(word)))
    }
}

#[deny(clippy::missing_trait_methods)]
impl Recovery for Metered {
    fn recover(&self, loss: Loss, version_floor: u64) -> Told<'_, InstanceId> {
        Box::pin(self.other.of(self.ledger.recover(loss, version_floor)))
    }
}

#[deny(clippy::missing_trait_methods)]
impl Retention for Metered {
    fn keys_between<'a>(
        &'a self,
        slot: SlotIndex,
        from: &'a str,
        below: &'a str,
        most: usize,
    ) -> Told<'a, Vec<Key>> {
        Box::pin(self.other.of(self.ledger.keys_between(slot, from, below, most)))
    }

    fn forget<'a>(&'a self, fence: &'a Fence, counters: &'a [Counter]) -> Told<'a, u64> {
        Box::pin(self.other.of(self.ledger.forget(fence, counters)))
    }

    fn dense_between<'a>(&'a self, from: &'a str, below: &'a str, most: usize) -> Told<'a, Vec<Key>> {
        Box::pin(self.other.of(self.ledger.dense_between(from, below, most)))
    }

    fn forget_dense<'a>(&'a self, fence: &'a Fence, keys: &'a [Key]) -> Told<'a, u64> {
        Box::pin(self.other.of(self.ledger.forget_dense(fence, keys)))
    }
}
