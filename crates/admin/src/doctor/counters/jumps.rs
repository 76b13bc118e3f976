//! Counters that were set far ahead by hand: beyond what can have been taken.

use std::collections::BTreeMap;

use sequent_core::{
    Sight,
    ledger::{Counter, Row},
};
use sequent_guard::Plausibility;

use super::{Kind, Rows, high_water::Reaches};

pub(crate) use sequent_guard::LEAP_MAX;

/// The most raw ids a second taken from one counter over long. Servers tolerate more, since a finding costs
/// nothing.
pub(crate) const PER_SECOND_MAX: u64 = 1 << 24;

/// Detects a value set far ahead by hand: the row, its ceiling alone, the cell, or the cell with one of
/// these.
///
/// Row and cell do not prove each other, and a ceiling proves neither. The proof is in the key's other slots,
/// because the ring keeps them together and `advance` moves all of them. Further proof is
/// [outside](Plausibility) of both.
pub(crate) fn judge_far(rows: Rows<'_>, value: u64) -> Option<(Kind, String)> {
    let Rows { before, after, others, reach, .. } = rows;
    let Row { base, seen, ceiling, .. } = *after;
    let claim = base.max(seen);
    let is_far = |at: u64, known: u64| at > known.saturating_add(LEAP_MAX);
    let likely = reach.unwrap_or(u64::MAX);
    let far_row = is_far(claim, likely) || others.is_some_and(|others| is_far(claim, others.max(value)));
    // Another row may also have been set by hand.
    let known = if far_row { likely.min(others.unwrap_or(likely)) } else { claim };
    let far_cell = is_far(value, known);
    let far_ceiling = is_far(ceiling, if far_cell { known } else { known.max(value) });
    let row = || {
        let beside = match others {
            Some(others) if is_far(claim, others) => format!("the key's other slots, at {others} at most"),
            _ => format!("all that it can have come to, {likely}"),
        };
        format!(
            "the ledger's row says that it is at {claim} (base {base}, seen {seen}), far above its cell, at {value}, and {beside}"
        )
    };
    match (far_row, far_ceiling, far_cell) {
        (true, _, true) | (_, true, true) => {
            let text = format!(
                "its value {value} and the ledger's row of it (base {base}, seen {seen}, ceiling {ceiling}) are both far above all \
                 else that is known of it, {known}"
            );
            Some((Kind::FarBoth, text))
        }
        (true, ..) => Some((Kind::FarRow, row())),
        (_, true, _) => {
            let known = known.max(value);
            Some((
                Kind::FarCeiling,
                format!("its ceiling {ceiling} is far above all that is known of it, {known}"),
            ))
        }
        (.., true) => {
            let ceiling = ceiling.max(before.ceiling);
            let than = if is_far(value, ceiling) { ceiling } else { known };
            let what = if than == ceiling { "its ceiling" } else { "what was given" };
            Some((Kind::Leapt, format!("its value {value} is far above {what} {than}")))
        }
        _ => None,
    }
}

/// How far the epochs of some counters can have come, by records other than row and cell.
pub(crate) type Likely = BTreeMap<Counter, u64>;

/// The counters with a row or cell so high that their history must be read: at most `most`.
pub(crate) fn doubted<'a>(
    cells: impl Iterator<Item = (&'a Counter, &'a Sight)>,
    rows: &BTreeMap<Counter, Row>,
    reaches: &Reaches,
    most: usize,
) -> Vec<Counter> {
    let is_doubted = |(counter, sight): &(&'a Counter, &'a Sight)| {
        let value = if let Sight::Held { value, .. } = sight { *value } else { 0 };
        let beside = reaches.least_beside(counter).unwrap_or(0).saturating_add(LEAP_MAX);
        rows.get(counter).is_some_and(|row| row.reached().max(value) > beside)
    };
    cells.filter(is_doubted).take(most).map(|(counter, _)| counter.clone()).collect()
}

/// How far a counter's epoch can have come by `clock_ms` of the ledger's clock.
pub(crate) fn likely(row: &Row, outside: &Plausibility, clock_ms: u64) -> u64 {
    outside.reach(row, clock_ms, PER_SECOND_MAX)
}
