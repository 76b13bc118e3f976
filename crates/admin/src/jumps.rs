//! The one rule of jumps: values so far ahead that no server can have come there. They were set by hand, or by
//! a broken disk.

use std::time::Duration;

use sequent_core::{
    Condition, Layout, SourceError,
    ledger::{Counter, Ledger, LedgerInspection, Row},
};
use sequent_engine::{data::jump_advice, ledger_timeout::within};
use sequent_guard::{JUMP_MAX, Plausibility};

/// The most raw ids a second taken from one counter over long. Servers tolerate more, since a finding costs
/// nothing.
const PER_SECOND_MAX: u64 = 1 << 24;

/// A row or a cell that is far ahead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Jump {
    /// What is far ahead, and of what.
    pub(crate) text: String,
    /// What to do.
    pub(crate) advice: &'static str,
}

/// How far a counter's epoch can have come, by records other than row and cell. `rows` has all rows of its key.
///
/// # Errors
///
/// Those of the ledger.
pub(crate) async fn bound(
    ledger: &dyn Ledger,
    (counter, row): (&Counter, &Row),
    rows: &[(Counter, Row)],
    (layout, inspection): (Layout, &LedgerInspection),
    limit: Duration,
) -> Result<u64, SourceError> {
    let others = rows.iter().filter(|(other, _)| other.key == counter.key && other != counter);
    let others = others.map(|(_, row)| row);
    let read = Plausibility::read(ledger, counter, layout, (inspection.version, others));
    let outside = within(limit, "read a counter's history", read).await?;
    Ok(outside.reach(row, inspection.clock_ms, PER_SECOND_MAX))
}

/// The row's claim may be 2^36 above its [`bound`], the cell's value 2^36 above that claim, and the ceiling
/// 2^36 above both. Row and cell do not prove each other: both may have been set by the same hand. Without a
/// bound the claim is believed.
pub(crate) fn jump(row: &Row, value: Option<u64>, bound: Option<u64>) -> Option<Jump> {
    let Row { base, seen, ceiling, .. } = *row;
    let (claim, at) = (row.reached(), value.unwrap_or(0));
    let is_far = |at: u64, known: u64| at > known.saturating_add(JUMP_MAX);
    let known = claim.min(bound.unwrap_or(u64::MAX));
    let (far_row, far_cell) = (is_far(claim, known), is_far(at, known));
    let far_ceiling = is_far(ceiling, if far_cell { known } else { known.max(at) });
    let (what, condition) = match (far_row, far_ceiling, far_cell) {
        (true, _, true) | (_, true, true) => ("its row and its cell are", Some(Condition::FarRowAndCell)),
        (true, _, false) => ("its row is", Some(Condition::FarRow)),
        (false, true, false) => ("its ceiling is", Some(Condition::FarCeiling)),
        (false, false, true) => ("its cell is", None),
        (false, false, false) => return None,
    };
    let cell = value.map_or_else(String::new, |value| format!("its cell is at {value}; "));
    let text = format!(
        "{what} far above {known}, the highest raw id that its other records show ({cell}its row has base {base}, seen {seen}, ceiling \
         {ceiling})"
    );
    Some(Jump { text, advice: jump_advice(condition) })
}
