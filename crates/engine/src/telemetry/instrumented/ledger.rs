//! A ledger whose calls are counted and timed, beneath the callers' time limits.

use std::sync::Arc;

use sequent_core::{
    Clock, ExamineLedger, InstanceId, Key, Reply, SequenceName, SlotIndex,
    ledger::{
        Answer, Catalog, Counter, Defined, Definition, Dense, DenseAsk, DenseRow, DenseTaken, Fence,
        Heartbeat, Identity, Known, LayoutBook, LayoutPage, LayoutRecord, Ledger, LedgerInspection,
        LedgerNote, Loss, Moved, NoteSubject, Opened, Opening, Pass, PastEpoch, Presence, Raise, Raised,
        Reading, Rebased, Recovery, Retention, Row, Rows, ServerId, SlotCommand, SlotCommands,
    },
};

use super::Tally;
use crate::telemetry::{
    metric_labels::CALL_FAULTS,
    metric_table::{LEDGER_CALLS, LEDGER_SECONDS},
};

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
            Tally::new(clock, &CALL_FAULTS, counter, metrics::histogram!(LEDGER_SECONDS, "call" => call))
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

/// Implements a trait of the ledger: each row is the name under which a call is counted, and the call.
macro_rules! counted {
    ($trait:ident $({ $plain:item })? $($name:ident: $call:ident($($arg:ident: $type:ty),*) -> $result:ty;)+) => {
        #[deny(clippy::missing_trait_methods)]
        #[allow(clippy::elidable_lifetime_names, reason = "most calls have arguments that live as long")]
        impl $trait for Metered {
            $($plain)?

            $(fn $call<'a>(&'a self, $($arg: $type),*) -> Reply<'a, $result> {
                Box::pin(self.$name.of(self.ledger.$call($($arg),*)))
            })+
        }
    };
}

counted! { Identity
    {
        fn examiner(&self) -> Option<&dyn ExamineLedger> {
            self.ledger.examiner()
        }
    }
    other: inspect() -> LedgerInspection;
    other: enlist(under: &'a InstanceId, server: ServerId, nonce: u64) -> ();
    other: rebear(was: &'a InstanceId) -> InstanceId;
    other: known() -> Known;
    other: record(under: &'a InstanceId, slot: Option<SlotIndex>, instance: &'a InstanceId) -> ();
}

counted! { Rows
    {
        fn batch_max(&self) -> usize {
            self.ledger.batch_max()
        }
    }
    read: read(under: &'a InstanceId, counters: &'a [Counter]) -> Reading;
    open: open(pass: Pass<'a>, openings: &'a [Opening]) -> Answer<Vec<Opened>>;
    raise: raise(pass: Pass<'a>, raises: &'a [Raise]) -> Answer<Vec<Raised>>;
    read: moved(under: &'a InstanceId, since: u64, most: usize) -> Vec<Moved>;
    other: list(sequence: Option<&'a str>, most: usize) -> Vec<(Counter, Row)>;
    other: history(counter: &'a Counter) -> Vec<PastEpoch>;
}

counted! { Heartbeat
    heartbeat: heartbeat(pass: Pass<'a>, raises: &'a [Raise]) -> Answer<Presence>;
}

counted! { LayoutBook
    other: layout() -> Option<LayoutRecord>;
    other: found(first: &'a LayoutRecord) -> LayoutRecord;
    other: found_anew(first: &'a LayoutRecord) -> (LayoutRecord, bool);
    other: page() -> Option<LayoutPage>;
    other: turn(held: &'a LayoutPage, new: &'a LayoutPage) -> u64;
    other: rebase(held: &'a LayoutPage, keys: &'a [Rebased]) -> u64;
}

counted! { Catalog
    other: definitions() -> (u64, Vec<Definition>);
    other: definition(name: &'a SequenceName) -> Option<Definition>;
    other: define(definition: &'a Definition, judged: Option<u32>) -> Defined;
    other: notes() -> Vec<LedgerNote>;
    other: noted(about: &'a NoteSubject) -> u64;
    other: note(note: &'a LedgerNote) -> u64;
    other: note_all(notes: &'a [LedgerNote]) -> ();
}

counted! { Dense
    count: count(pass: Pass<'a>, asks: &'a [DenseAsk]) -> Answer<Vec<DenseTaken>>;
    other: dense(under: Option<&'a str>, most: usize) -> Vec<DenseRow>;
}

counted! { SlotCommands
    other: slot_commands() -> Vec<SlotCommand>;
    other: say(word: &'a SlotCommand) -> SlotCommand;
}

counted! { Recovery
    other: recover(loss: Loss, version_floor: u64) -> InstanceId;
}

counted! { Retention
    other: keys_between(slot: SlotIndex, from: &'a str, below: &'a str, most: usize) -> Vec<Key>;
    other: forget(fence: &'a Fence, counters: &'a [Counter]) -> u64;
    other: dense_between(from: &'a str, below: &'a str, most: usize) -> Vec<Key>;
    other: forget_dense(fence: &'a Fence, keys: &'a [Key]) -> u64;
}
