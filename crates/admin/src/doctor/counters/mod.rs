//! Each counter's cell compared with its row: the value against ceiling, base and what servers have reported.
//!
//! Reading order: `keys` (which counters), `high_water`, `jumps`, `missing_cells`, `history_bounds` (what is found), `recheck`
//! (whether it stays), `suggested_advance` and `meaning` (what to do).

pub(crate) mod high_water;
pub(crate) mod history_bounds;
pub(crate) mod jumps;
pub(crate) mod keys;
pub(crate) mod meaning;
mod missing_cells;
pub(crate) mod recheck;
mod suggested_advance;
pub(crate) mod unlisted_cells;

use std::collections::BTreeMap;

use sequent_core::{
    InstanceId, Sight,
    ledger::{Counter, Row},
};

use high_water::Reaches;
use history_bounds::{Elsewhere, judge_past};
use jumps::judge_far;
use missing_cells::{judge_lagging, judge_lowered, judge_missing, judge_unbegun};

/// Tolerance above a ceiling, in raw ids: the few blocks that a server may leave if it crashed during its
/// takes.
pub(super) const FEW_BLOCKS: u64 = 256;

/// The kinds of findings about a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    FarBoth,
    FarRow,
    Rowless,
    Lowered,
    BelowPast,
    FarBehind,
    FarUnbegun,
    SetBack,
    Leapt,
    FarCeiling,
    StaysAbove,
    Overtaken,
    Above,
    OtherEpoch,
    Odd,
    Fleeting,
    Behind,
    Unbegun,
    Lagging,
    Vanished,
    Reborn,
    Closed,
}

/// A counter, and what was found about it.
#[derive(Debug, Clone)]
pub(super) struct Verdict {
    pub(super) counter: Counter,
    pub(super) kind: Kind,
    /// The finding, for people.
    pub(super) text: String,
    /// The cell's value and ceiling.
    at: (u64, u64),
    /// How far the counter is, by its own row; 0 without a row.
    pub(super) claim: u64,
    /// The least number to advance to, so that the row is written again; `None` until it is computed.
    pub(super) to: Option<u64>,
}

impl Verdict {
    /// Whether the value is above its ceiling by more than a few blocks.
    pub(super) fn is_far_above(&self) -> bool {
        let (value, ceiling) = self.at;
        matches!(self.kind, Kind::Above | Kind::Overtaken) && value > ceiling.saturating_add(FEW_BLOCKS)
    }

    /// The verdict after the second read. A value above the ceiling in both reads stays above: a server would
    /// have raised the ceiling in between, so it never will.
    pub(super) fn staying(mut self, before: &[Self]) -> Self {
        let (_, ceiling) = self.at;
        let was = before.iter().find(|before| before.counter == self.counter);
        if self.kind == Kind::Above
            && self.is_far_above()
            && was.is_some_and(|was| was.at.0 > ceiling.saturating_add(FEW_BLOCKS))
        {
            self.kind = Kind::StaysAbove;
        }
        self
    }
}

/// The instances of store and ledger that answer now. An epoch that was opened under others is over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Speaks<'a> {
    pub(super) store: &'a InstanceId,
    pub(super) ledger: &'a InstanceId,
}

/// A counter's row, as read before and after its cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) before: &'a Row,
    pub(super) after: &'a Row,
    /// How far the key is in other slots, by their rows; `None` if no other slot has a row.
    pub(super) others: Option<u64>,
    /// The lowest of these.
    pub(super) least: Option<u64>,
    /// The lowest base among the epochs of these slots.
    pub(super) begun: u64,
    /// How far above its row an epoch may begin if only other slots bound it.
    pub(super) followed: u64,
    /// How far the epoch can have come, by records other than row and cell; `None` if they were not read.
    pub(super) reach: Option<u64>,
    /// The highest ceiling of the counter's ended epochs.
    pub(super) ended: u64,
}

impl Kind {
    /// All kinds.
    #[cfg(test)]
    pub(super) const ALL: [Self; 22] = [
        Self::FarBoth,
        Self::FarRow,
        Self::Rowless,
        Self::Lowered,
        Self::BelowPast,
        Self::FarBehind,
        Self::FarUnbegun,
        Self::SetBack,
        Self::Leapt,
        Self::FarCeiling,
        Self::StaysAbove,
        Self::Overtaken,
        Self::Above,
        Self::OtherEpoch,
        Self::Odd,
        Self::Fleeting,
        Self::Behind,
        Self::Unbegun,
        Self::Lagging,
        Self::Vanished,
        Self::Reborn,
        Self::Closed,
    ];

