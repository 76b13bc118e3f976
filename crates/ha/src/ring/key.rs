//! One key's counters over the ring: which may be asked, from where, and what they gave too late.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering},
};

use arc_swap::ArcSwapOption;
use sequent_core::{Blocks, Event, Key, Layout, SlotFailure, SlotIndex, Source, SourceError};

use super::{Ring, spares::Spares};
use crate::{
    SlotState,
    join::{Piece, count},
    note_shared_write,
    roster::Roster,
    shares::LAG_MAX,
    snapshot::Snapshot,
};

/// No rescue has this generation: the counter was never asked here.
const NEVER_USED: u64 = u64::MAX;

/// A key's counters, one a slot, and its late blocks.
pub(super) struct KeyRing {
    id: u64,
    key: Key,
    ring: Arc<Ring>,
    lanes: Vec<Option<Lane>>,
    spares: Spares,
}

/// One counter. Taking from it writes nothing here, but for the first time after a rescue.
struct Lane {
    counter: Arc<dyn Source>,
    /// The generation of the slot under which this counter was last lifted, if it had to be.
    used: AtomicU64,
    bar: ArcSwapOption<Bar>,
    /// Asks that a refill stopped waiting for.
    late: AtomicU32,
}

/// Why a counter is not asked.
struct Bar {
    /// Quarantined until the slot is pardoned once more; `None`: retired for good.
    pardon: Option<u64>,
    error: SourceError,
}

impl KeyRing {
    pub(super) fn new(id: u64, key: Key, ring: Arc<Ring>, counters: Vec<Option<Arc<dyn Source>>>) -> Self {
        let lane = |counter| Lane {
            counter,
            used: AtomicU64::new(NEVER_USED),
            bar: ArcSwapOption::empty(),
            late: AtomicU32::new(0),
        };
        let lanes = counters.into_iter().map(|counter| counter.map(lane)).collect();
        Self { id, key, ring, lanes, spares: Spares::default() }
    }

    pub(super) fn layout(&self) -> Layout {
        self.ring.layout
    }

    pub(super) fn roster(&self) -> &Arc<Roster> {
        &self.ring.roster
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        self.ring.roster.snapshot()
    }

    /// Whether this key has a counter in the slot, neither retired nor quarantined.
    pub(super) fn can_ask(&self, snapshot: &Snapshot, slot: SlotIndex) -> bool {
        let pardon = snapshot.standing(slot).pardon;
        self.lane(slot).is_some_and(|lane| lane.bar.load().as_ref().is_none_or(|bar| bar.is_lifted(pardon)))
    }

    /// Whether an earlier ask of this slot is still unanswered after its refill went on without it.
    pub(super) fn is_late(&self, slot: SlotIndex) -> bool {
        self.lane(slot).is_some_and(|lane| lane.late.load(Ordering::Relaxed) > 0)
    }

