//! One key's counters over the ring: which may be asked, from where, and what they gave too late.

use std::{collections::BTreeSet, sync::Arc};

use arc_swap::Guard;
use sequent_core::{Blocks, Event, Key, Layout, SlotFailure, SlotIndex, Source, SourceError};

use super::{Ring, lane::Lane, spares::Spares};
use crate::{
    SlotState,
    join::{Piece, count},
    roster::Roster,
    shares::LAG_MAX,
    snapshot::Snapshot,
};

/// A key's counters, one a slot, and its late blocks.
pub(super) struct KeyRing {
    id: u64,
    key: Key,
    ring: Arc<Ring>,
    lanes: Vec<Option<Lane>>,
    spares: Spares,
}

impl KeyRing {
    pub(super) fn new(id: u64, key: Key, ring: Arc<Ring>, counters: Vec<Option<Arc<dyn Source>>>) -> Self {
        let lanes = counters.into_iter().map(|counter| counter.map(Lane::new)).collect();
        Self { id, key, ring, lanes, spares: Spares::default() }
    }

    pub(super) fn layout(&self) -> Layout {
        self.ring.layout
    }

    pub(super) fn roster(&self) -> &Arc<Roster> {
        &self.ring.roster
    }

    pub(super) fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        self.ring.roster.snapshot()
    }

    /// Whether this key has a counter in the slot, neither retired nor quarantined.
    pub(super) fn can_ask(&self, snapshot: &Snapshot, slot: SlotIndex) -> bool {
        let pardon = snapshot.standing(slot).pardon;
        self.lane(slot).is_some_and(|lane| lane.bar(pardon).is_none())
    }

    /// The highest raw id known to be taken in this slot; 0 where nothing is known.
    pub(super) fn raw_position(&self, slot: SlotIndex) -> u64 {
        self.lane(slot).and_then(|lane| lane.counter().position()).unwrap_or(0)
    }

    /// The live slots that can be asked.
    pub(super) fn live(&self) -> Vec<SlotIndex> {
        let snapshot = self.snapshot();
        snapshot.live().iter().copied().filter(|slot| self.can_ask(&snapshot, *slot)).collect()
    }

    /// The highest encoded id known to be taken in a live slot.
    pub(super) fn position(&self) -> Option<u64> {
        let known = |slot: SlotIndex| {
            let position = self.lane(slot)?.counter().position()?;
            self.layout().encode(position, slot)
        };
        self.live().into_iter().filter_map(known).max()
    }

    /// The highest position of the live slots. What was quarantined, for having leapt perhaps, is not followed.
    pub(super) fn front(&self, snapshot: &Snapshot) -> u64 {
        self.positions(snapshot).into_iter().max().unwrap_or(0)
    }

    /// How far a slot must be lifted before its first take of `generation`, if it must.
    ///
    /// After a rescue to the front; at the first use in this process only away from a lag that no refill explains,
    /// and then to where most of the others are, so that one counter that runs ahead is not followed.
    pub(super) fn floor(
        &self,
        snapshot: &Snapshot,
        slot: SlotIndex,
        generation: u64,
        rescue: bool,
    ) -> Option<u64> {
        let used = self.lane(slot)?.used();
        if used == Some(generation) {
            return None;
        }
        let position = self.raw_position(slot);
        if used.is_some() || rescue {
            return Some(self.front(snapshot)).filter(|front| *front > position);
        }
        let mut positions = self.positions(snapshot);
        positions.sort_unstable();
        let middle = positions.get(positions.len() / 2).copied().unwrap_or(0);
        (middle.saturating_sub(position) > LAG_MAX).then_some(middle)
    }

    pub(super) async fn take(&self, slot: SlotIndex, want: u64) -> Result<Blocks, SourceError> {
        match self.lane(slot) {
            Some(lane) => lane.counter().take(want).await,
            None => Ok(Blocks::default()),
        }
    }

    pub(super) async fn lift(&self, slot: SlotIndex, floor: u64) -> Result<(), SourceError> {
        match self.lane(slot) {
            Some(lane) => lane.counter().lift(floor).await,
            None => Ok(()),
        }
    }

    /// The counter is at the end of its range: never asked again.
    pub(super) fn retire(&self, slot: SlotIndex, error: &SourceError) {
        if self.lane(slot).is_some_and(|lane| lane.retire(error)) {
            self.emit(Event::Retired { slot, key: self.key.clone() });
        }
    }

    /// The counter may repeat numbers: not asked until a person clears its slot, and what it left is dropped.
    pub(super) fn quarantine(&self, slot: SlotIndex, error: &SourceError) {
        let pardon = self.snapshot().standing(slot).pardon;
        if self.lane(slot).is_some_and(|lane| lane.quarantine(pardon, error)) {
            let (kind, detail) = (error.kind(), error.to_string());
            self.emit(Event::Quarantined { slot, key: Some(self.key.clone()), kind, detail });
        }
    }

    /// Why this key's counter is not asked, if it is barred.
    pub(super) fn barred(&self, snapshot: &Snapshot, slot: SlotIndex) -> Option<SlotFailure> {
        let bar = self.lane(slot)?.bar(snapshot.standing(slot).pardon)?;
        Some(SlotFailure::of(slot, &bar.error))
    }

    /// Up to `want` ids that came too late for an earlier take, the lowest first.
    pub(super) fn use_spares(&self, want: u64) -> Vec<Piece> {
        if self.spares.is_empty() {
            return Vec::new();
        }
        let (snapshot, now) = (self.snapshot(), self.roster().env().clock.now());
        let is_good = |piece: &Piece| {
            let standing = snapshot.standing(piece.slot);
            let bar = self.lane(piece.slot).and_then(|lane| lane.bar(standing.pardon));
            standing.state != SlotState::Quarantined
                && !bar.is_some_and(|bar| bar.is_distrust())
                && piece.until.is_none_or(|until| until > now)
        };
        let (pieces, bad) = self.spares.take(want, is_good);
        self.dropped(&bad, "late blocks of a slot that is quarantined, or too old");
        pieces
    }

    /// Keeps for the next take what this one has no use for.
    pub(super) fn keep(&self, pieces: Vec<Piece>) {
        if !pieces.is_empty() {
            self.dropped(&self.spares.put(pieces), "more late blocks than are kept");
        }
    }

    pub(super) fn drop_spares_up_to(&self, raw: u64) {
        self.dropped(&self.spares.drop_up_to(raw), "late blocks below a lift");
    }

    /// Reports numbers that nobody will get.
    pub(super) fn dropped(&self, pieces: &[Piece], why: &'static str) {
        for slot in pieces.iter().map(|piece| piece.slot).collect::<BTreeSet<SlotIndex>>() {
            let of_slot: Vec<Piece> = pieces.iter().filter(|piece| piece.slot == slot).copied().collect();
            self.emit(Event::Dropped { slot: Some(slot), count: count(&of_slot), why });
        }
    }

    fn positions(&self, snapshot: &Snapshot) -> Vec<u64> {
        let live = snapshot.live().iter().filter(|slot| self.can_ask(snapshot, **slot));
        live.map(|slot| self.raw_position(*slot)).collect()
    }

    pub(super) fn lane(&self, slot: SlotIndex) -> Option<&Lane> {
        self.lanes.get(usize::from(slot))?.as_ref()
    }

    fn emit(&self, event: Event) {
        self.roster().env().events.emit(event);
    }
}

impl Drop for KeyRing {
    fn drop(&mut self) {
        self.ring.forget(self.id);
        self.dropped(&self.spares.drop_up_to(u64::MAX), "late blocks of a key that is no longer used");
    }
}