    /// Whether a value was set far ahead by hand.
    pub(super) fn is_far(self) -> bool {
        matches!(self, Self::FarBoth | Self::FarRow | Self::FarCeiling | Self::Leapt)
    }

    /// Whether running servers pass through this state: a second read may no longer find it.
    pub(super) fn passes(self) -> bool {
        // An epoch is in the ledger before its cell is in the store, and a cell may be closed first.
        let is_begun = matches!(self, Self::Vanished | Self::Lowered | Self::Behind | Self::FarBehind);
        let is_unbegun = matches!(self, Self::Unbegun | Self::FarUnbegun | Self::Rowless | Self::Lagging);
        let is_moved = matches!(self, Self::Above | Self::Overtaken | Self::OtherEpoch | Self::Closed);
        is_begun || is_unbegun || is_moved || self == Self::BelowPast
    }
}

/// Judges one cell; `None` if it is as it should be.
pub(super) fn judge(rows: Rows<'_>, sight: &Sight, speaks: Speaks<'_>) -> Option<(Kind, String)> {
    let found = judge_lasting(rows, sight, speaks);
    let found = past_or(lagging_or(found, rows, sight), rows, (sight, speaks));
    match (&found, sight) {
        // A time to live ranks below a possible repeat, and above a fault that the next use repairs.
        (
            None | Some((Kind::Above | Kind::Reborn | Kind::Closed, _)),
            Sight::Held { expires_ms: Some(ms), .. },
        ) => Some((Kind::Fleeting, format!("it has a time to live: {ms} ms are left"))),
        _ => found,
    }
}

