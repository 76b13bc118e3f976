//! A store whose takes are counted and timed, close to the store: beneath the ring's time limit.

use std::sync::Arc;

use sequent_core::{
    Block, Cell, Clock, Epoch, Examine, Inspection, InstanceId, Key, Reply, SlotIndex, SourceError, Stamp,
    Store,
};

use super::Tally;
use crate::telemetry::{
    metric_labels::take_faults,
    metric_table::{TAKE_SECONDS, TAKES},
};

/// A store whose takes are counted. Other calls are rare, and are counted by their effects.
pub(crate) struct Metered {
    store: Arc<dyn Store>,
    takes: Tally,
}

impl Metered {
    pub(crate) fn new(slot: SlotIndex, store: Arc<dyn Store>, clock: &Arc<dyn Clock>) -> Self {
        let slot = slot.to_string();
        let counter = |outcome| metrics::counter!(TAKES, "slot" => slot.clone(), "outcome" => outcome);
        let seconds = metrics::histogram!(TAKE_SECONDS, "slot" => slot.clone());
        Self { store, takes: Tally::new(clock, &take_faults(), counter, seconds) }
    }
}

#[deny(clippy::missing_trait_methods)]
impl Store for Metered {
    fn holds(&self, key: &Key) -> Result<(), SourceError> {
        self.store.holds(key)
    }

    fn examiner(&self) -> Option<&dyn Examine> {
        self.store.examiner()
    }

    fn inspect(&self) -> Reply<'_, Inspection> {
        self.store.inspect()
    }

    fn stamp<'a>(
        &'a self,
        under: &'a InstanceId,
        expected: Option<&'a Stamp>,
        new: &'a Stamp,
    ) -> Reply<'a, ()> {
        self.store.stamp(under, expected, new)
    }

    fn beside(&self, slots: SlotIndex) -> Reply<'_, Vec<Stamp>> {
        self.store.beside(slots)
    }

    fn mark<'a>(&'a self, under: &'a InstanceId, version: u64) -> Reply<'a, u64> {
        self.store.mark(under, version)
    }

    fn take<'a>(&'a self, cell: Cell<'a>, epoch: Epoch, want: u64) -> Reply<'a, Block> {
        Box::pin(self.takes.of(self.store.take(cell, epoch, want)))
    }

    fn close<'a>(&'a self, cell: Cell<'a>, next: Epoch) -> Reply<'a, u64> {
        self.store.close(cell, next)
    }

    fn install<'a>(&'a self, cell: Cell<'a>, epoch: Epoch, base: u64) -> Reply<'a, ()> {
        self.store.install(cell, epoch, base)
    }

    fn lift<'a>(&'a self, cell: Cell<'a>, epoch: Epoch, floor: u64) -> Reply<'a, u64> {
        self.store.lift(cell, epoch, floor)
    }

    fn remove<'a>(&'a self, cell: Cell<'a>) -> Reply<'a, bool> {
        self.store.remove(cell)
    }
}
