//! One key's counters over the ring: which may be asked, from which position, and their late blocks.

mod late_blocks;
pub(crate) mod registry;
pub(crate) mod slot_counter;

use std::{collections::BTreeSet, sync::Arc};

use arc_swap::Guard;
use sequent_core::{Blocks, Event, Key, Layout, SlotFailure, SlotIndex, Source, SourceError};

use self::{late_blocks::LateBlocks, registry::KeyRegistry, slot_counter::SlotCounter};
use super::{
    shared::Shared,
    slot_blocks::{SlotBlock, count, split::LAG_MAX},
};
use crate::{
    membership::{Membership, snapshot::Snapshot},
    status::SlotState,
};

/// A key's counters, one per slot, and its late blocks.
pub(crate) struct KeyCounters {
    id: u64,
    registry: Arc<KeyRegistry<Self>>,
    key: Key,
    ring: Arc<Shared>,
    counters: Vec<Option<SlotCounter>>,
    late_blocks: LateBlocks,
}

impl KeyCounters {
    pub(super) fn new(
        (id, registry): (u64, Arc<KeyRegistry<Self>>),
        key: Key,
        ring: Arc<Shared>,
        counters: Vec<Option<Arc<dyn Source>>>,
    ) -> Self {
        let counters = counters.into_iter().map(|counter| counter.map(SlotCounter::new)).collect();
        Self { id, registry, key, ring, counters, late_blocks: LateBlocks::default() }
    }

    pub(super) fn layout(&self) -> Layout {
        self.ring.layout
    }

    pub(super) fn membership(&self) -> &Arc<Membership> {
        &self.ring.membership
    }

