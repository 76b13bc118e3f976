//! Selection of the counters to examine, and the names of their cells.

use std::collections::{BTreeMap, BTreeSet};

use sequent_core::{
    Examination, Key, Layout, LedgerExamination, SlotIndex,
    ledger::{Counter, Definition, Fence, LedgerNote, NoteSubject, Periods, Row},
};
use sequent_engine::{Body, Timestamp, ledger_timeout::within};
use sequent_guard::Plausibility;

use super::{
    high_water::Reaches,
    jumps::{self, Likely},
    missing_cells::followed_in,
    unlisted_cells::Strays,
};
use crate::{
    doctor::{Doctor, collect},
    named_floor::floor,
};

/// How many doubted counters have their history read.
const DOUBTED_MAX: usize = 64;

/// The ledger's rows by counter.
pub(crate) type Rows = BTreeMap<Counter, Row>;

impl Doctor<'_> {
    /// How far the epochs of counters with a high row or cell can have come, according to other records of
    /// the ledger.
    pub(crate) async fn likely(
        &self,
        held: &LedgerExamination,
        (seen, asked): (&[(SlotIndex, collect::Looked<Examination>)], &impl Fn(SlotIndex) -> Vec<Key>),
        (rows, reaches): (&Rows, &Reaches),
    ) -> Likely {
        let mut likely = Likely::new();
        let Some(record) = &held.layout else { return likely };
        let mut doubted: Vec<Counter> = Vec::new();
        for (slot, looked) in seen {
            let Ok(found) = &looked.found else { continue };
            let counters = counters_of(*slot, asked(*slot));
            let room = DOUBTED_MAX - doubted.len();
            doubted.extend(jumps::doubted(counters.iter().zip(&found.cells), rows, reaches, room));
        }
        let (limit, inspection) = (self.config.ring.attempt_timeout, &held.inspection);
        for counter in doubted {
            let Some(row) = rows.get(&counter) else { continue };
            let beside = |other: &Counter| other.key == counter.key && other.slot != counter.slot;
            let others = held.rows.iter().filter(|(other, _)| beside(other)).map(|(_, row)| row);
            let read =
                Plausibility::read(&*self.ledger, &counter, record.layout, (inspection.version, others));
            // If the history can't be read, the counter is left out.
            if let Ok(outside) = within(limit, "read a counter's history", read).await {
                likely.insert(counter.clone(), jumps::likely(row, &outside, inspection.clock_ms));
            }
        }
        likely
    }

    /// How far counters are by these rows, and the floor above which counters without a row begin.
    pub(crate) async fn reaches(&self, held: &LedgerExamination) -> Reaches {
        let reaches = Reaches::of(&held.rows);
        let Some(record) = &held.layout else { return reaches };
        let limit = self.config.ring.attempt_timeout;
        let floor = floor(&*self.ledger, record.generation, limit).await;
        reaches.above(floor).following(self.followed(record.layout).await)
    }

    /// How far epochs follow other slots, by sequence. A sequence whose definition can't be read follows as
    /// far as the widest does.
    async fn followed(&self, layout: Layout) -> BTreeMap<String, u64> {
        let limit = self.config.ring.attempt_timeout;
        let read = within(limit, "read definitions", self.ledger.definitions()).await;
        let now = i64::try_from(self.options.env.clock.wall_ms()).ok();
        let now = now.and_then(|now| Timestamp::from_millisecond(now).ok()).unwrap_or_default();
        let of = |held: &Definition| {
            let body = Body::from_text(&held.body).ok()?;
            let span = body.in_effect(held.version, now).1.span();
            Some((held.name.to_string(), followed_in(span.raw_max(layout))))
        };
        read.map(|(_, defined)| defined.iter().filter_map(of).collect()).unwrap_or_default()
    }

    /// The end of the periods that are over; `None` if the ledger can't be read.
    pub(crate) async fn fences(&self) -> Option<BTreeMap<Periods, u64>> {
        let limit = self.config.ring.attempt_timeout;
        within(limit, "read fences", self.ledger.notes()).await.ok().map(fences_among)
    }

    /// The keys that rows or definitions name. A cell of such a key without a row is what a lost row leaves.
    /// Periods that are over are excluded: their rows are forgotten, and nothing begins there again.
    pub(crate) async fn named(&self, reaches: &Reaches, fences: &BTreeMap<Periods, u64>) -> BTreeSet<Key> {
        let limit = self.config.ring.attempt_timeout;
        let mut named: BTreeSet<Key> = reaches.keys().filter(|key| !is_over(key, fences)).cloned().collect();
        // If definitions can't be read, fewer cells are examined. Nothing else changes.
        if let Ok((_, defined)) = within(limit, "read definitions", self.ledger.definitions()).await {
            named.extend(
                defined.iter().take(collect::COUNTERS_MAX).map(|definition| Key::of(&definition.name)),
            );
        }
        named
    }
}

pub(crate) fn rows_of(held: Option<&LedgerExamination>) -> Rows {
    // No store knows yet of an epoch that an operator began.
    let begun = |row: &&(Counter, Row)| !row.1.store.is_nobody();
    held.map(|held| held.rows.iter().filter(begun).cloned().collect()).unwrap_or_default()
}

/// The keys whose cells of this slot are compared with rows.
pub(crate) fn keys_of(slot: SlotIndex, rows: &Rows) -> Vec<Key> {
    let of_slot = rows.keys().filter(|counter| counter.slot == slot);
    of_slot.take(collect::COUNTERS_MAX).map(|counter| counter.key.clone()).collect()
}

/// The end of the periods that are over, from the ledger's notes.
pub(crate) fn fences_among(notes: Vec<LedgerNote>) -> BTreeMap<Periods, u64> {
    let fence = |note: LedgerNote| match note.about {
        NoteSubject::PeriodsOver(periods) => Some((periods, note.to)),
        _ => None,
    };
    notes.into_iter().filter_map(fence).collect()
}

/// Whether a key belongs to a period behind a fence.
pub(crate) fn is_over(key: &Key, fences: &BTreeMap<Periods, u64>) -> bool {
    Fence::of(key).is_some_and(|own| fences.get(&own.periods).is_some_and(|to| *to >= own.to))
}

/// The keys whose cells of this slot are read: first those with a row, then those that only the store listed,
/// then those named elsewhere only.
pub(crate) fn asked_of(
    slot: SlotIndex,
    (rows, reaches): (&Rows, &Reaches),
    (strays, named): (&Strays, &BTreeSet<Key>),
) -> Vec<Key> {
    let mut keys = keys_of(slot, rows);
    let room = collect::COUNTERS_MAX - keys.len();
    let is_known: BTreeSet<&Key> = strays.keys(slot).collect();
    let named = named.iter().filter(|key| !is_known.contains(key));
    let rowless = strays.keys(slot).chain(named);
    let rowless = rowless.filter(|key| reaches.lacks(&Counter { slot, key: (*key).clone() }));
    keys.extend(rowless.take(room).cloned());
    keys
}

pub(crate) fn counters_of(slot: SlotIndex, keys: Vec<Key>) -> Vec<Counter> {
    keys.into_iter().map(|key| Counter { slot, key }).collect()
}

/// The names of their cells under the layout in force.
pub(crate) fn cells_of(keys: &[Key], generation: u64) -> Vec<Key> {
    keys.iter().map(|key| key.in_generation(generation)).collect()
}
