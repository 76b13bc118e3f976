//! Which counters are looked at, and what their cells are called.

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

/// How many counters that are doubted more is asked of.
const DOUBTED_MAX: usize = 64;

/// The ledger's rows by counter.
pub(crate) type Rows = BTreeMap<Counter, Row>;

impl Doctor<'_> {
    /// How far the epochs of counters can have come that row or cell have far on: what the ledger says elsewhere.
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
        let (limit, inspection) = (self.config.ring.health.attempt_timeout, &held.inspection);
        for counter in doubted {
            let Some(row) = rows.get(&counter) else { continue };
            let beside = |other: &Counter| other.key == counter.key && other.slot != counter.slot;
            let others = held.rows.iter().filter(|(other, _)| beside(other)).map(|(_, row)| row);
            let read =
                Plausibility::read(&*self.ledger, &counter, record.layout, (inspection.version, others));
            // Of one that can't be asked less is told.
            if let Ok(outside) = within(limit, "read a counter's history", read).await {
                likely.insert(counter.clone(), jumps::likely(row, &outside, inspection.clock_ms));
            }
        }
        likely
    }

    /// How far counters are by these rows, and where those without a row begin.
    pub(crate) async fn reaches(&self, held: &LedgerExamination) -> Reaches {
        let reaches = Reaches::of(&held.rows);
        let Some(record) = &held.layout else { return reaches };
        let limit = self.config.ring.health.attempt_timeout;
        let floor = floor(&*self.ledger, record.generation, limit).await;
        reaches.above(floor).following(self.followed(record.layout).await)
    }

    /// How far epochs follow other slots, by sequence; of those whose definition can't be read as far as of the widest.
    async fn followed(&self, layout: Layout) -> BTreeMap<String, u64> {
        let limit = self.config.ring.health.attempt_timeout;
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

    /// Up to where periods are over; `None` where the ledger does not tell.
    pub(crate) async fn fences(&self) -> Option<BTreeMap<Periods, u64>> {
        let limit = self.config.ring.health.attempt_timeout;
        within(limit, "read fences", self.ledger.notes()).await.ok().map(fences_among)
    }

    /// The keys that rows or definitions name: a cell of theirs without a row is what a row that is gone has left. Not those
    /// of periods that are over: their rows are forgotten, and nothing begins there again.
    pub(crate) async fn named(&self, reaches: &Reaches, fences: &BTreeMap<Periods, u64>) -> BTreeSet<Key> {
        let limit = self.config.ring.health.attempt_timeout;
        let mut named: BTreeSet<Key> = reaches.keys().filter(|key| !is_over(key, fences)).cloned().collect();
        // Without them fewer cells are looked at, and all else is as it was.
        if let Ok((_, defined)) = within(limit, "read definitions", self.ledger.definitions()).await {
            named.extend(
                defined.iter().take(collect::COUNTERS_MAX).map(|definition| Key::of(&definition.name)),
            );
        }
        named
    }
}

pub(crate) fn rows_of(held: Option<&LedgerExamination>) -> Rows {
    // An epoch that an operator began no store has heard of yet.
    let begun = |row: &&(Counter, Row)| !row.1.store.is_nobody();
    held.map(|held| held.rows.iter().filter(begun).cloned().collect()).unwrap_or_default()
}

/// The keys whose cells of this slot are compared.
pub(crate) fn keys_of(slot: SlotIndex, rows: &Rows) -> Vec<Key> {
    let of_slot = rows.keys().filter(|counter| counter.slot == slot);
    of_slot.take(collect::COUNTERS_MAX).map(|counter| counter.key.clone()).collect()
}

/// Up to where periods are over.
pub(crate) fn fences_among(notes: Vec<LedgerNote>) -> BTreeMap<Periods, u64> {
    let fence = |note: LedgerNote| match note.about {
        NoteSubject::PeriodsOver(periods) => Some((periods, note.to)),
        _ => None,
    };
    notes.into_iter().filter_map(fence).collect()
}

/// Whether a key is of a period behind a fence.
pub(crate) fn is_over(key: &Key, fences: &BTreeMap<Periods, u64>) -> bool {
    Fence::of(key).is_some_and(|own| fences.get(&own.periods).is_some_and(|to| *to >= own.to))
}

/// The keys whose cells of this slot are asked for: those with a row there, those of which its store alone told, and then those
/// named elsewhere alone.
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

/// What their cells are called under the layout in force.
pub(crate) fn cells_of(keys: &[Key], generation: u64) -> Vec<Key> {
    keys.iter().map(|key| key.in_generation(generation)).collect()
}
