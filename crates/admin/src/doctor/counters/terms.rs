//! What the ledger says beside its rows: the layout, definitions, periods that are over, and the floor that a
//! recovery left.

use std::collections::BTreeMap;

use sequent_core::{
    Key, Layout, LedgerExamination, Span,
    ledger::{Counter, Definition, Fence, LedgerNote, NoteSubject, Periods},
};
use sequent_engine::{Body, Timestamp, ledger_timeout::within};
use sequent_guard::JUMP_MAX;

use crate::{doctor::Doctor, named_floor::floor};

/// The share of its range by which an epoch at least follows the key's other slots, and at most 2^36.
const FOLLOWED_SHARE: u64 = 1000;

/// What bounds the counters, beside their rows.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    /// The layout in force.
    pub(crate) layout: Option<Layout>,
    /// Its generation.
    pub(crate) generation: u64,
    /// The floor: no counter without a row gives a raw id up to it.
    pub(crate) floor: u64,
    /// The periods that are over; `None` if they could not be read.
    pub(crate) fences: Option<BTreeMap<Periods, u64>>,
    /// The keys of defined sequences.
    pub(crate) defined: Vec<Key>,
    /// The arithmetic of each sequence as it is in effect.
    pub(crate) spans: BTreeMap<String, Span>,
}

impl Doctor<'_> {
    /// Reads the terms. Definitions that can't be read are left out: then fewer cells are examined, and no
    /// number to advance to is named.
    pub(crate) async fn terms(&self, held: Option<&LedgerExamination>) -> Terms {
        let Some(record) = held.and_then(|held| held.layout.as_ref()) else {
            return Terms { generation: 1, ..Terms::default() };
        };
        let limit = self.limit();
        let fences = within(limit, "read fences", self.ledger.notes()).await.ok().map(fences_among);
        let read = within(limit, "read definitions", self.ledger.definitions()).await;
        let defined = read.map(|(_, defined)| defined).unwrap_or_default();
        Terms {
            layout: Some(record.layout),
            generation: record.generation,
            floor: floor(&*self.ledger, record.generation, limit).await,
            fences,
            defined: defined.iter().map(|definition| Key::of(&definition.name)).collect(),
            spans: self.spans(&defined),
        }
    }

    fn spans(&self, defined: &[Definition]) -> BTreeMap<String, Span> {
        let now = i64::try_from(self.options.env.clock.wall_ms()).ok();
        let now = now.and_then(|now| Timestamp::from_millisecond(now).ok()).unwrap_or_default();
        let of = |held: &Definition| {
            let body = Body::from_text(&held.body).ok()?;
            Some((held.name.to_string(), body.in_effect(held.version, now).1.span()))
        };
        defined.iter().filter_map(of).collect()
    }
}

impl Terms {
    /// How far above its row an epoch of this key at least follows the key's other slots.
    pub(crate) fn followed(&self, key: &Key) -> u64 {
        let raw_max =
            self.spans.get(key.sequence()).zip(self.layout).map(|(span, layout)| span.raw_max(layout));
        raw_max.map_or(JUMP_MAX, |raw_max| (raw_max / FOLLOWED_SHARE).min(JUMP_MAX))
    }

    /// The least number to advance to so that the counter's row, which is at `claim`, is written again. An
    /// advance to less leaves the row as it is.
    pub(crate) fn least_advance(&self, counter: &Counter, claim: u64) -> Option<u64> {
        let span = self.spans.get(counter.key.sequence())?;
        let layout = self.layout?;
        let number = span.number_at(layout, layout.place_of(claim.checked_add(1)?, counter.slot)?);
        (number <= span.limit()).then_some(number)
    }
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
