//! Counters without a cell. The next epoch begins by the ledger's rows, which may have been lowered or deleted by hand.
//!
//! If the cell is missing or empty, then servers begin no lower than the key's other slots, within half of a
//! leap. If the cell has a value, then servers trust it. Therefore a cell and a row that were lowered
//! together are found only by comparing the other slots.

use sequent_core::ledger::Row;
use sequent_engine::status::APART_MAX;

use super::{FEW_BLOCKS, Kind, Rows, jumps::LEAP_MAX};

/// The least share of its range by which a counter's epoch follows other slots, and at most 2^36.
const SHARE: u64 = 1000;

/// Slots that take turns may differ by this part of the distance to a ceiling.
const AHEAD_PARTS: u64 = 100;

/// The least distance above its row by which an epoch follows the key's other slots, in a range of so many
/// raw ids.
pub(crate) fn followed_in(raw_max: u64) -> u64 {
    (raw_max / SHARE).min(LEAP_MAX)
}

/// The largest normal distance behind the key's other slots, while they take turns. In a small range takes
/// are small.
fn apart_max(followed: u64) -> u64 {
    APART_MAX.min(followed.max(FEW_BLOCKS))
}

/// Judges a counter that has a row and no cell.
pub(crate) fn judge_missing(rows: Rows<'_>) -> Option<(Kind, String)> {
    let gone = || has_given(rows.after).then(|| (Kind::Vanished, "there is no cell of it".to_owned()));
    judge_lowered(rows, "there is no cell of it").or_else(gone)
}

/// Judges a counter whose cell has no value, because of `why`. Its next epoch begins by its row, which may
/// have been lowered by hand.
pub(crate) fn judge_lowered(rows: Rows<'_>, why: &str) -> Option<(Kind, String)> {
    let Rows { before, after, least, followed, .. } = rows;
    let given = before.reached();
    let ceiling = after.ceiling.max(before.ceiling);
    if given > ceiling.saturating_add(FEW_BLOCKS) {
        let text = format!(
            "{why}, and the ledger's row has a ceiling of {ceiling}, below {given}, which it says was given"
        );
        return Some((Kind::Lowered, text));
    }
    let least = least.unwrap_or(0);
    if least <= ceiling.saturating_add(apart_max(followed)) {
        return None;
    }
    let is_followed = least <= given.saturating_add(followed);
    let kind = if is_followed { Kind::Behind } else { Kind::FarBehind };
    let text = format!(
        "{why}, and its ceiling {ceiling} in the ledger is far below the key's other slots, at {least} at least"
    );
    Some((kind, text))
}

/// Judges a counter whose row and cell agree, and that continues above `at`. Both may have been lowered
/// together, so it is compared with the key's other slots.
///
/// Slots take turns, so each has given at least half of what any other has, up to a few blocks. Slots whose
/// epochs began above `at` are not compared: they skipped what this counter has not given yet.
pub(crate) fn judge_lagging(rows: Rows<'_>, at: u64) -> Option<(Kind, String)> {
    let Rows { after, least, begun, .. } = rows;
    let least = least.filter(|_| begun <= at)?;
    let ahead = after.ceiling.saturating_sub(at) / AHEAD_PARTS;
    let apart = at.clamp(FEW_BLOCKS, APART_MAX.max(ahead));
    (least > at.saturating_add(apart)).then(|| {
        let text = format!(
            "by its row and its cell it goes on above {at}, far below the key's other slots, at {least} at least, each of them"
        );
        (Kind::Lagging, text)
    })
}

/// Whether anything can have been given by this row. A server that is about to begin a counter writes a row
/// that permits nothing.
fn has_given(row: &Row) -> bool {
    row.ceiling > 0
}

/// Judges a counter without row and cell, which begins above `floor`, against the key's other slots.
pub(crate) fn judge_unbegun(floor: u64, (least, followed): (u64, u64)) -> Option<(Kind, String)> {
    let kind = match least.saturating_sub(floor) {
        behind if behind <= apart_max(followed) => return None,
        behind if behind <= followed => Kind::Unbegun,
        _ => Kind::FarUnbegun,
    };
    let text = format!(
        "it has neither row nor cell, and the key's other slots are at {least} at least, each of them"
    );
    Some((kind, text))
}