    pub(super) fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        self.ring.membership.snapshot()
    }

    /// Whether this key has a counter in the slot that is neither retired nor quarantined.
    pub(super) fn can_ask(&self, snapshot: &Snapshot, slot: SlotIndex) -> bool {
        let clear_count = snapshot.slot(slot).clear_count;
        self.counter(slot).is_some_and(|counter| counter.disabled(clear_count).is_none())
    }

    /// The highest raw id known to be taken in this slot; 0 if none is known.
    pub(super) fn raw_position(&self, slot: SlotIndex) -> u64 {
        self.counter(slot).and_then(|counter| counter.source().position()).unwrap_or(0)
    }

    /// The live slots that can be asked.
    pub(super) fn live(&self) -> Vec<SlotIndex> {
        let snapshot = self.snapshot();
        snapshot.live().iter().copied().filter(|slot| self.can_ask(&snapshot, *slot)).collect()
    }

    /// The highest encoded id known to be taken in a live slot.
    pub(super) fn position(&self) -> Option<u64> {
        let known = |slot: SlotIndex| {
            let position = self.counter(slot)?.source().position()?;
            self.layout().encode(position, slot)
        };
        self.live().into_iter().filter_map(known).max()
    }

    /// How many encoded ids up to `limit` are left at most, over all slots: one that is out may come back.
    pub(super) fn remaining_up_to(&self, limit: u64) -> Option<u64> {
        let (bits, last) = (self.layout().shard_bits(), u64::from(self.layout().slots()) - 1);
        let (raw, last_slot) = (limit >> bits, limit & last);
        let of_slot = |(slot, counter): (SlotIndex, &Option<SlotCounter>)| match counter {
            Some(counter) if u64::from(slot) <= last_slot => counter.source().remaining_up_to(raw),
            Some(counter) => counter.source().remaining_up_to(raw.saturating_sub(1)),
            None => Some(0),
        };
        let slots = (0..).zip(&self.counters).map(of_slot).try_fold(0_u64, |sum, left| Some(sum + left?))?;
        Some(slots.saturating_add(self.late_blocks.count()))
    }

    /// The highest position of the live slots. A quarantined counter, which may have jumped, is not followed.
    pub(super) fn front(&self, snapshot: &Snapshot) -> u64 {
        self.positions(snapshot).into_iter().max().unwrap_or(0)
    }

    /// How far a slot must be lifted before its first take of `generation`, if it must.
    ///
    /// After a rescue it is lifted to the front. At its first use in this process it is lifted only if it lags by more than
    /// any take explains, and then to the median position: one counter that runs ahead is not followed.
    pub(super) fn floor(
        &self,
        snapshot: &Snapshot,
        slot: SlotIndex,
        generation: u64,
        rescue: bool,
    ) -> Option<u64> {
        let used = self.counter(slot)?.used();
        if used == Some(generation) {
            return None;
        }
        let position = self.raw_position(slot);
        if used.is_some() || rescue {
            return Some(self.front(snapshot)).filter(|front| *front > position);
        }
        let mut positions = self.positions(snapshot);
        positions.sort_unstable();
        let median = positions.get(positions.len() / 2).copied().unwrap_or(0);
        (median.saturating_sub(position) > LAG_MAX).then_some(median)
    }

    pub(super) async fn take(&self, slot: SlotIndex, want: u64) -> Result<Blocks, SourceError> {
        match self.counter(slot) {
            Some(counter) => counter.source().take(want).await,
            None => Ok(Blocks::default()),
        }
    }

    pub(super) async fn lift(&self, slot: SlotIndex, floor: u64) -> Result<(), SourceError> {
        match self.counter(slot) {
            Some(counter) => counter.source().lift(floor).await,
            None => Ok(()),
        }
    }

    /// The counter is at the end of its range: it is never asked again.
    pub(super) fn retire(&self, slot: SlotIndex, error: &SourceError) {
        if self.counter(slot).is_some_and(|counter| counter.retire(error)) {
            self.emit(Event::Retired { slot, key: self.key.clone() });
        }
    }

    /// The counter may repeat numbers: it is not asked until an operator clears its slot, and its late blocks are
    /// discarded.
    pub(super) fn quarantine(&self, slot: SlotIndex, error: &SourceError) {
        let clear_count = self.snapshot().slot(slot).clear_count;
        if self.counter(slot).is_some_and(|counter| counter.quarantine(clear_count, error)) {
            let (kind, condition, detail) = (error.kind(), error.condition(), error.to_string());
            self.emit(Event::Quarantined { slot, key: Some(self.key.clone()), kind, condition, detail });
        }
    }

    /// Why this key's counter is not asked, if it is retired or quarantined.
    pub(super) fn disabled(&self, snapshot: &Snapshot, slot: SlotIndex) -> Option<SlotFailure> {
        let disabled = self.counter(slot)?.disabled(snapshot.slot(slot).clear_count)?;
        Some(SlotFailure::of(slot, &disabled.error))
    }

    /// Up to `want` ids that came too late for an earlier take, the lowest first.
    pub(super) fn take_late_blocks(&self, want: u64) -> Vec<SlotBlock> {
        if self.late_blocks.is_empty() {
            return Vec::new();
        }
        let (snapshot, now) = (self.snapshot(), self.membership().env().clock.now());
        let is_good = |block: &SlotBlock| {
            let view = snapshot.slot(block.slot);
            let disabled = self.counter(block.slot).and_then(|counter| counter.disabled(view.clear_count));
            view.state != SlotState::Quarantined
                && !disabled.is_some_and(|disabled| disabled.is_quarantine())
                && block.expires_at.is_none_or(|expires_at| expires_at > now)
        };
        let (blocks, bad) = self.late_blocks.take(want, is_good);
        self.dropped(&bad, "late blocks of a slot that is quarantined, or too old");
        blocks
    }

    /// Keeps blocks for the next take.
    pub(super) fn keep(&self, blocks: Vec<SlotBlock>) {
        if !blocks.is_empty() {
            self.dropped(&self.late_blocks.put(blocks), "more late blocks than are kept");
        }
    }

    pub(super) fn discard_late_blocks_up_to(&self, raw: u64) {
        self.dropped(&self.late_blocks.remove_up_to(raw), "late blocks below a lift");
    }

    /// Emits an event for numbers that nobody will get.
    pub(super) fn dropped(&self, blocks: &[SlotBlock], why: &'static str) {
        for slot in blocks.iter().map(|block| block.slot).collect::<BTreeSet<SlotIndex>>() {
            let of_slot: Vec<SlotBlock> = blocks.iter().filter(|block| block.slot == slot).copied().collect();
            self.emit(Event::Dropped { slot: Some(slot), count: count(&of_slot), why });
        }
    }

    fn positions(&self, snapshot: &Snapshot) -> Vec<u64> {
        let live = snapshot.live().iter().filter(|slot| self.can_ask(snapshot, **slot));
        live.map(|slot| self.raw_position(*slot)).collect()
    }

    pub(super) fn counter(&self, slot: SlotIndex) -> Option<&SlotCounter> {
        self.counters.get(usize::from(slot))?.as_ref()
    }

    fn emit(&self, event: Event) {
        self.membership().env().events.emit(event);
    }
}

impl Drop for KeyCounters {
    fn drop(&mut self) {
        self.registry.remove(self.id);
        self.dropped(&self.late_blocks.remove_up_to(u64::MAX), "late blocks of a key that is no longer used");
    }
}