    pub(super) fn set_late(&self, slot: SlotIndex) {
        if let Some(lane) = self.lane(slot) {
            note_shared_write();
            lane.late.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn end_late(&self, slot: SlotIndex) {
        if let Some(lane) = self.lane(slot) {
            note_shared_write();
            lane.late.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The highest raw id known to be taken in this slot; 0 where nothing is known.
    pub(super) fn raw_position(&self, slot: SlotIndex) -> u64 {
        self.lane(slot).and_then(|lane| lane.counter.position()).unwrap_or(0)
    }

    /// The highest encoded id known to be taken in a live slot.
    pub(super) fn position(&self) -> Option<u64> {
        let snapshot = self.snapshot();
        let known = |slot: &SlotIndex| {
            let position = self.lane(*slot)?.counter.position()?;
            self.layout().encode(position, *slot)
        };
        snapshot.live().iter().filter(|slot| self.can_ask(&snapshot, **slot)).filter_map(known).max()
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
        let used = self.lane(slot)?.used.load(Ordering::Relaxed);
        if used == generation {
            return None;
        }
        let position = self.raw_position(slot);
        if used != NEVER_USED || rescue {
            return Some(self.front(snapshot)).filter(|front| *front > position);
        }
        let mut positions = self.positions(snapshot);
        positions.sort_unstable();
        let middle = positions.get(positions.len() / 2).copied().unwrap_or(0);
        (middle.saturating_sub(position) > LAG_MAX).then_some(middle)
    }

    /// Remembers that nothing has to be lifted until the slot is rescued again.
    pub(super) fn set_used(&self, slot: SlotIndex, generation: u64) {
        if let Some(lane) = self.lane(slot)
            && lane.used.load(Ordering::Relaxed) != generation
        {
            note_shared_write();
            lane.used.store(generation, Ordering::Relaxed);
        }
    }

    pub(super) async fn take(&self, slot: SlotIndex, want: u64) -> Result<Blocks, SourceError> {
        match self.lane(slot) {
            Some(lane) => lane.counter.take(want).await,
            None => Ok(Blocks::default()),
        }
    }

    pub(super) async fn lift(&self, slot: SlotIndex, floor: u64) -> Result<(), SourceError> {
        match self.lane(slot) {
            Some(lane) => lane.counter.lift(floor).await,
            None => Ok(()),
        }
    }

    /// The counter is at the end of its range: never asked again.
    pub(super) fn retire(&self, slot: SlotIndex, error: &SourceError) {
        if self.bar(slot, Bar { pardon: None, error: error.clone() }) {
            self.emit(Event::Retired { slot, key: self.key.clone() });
        }
    }

    /// The counter may repeat numbers: not asked until a person clears its slot, and what it left is dropped.
    pub(super) fn quarantine(&self, slot: SlotIndex, error: &SourceError) {
        let pardon = Some(self.snapshot().standing(slot).pardon);
        if self.bar(slot, Bar { pardon, error: error.clone() }) {
            let (kind, detail) = (error.kind(), error.to_string());
            self.emit(Event::Quarantined { slot, key: Some(self.key.clone()), kind, detail });
        }
    }

    /// Why this key's counter is not asked, if it is barred.
    pub(super) fn barred(&self, snapshot: &Snapshot, slot: SlotIndex) -> Option<SlotFailure> {
        let bar = self.lane(slot)?.bar.load_full()?;
        let in_force = !bar.is_lifted(snapshot.standing(slot).pardon);
        in_force.then(|| SlotFailure { slot, kind: bar.error.kind(), detail: bar.error.to_string() })
    }

    pub(super) fn has_counter(&self, slot: SlotIndex) -> bool {
        self.lane(slot).is_some()
    }

    /// Up to `want` ids that came too late for an earlier take, the lowest first.
    pub(super) fn use_spares(&self, want: u64) -> Vec<Piece> {
        if self.spares.is_empty() {
            return Vec::new();
        }
        let (snapshot, now) = (self.snapshot(), self.roster().env().clock.now());
        let is_good = |piece: &Piece| {
            snapshot.standing(piece.slot).state != SlotState::Quarantined
                && self
                    .barred(&snapshot, piece.slot)
                    .is_none_or(|bar| bar.kind == sequent_core::ErrorKind::Exhausted)
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
        let slots = pieces.iter().map(|piece| piece.slot).collect::<std::collections::BTreeSet<_>>();
        for slot in slots {
            let of_slot: Vec<Piece> = pieces.iter().filter(|piece| piece.slot == slot).copied().collect();
            self.emit(Event::Dropped { slot: Some(slot), count: count(&of_slot), why });
        }
    }

    fn positions(&self, snapshot: &Snapshot) -> Vec<u64> {
        let live = snapshot.live().iter().filter(|slot| self.can_ask(snapshot, **slot));
        live.map(|slot| self.raw_position(*slot)).collect()
    }

    /// Whether this is news.
    fn bar(&self, slot: SlotIndex, bar: Bar) -> bool {
        let Some(lane) = self.lane(slot) else { return false };
        let bar = Arc::new(bar);
        let was = lane.bar.rcu(|was| match was {
            Some(was) if !bar.replaces(was) => Some(Arc::clone(was)),
            _ => Some(Arc::clone(&bar)),
        });
        was.is_none_or(|was| bar.replaces(&was))
    }

    fn lane(&self, slot: SlotIndex) -> Option<&Lane> {
        self.lanes.get(usize::from(slot))?.as_ref()
    }

    fn emit(&self, event: Event) {
        self.roster().env().events.emit(event);
    }
}

impl Bar {
    fn is_lifted(&self, pardon: u64) -> bool {
        self.pardon.is_some_and(|under| under != pardon)
    }

    /// Retirement is for good; a quarantine is news only under a new pardon.
    fn replaces(&self, was: &Self) -> bool {
        match (was.pardon, self.pardon) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(was), Some(new)) => was != new,
        }
    }
}

impl Drop for KeyRing {
    fn drop(&mut self) {
        self.ring.forget(self.id);
        self.dropped(&self.spares.drop_up_to(u64::MAX), "late blocks of a key that is no longer used");
    }
}
