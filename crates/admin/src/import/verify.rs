//! Verification of an import: whether the other system moved past what was imported. It changes nothing.

use std::collections::HashMap;

use sequent_engine::{Engine, EngineError, foreign::Table};

use super::{
    Action, Choice, Standing, VerifiedCounter, VerifyReport,
    plan::{Known, PlanFacts, Planned, check_choice, named},
};

/// Compares two readings of the other system, one after the other, with the sequences.
///
/// # Errors
///
/// Errors of the ledger.
pub async fn verify(
    engine: &Engine,
    (first, second): (&[Table], &[Table]),
    choice: &Choice,
) -> Result<VerifyReport, EngineError> {
    check_choice(choice)?;
    // The room that was left at the import is in the sequences.
    let choice = Choice { ahead: 0, ..choice.clone() };
    let read = |tables| named(choice.counters(tables), &choice, PlanFacts::of(engine));
    let of = |planned: &Planned| (planned.shown.source.clone(), planned.shown.counter.clone());
    let before: HashMap<(String, String), u64> =
        read(first).into_iter().map(|planned| (of(&planned), planned.next)).collect();
    let known = Known::of(engine).await?;
    let mut counters = Vec::new();
    for planned in read(second) {
        let moves = before.get(&of(&planned)).is_some_and(|before| *before < planned.next);
        counters.push(verified(engine, (&known, &choice), &planned, moves).await?);
    }
    Ok(VerifyReport { counters })
}

async fn verified(
    engine: &Engine,
    (known, choice): (&Known, &Choice),
    planned: &Planned,
    moves: bool,
) -> Result<VerifiedCounter, EngineError> {
    let shown = &planned.shown;
    let found = VerifiedCounter {
        source: shown.source.clone(),
        counter: shown.counter.clone(),
        sequence: shown.sequence.clone(),
        standing: Standing::Unread,
        moves,
        last: shown.to,
        to: None,
        gap: 0,
        note: shown.note.clone(),
    };
    if shown.action == Action::Refused {
        return Ok(found);
    }
    let existing = match known.existing(engine, planned).await {
        Ok(existing) => existing,
        Err(error) => return Ok(VerifiedCounter { note: Some(error.to_string()), ..found }),
    };
    let Some(existing) = existing else {
        return Ok(VerifiedCounter { standing: Standing::Missing, ..found });
    };
    let is_other = existing.template != shown.template;
    let why = is_other
        .then(|| "the sequence has another template".to_owned())
        .or_else(|| existing.other_zone(choice.zone()))
        .or_else(|| planned.other_layout(existing.numbering, engine.cluster().layout()));
    if why.is_some() {
        return Ok(VerifiedCounter { note: why, ..found });
    }
    // Next numbers are compared: a last number of 0 is another thing than none. What the sequence gave itself is no floor:
    // numbers of both systems may be among it.
    let (next, first) = (planned.next, existing.first(planned.resets));
    let next = if planned.resets { next.max(1) } else { next };
    let standing = if next > first { Standing::Passed } else { Standing::Kept };
    Ok(VerifiedCounter {
        standing,
        to: first.checked_sub(1),
        gap: next.abs_diff(first) / shown.step,
        ..found
    })
}
