//! What the ledger at hand has on record of its counters, and whether that can be what a copy had of them.

use std::collections::BTreeMap;

use sequent_core::{
    Key,
    ledger::{Counter, DenseRow, NoteSubject, Row},
};
use sequent_engine::{
    Body, EngineError,
    ledger_timeout::{of_ledger, within},
};

use super::shown;
use crate::{admin::Admin, named_floor::floor};

/// The most counters that are looked at, of each kind: where there are more, the fastest may be among the others.
const COUNTERS_MAX: usize = 1 << 16;

/// All counters of a ledger, and what time it is for them.
pub(super) struct Record {
    pub(super) rows: Vec<(Counter, Row)>,
    pub(super) dense: Vec<DenseRow>,
    /// By the ledger's clock, or by this process's where that is later.
    pub(super) now_ms: u64,
}

impl Record {
    pub(crate) async fn read(desk: &Admin) -> Result<Self, EngineError> {
        let (ledger, limit) = (desk.ledger(), desk.limit());
        let rows = within(limit, "read the rows", ledger.list(None, COUNTERS_MAX)).await;
        let rows = rows.map_err(|error| of_ledger(&error))?;
        let dense = within(limit, "read the dense counters", ledger.dense(None, COUNTERS_MAX)).await;
        let dense = dense.map_err(|error| of_ledger(&error))?;
        let opened = within(limit, "open the ledger", ledger.inspect()).await;
        let clock_ms = opened.map_err(|error| of_ledger(&error))?.clock_ms;
        Ok(Self { rows, dense, now_ms: clock_ms.max(desk.0.env.clock.wall_ms()) })
    }

    /// The same, its dense counters without what a recovery or an `advance` is known to have skipped. Where both did, the
    /// greater alone is left out, for the one may be in the other.
    pub(super) async fn without_skipped(
        self,
        desk: &Admin,
        bodies: &[(String, Body)],
    ) -> Result<Self, EngineError> {
        let (ledger, limit) = (desk.ledger(), desk.limit());
        let lost = floor(ledger, desk.0.record.generation, limit).await;
        let notes = within(limit, "read how far keys are advanced", ledger.notes()).await;
        let notes = notes.map_err(|error| of_ledger(&error))?;
        let advanced: BTreeMap<&Key, u64> = notes
            .iter()
            .filter_map(|note| match &note.about {
                NoteSubject::Advanced(key) => Some((key, note.to)),
                _ => None,
            })
            .collect();
        let given = |row: DenseRow| {
            let skipped = advanced.get(&row.key).and_then(|to| advanced_over(&row.key, *to, bodies));
            DenseRow { value: row.value.saturating_sub(skipped.unwrap_or(0).max(lost)), ..row }
        };
        Ok(Self { dense: self.dense.into_iter().map(given).collect(), ..self })
    }
}

/// How many numbers a dense counter has up to the one that it was advanced to.
fn advanced_over(key: &Key, to: u64, bodies: &[(String, Body)]) -> Option<u64> {
    let (_, body) = bodies.iter().find(|(sequence, _)| sequence == key.sequence())?;
    let span = body.span();
    Some(to.checked_sub(span.start())? / span.step() + 1)
}

/// Whether these counters, all of them, can be what a copy of this instant had.
///
/// # Errors
///
/// What speaks against it.
pub(super) fn check(
    rows: &[(Counter, Row)],
    dense: &[DenseRow],
    since_ms: u64,
    now_ms: u64,
) -> Result<(), String> {
    if since_ms > now_ms {
        return Err(format!("it is {} now: no copy is of a later instant", shown(now_ms)));
    }
    if rows.len() == COUNTERS_MAX || dense.len() == COUNTERS_MAX {
        return Err(format!(
            "more than {COUNTERS_MAX} counters are on record, too many to find the fastest: name --bump"
        ));
    }
    let begun = rows.iter().map(|(_, row)| row.opened_at_ms).chain(dense.iter().map(|row| row.begun_at_ms));
    match begun.max().filter(|latest| *latest > since_ms) {
        Some(latest) => Err(format!(
            "the ledger at hand has a counter whose epoch began at {}, so it is no copy of before: name when it was made",
            shown(latest)
        )),
        None => Ok(()),
    }
}