/// A verdict by ended epochs outranks the comparison of row and cell, but not a value that was set far ahead
/// by hand.
fn past_or(
    found: Option<(Kind, String)>,
    rows: Rows<'_>,
    (sight, speaks): (&Sight, Speaks<'_>),
) -> Option<(Kind, String)> {
    let is_far = found.as_ref().is_some_and(|(kind, _)| kind.is_far());
    if is_far { found } else { judge_past(rows, sight, speaks).or(found) }
}

/// A fault that the next use repairs ranks below a possible repeat. If row and cell agree, they are compared
/// with the key's other slots.
fn lagging_or(found: Option<(Kind, String)>, rows: Rows<'_>, sight: &Sight) -> Option<(Kind, String)> {
    let Sight::Held { value, .. } = sight else { return found };
    let at = match found {
        None => *value,
        Some((Kind::Reborn | Kind::OtherEpoch | Kind::Closed, _)) => rows.after.ceiling.max(*value),
        _ => return found,
    };
    judge_lagging(rows, at).or(found)
}

/// The verdict without regard to the cell's time to live.
fn judge_lasting(rows: Rows<'_>, sight: &Sight, speaks: Speaks<'_>) -> Option<(Kind, String)> {
    let Rows { before, after, .. } = rows;
    let value = if let Sight::Held { value, .. } = sight { *value } else { 0 };
    if let Some(far) = judge_far(rows, value) {
        return Some(far);
    }
    // A cell closed at zero shows no more than a missing one.
    if let Sight::Held { open: false, value: 0, .. } = sight
        && let Some(lowered) = judge_lowered(rows, "its cell is closed at 0")
    {
        return Some(lowered);
    }
    let (epoch, open, value) = match sight {
        Sight::Missing => return judge_missing(rows),
        Sight::Odd(what) => return Some((Kind::Odd, format!("what stands there no verb has left: {what}"))),
        Sight::Held { epoch, open, value, .. } => (*epoch, *open, *value),
    };
    let ceiling = after.ceiling.max(before.ceiling);
    let over = |kind, text: String| {
        // The next epoch begins above the cell while the cell exists. Once it is gone, only the ceiling
        // bounds it.
        if value > ceiling.saturating_add(FEW_BLOCKS) {
            let text = format!("{text}, and its value {value} is above its ceiling {ceiling}");
            return Some((Kind::Overtaken, text));
        }
        Some((kind, text))
    };
    for (of, who, now) in [(&after.store, "store", speaks.store), (&after.ledger, "ledger", speaks.ledger)] {
        if of != now {
            return over(Kind::Reborn, format!("its epoch was opened in an earlier run of the {who}"));
        }
    }
    if epoch != before.epoch && epoch != after.epoch {
        let text = format!("its cell is of epoch {epoch}, the ledger names epoch {}", after.epoch);
        return over(Kind::OtherEpoch, text);
    }
    if !open {
        return over(Kind::Closed, format!("its cell is closed for epoch {epoch}"));
    }
    let given = before.reached();
    if epoch == before.epoch && value < given {
        return Some((Kind::SetBack, format!("its value is {value}, and {given} was given already")));
    }
    (value > ceiling).then(|| (Kind::Above, format!("its value {value} is above its ceiling {ceiling}")))
}

/// Judges a counter without a row, or with a row that permits nothing. A cell closed at zero counts as
/// missing.
fn judge_rowless(
    sight: &Sight,
    (floor, has_lost_row): (u64, bool),
    (least, followed): (Option<u64>, u64),
) -> Option<(Kind, String)> {
    match (sight, least) {
        (Sight::Missing | Sight::Held { open: false, value: 0, .. }, Some(least)) => {
            judge_unbegun(floor, (least, followed))
        }
        // Servers close a cell only after the ledger has a row of it.
        (Sight::Held { open: false, value: 0, .. }, None) if has_lost_row && floor == 0 => {
            let text = "its cell is closed at 0, and the ledger has lost its row: how far it was nothing tells any more";
            Some((Kind::Rowless, text.to_owned()))
        }
        (Sight::Missing | Sight::Held { open: false, value: 0, .. }, None) => None,
        (Sight::Odd(_) | Sight::Held { .. }, _) => judge_stray(sight, floor),
    }
}

/// Judges a cell without a row. A value up to the floor is never given again, even if the store forgets it.
fn judge_stray(sight: &Sight, floor: u64) -> Option<(Kind, String)> {
    let Sight::Held { open, value, .. } = sight else { return None };
    let text = || {
        format!(
            "its cell is at {value}, and the ledger has no row of it: if the store forgets, raw ids up to {value} come again"
        )
    };
    let is_covered = floor > 0 && *value <= floor;
    ((*open || *value > 0) && !is_covered).then(|| (Kind::Rowless, text()))
}

/// Judges the counters of a slot by the rows read before and after the cells.
pub(super) fn judge_all<'a>(
    cells: impl Iterator<Item = (&'a Counter, &'a Sight)>,
    (before, after): (&BTreeMap<Counter, Row>, &BTreeMap<Counter, Row>),
    (reaches, elsewhere): (&Reaches, &Elsewhere),
    speaks: Speaks<'_>,
) -> Vec<Verdict> {
    let verdict = |(counter, sight): (&'a Counter, &'a Sight)| {
        let (others, reach) = (reaches.beside(counter), elsewhere.likely.get(counter).copied());
        let ended = elsewhere.ended.get(counter).copied().unwrap_or(0);
        let (least, followed) = (reaches.least_beside(counter), reaches.followed(&counter.key));
        let begun = reaches.begun_beside(counter);
        let rows = (before.get(counter), after.get(counter));
        let (kind, text) = match rows {
            (Some(before), Some(after)) => {
                judge(Rows { before, after, others, least, begun, followed, reach, ended }, sight, speaks)?
            }
            (None, None) if reaches.lacks(counter) => {
                let lost = (reaches.floor, reaches.has_lost(counter));
                judge_rowless(sight, lost, (reaches.least_beside_lost(counter), followed))?
            }
            // A row that appeared or disappeared in between can't be used.
            _ => return None,
        };
        let value = if let Sight::Held { value, .. } = sight { *value } else { 0 };
        let ceiling = [rows.0, rows.1].into_iter().flatten().map(|row| row.ceiling).max().unwrap_or(0);
        let claim = rows.1.map_or(0, Row::reached);
        // The row must also be rewritten above what its history proves.
        let claim = if kind == Kind::BelowPast { claim.max(ended.saturating_sub(1)) } else { claim };
        Some(Verdict { counter: counter.clone(), kind, text, at: (value, ceiling), claim, to: None })
    };
    cells.filter_map(verdict).collect()
}
