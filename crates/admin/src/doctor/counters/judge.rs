//! Judgement of one counter: its cell against its row, its history and the key's other slots.

use sequent_core::{
    Epoch, InstanceId, Sight,
    ledger::{Counter, Row},
};
use sequent_engine::status::APART_MAX;

use super::rows::OtherSlots;
use crate::{
    doctor::findings::Kind,
    jumps::{Jump, jump},
};

/// Tolerance above a ceiling, in raw ids: the few blocks that a server may leave if it crashed during its
/// takes.
pub(super) const FEW_BLOCKS: u64 = 256;

/// Slots that take turns may differ by this part of the distance to a ceiling.
const AHEAD_PARTS: u64 = 100;

/// What is wrong with a counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    /// The finding, for people.
    pub(crate) text: String,
    /// More exact advice than the kind's; empty if there is none.
    pub(crate) advice: &'static str,
}

impl Fault {
    fn new(kind: Kind, text: String) -> Self {
        Self { kind, text, advice: "" }
    }
}

/// The instances of store and ledger that answer now. An epoch that was opened under others is over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instances<'a> {
    pub(crate) store: &'a InstanceId,
    pub(crate) ledger: &'a InstanceId,
}

/// What is known of a counter, beside its cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    /// The row, as read before the cell …
    pub(crate) before: &'a Row,
    /// … and after it.
    pub(crate) after: &'a Row,
    /// The key's other slots.
    pub(crate) others: Option<OtherSlots>,
    /// How far above its row an epoch at least follows them.
    pub(crate) followed: u64,
    /// How far the epoch can have come, by records other than row and cell; `None` if they were not read.
    pub(crate) bound: Option<u64>,
    /// The highest ceiling of the counter's ended epochs.
    pub(crate) ended: u64,
}

impl Known<'_> {
    /// The gravest fault; `None` if the counter is as it should be.
    pub(crate) fn judge(&self, sight: &Sight, now: Instances<'_>) -> Option<Fault> {
        let cell = CellState::of(sight);
        let is_in_force = cell.is_open && self.names(cell.epoch) && self.is_opened_under(now);
        let value = cell.value.unwrap_or(0);
        let at = if is_in_force { value } else { self.ceiling().max(value) };
        self.far_ahead(&cell)
            .or_else(|| self.behind(at, is_in_force, &cell))
            .or_else(|| self.above_ceiling(value))
            .or_else(|| {
                let room = self.after.ceiling.saturating_sub(at);
                let followed = (!cell.has_ids()).then(|| self.before.reached().saturating_add(self.followed));
                let found = behind_others(self.others?, (at, room), followed)?;
                Some(Fault { text: format!("it goes on above {at} ({cell}), and {}", found.text), ..found })
            })
            .or_else(|| flawed(sight))
            .or_else(|| self.new_epoch(&cell, now).filter(|_| !is_in_force))
    }

    fn ceiling(&self) -> u64 {
        self.before.ceiling.max(self.after.ceiling)
    }

    fn names(&self, epoch: Option<Epoch>) -> bool {
        epoch.is_some_and(|epoch| epoch == self.before.epoch || epoch == self.after.epoch)
    }

    fn is_opened_under(&self, now: Instances<'_>) -> bool {
        self.after.store == *now.store && self.after.ledger == *now.ledger
    }

    fn row(&self) -> String {
        let Row { base, seen, ceiling, .. } = self.after;
        format!("its row has base {base}, seen {seen}, ceiling {ceiling}")
    }

    fn far_ahead(&self, cell: &CellState) -> Option<Fault> {
        let Jump { text, advice } = jump(self.after, cell.value, self.bound)?;
        Some(Fault { kind: Kind::CounterFarAhead, text, advice })
    }

    /// No epoch begins below the ceiling of the one before, and no counter is below what its row knows of.
    fn behind(&self, at: u64, is_in_force: bool, cell: &CellState) -> Option<Fault> {
        let given = self.before.reached();
        let slack = if is_in_force { 0 } else { FEW_BLOCKS };
        let proven = match (given > at.saturating_add(slack), self.ended > at) {
            (false, false) => return None,
            (true, _) => format!("{given} was given"),
            (false, true) => format!("an epoch that has ended had the ceiling {}", self.ended),
        };
        let text = format!("it goes on above {at}, but {proven} ({cell}; {})", self.row());
        Some(Fault::new(Kind::CounterBehind, text))
    }

    fn above_ceiling(&self, value: u64) -> Option<Fault> {
        let ceiling = self.ceiling();
        let text = || format!("its cell is at {value}, above its ceiling {ceiling}");
        (value > ceiling.saturating_add(FEW_BLOCKS)).then(|| Fault::new(Kind::CounterAboveCeiling, text()))
    }

    fn new_epoch(&self, cell: &CellState, now: Instances<'_>) -> Option<Fault> {
        let text = match cell.epoch {
            // A server that is about to begin a counter writes a row that permits nothing.
            None if self.after.ceiling == 0 => return None,
            None => "it has no cell".to_owned(),
            Some(_) if self.after.store != *now.store => {
                "its epoch was opened in an earlier run of the store".to_owned()
            }
            Some(_) if self.after.ledger != *now.ledger => {
                "its epoch was opened in an earlier run of the ledger".to_owned()
            }
            Some(epoch) if !self.names(Some(epoch)) => {
                format!("its cell has epoch {epoch}, and its row epoch {}", self.after.epoch)
            }
            Some(epoch) => format!("its cell is closed for epoch {epoch}"),
        };
        Some(Fault::new(Kind::CounterNewEpoch, text))
    }
}

/// Judges a counter without a row, or with a row that permits nothing, which begins above `floor`. `others`:
/// the key's other slots, unless the counter never began.
pub(crate) fn judge_rowless(
    sight: &Sight,
    (floor, has_lost_row): (u64, bool),
    (others, followed): (Option<OtherSlots>, u64),
) -> Option<Fault> {
    let cell = CellState::of(sight);
    if cell.has_ids() {
        // A value up to the floor is never given again, even if the store forgets it.
        let value = cell.value.filter(|value| floor == 0 || *value > floor)?;
        let text = format!("its cell is at {value}, and the ledger has no row of it");
        return Some(Fault::new(Kind::CounterWithoutRow, text));
    }
    if cell.is_unreadable {
        return flawed(sight);
    }
    if let Some(others) = others {
        let found = behind_others(others, (floor, 0), Some(floor.saturating_add(followed)))?;
        return Some(Fault { text: format!("it has neither row nor cell, and {}", found.text), ..found });
    }
    // Servers close a cell only after the ledger has a row of it.
    (cell.value.is_some() && has_lost_row && floor == 0).then(|| {
        let text = "its cell is closed at 0, and the ledger has no row of it";
        Fault::new(Kind::CounterWithoutRow, text.to_owned())
    })
}

/// Judges a counter that goes on above `at`, with `room` below its ceiling, against the key's other slots.
/// `followed`: how far its next epoch follows them, if its cell has no ids. Servers trust a cell with ids.
///
/// Slots take turns, so each has given at least half of what any other has, up to a few blocks. Slots whose
/// epochs began above `at` skipped what a counter with ids has not given yet.
fn behind_others(others: OtherSlots, (at, room): (u64, u64), followed: Option<u64>) -> Option<Fault> {
    let OtherSlots { reached, base } = others;
    let apart = at.clamp(FEW_BLOCKS, APART_MAX.max(room / AHEAD_PARTS));
    if (followed.is_none() && base > at) || reached <= at.saturating_add(apart) {
        return None;
    }
    let is_beyond = followed.is_some_and(|followed| reached > followed);
    let kind = if is_beyond { Kind::CounterBehind } else { Kind::CounterBehindOtherSlots };
    Some(Fault::new(kind, format!("the key's counters in all other slots are at {reached} or more")))
}

/// A cell that no operation of ours left so.
fn flawed(sight: &Sight) -> Option<Fault> {
    match sight {
        Sight::Odd(what) => {
            Some(Fault::new(Kind::CounterUnreadable, format!("its counter can't be read: {what}")))
        }
        Sight::Held { expires_ms: Some(ms), .. } => {
            Some(Fault::new(Kind::CounterExpires, format!("its cell has a time to live: {ms} ms are left")))
        }
        Sight::Held { .. } | Sight::Missing => None,
    }
}

/// A cell, as far as it is read.
struct CellState {
    epoch: Option<Epoch>,
    /// `None` if there is no cell, or if it can't be read.
    value: Option<u64>,
    is_open: bool,
    is_unreadable: bool,
}

impl CellState {
    fn of(sight: &Sight) -> Self {
        match sight {
            Sight::Held { epoch, open, value, .. } => {
                Self { epoch: Some(*epoch), value: Some(*value), is_open: *open, is_unreadable: false }
            }
            Sight::Missing | Sight::Odd(_) => {
                let is_unreadable = matches!(sight, Sight::Odd(_));
                Self { epoch: None, value: None, is_open: false, is_unreadable }
            }
        }
    }

    /// Whether it shows that ids were given. A cell closed at 0 shows no more than a missing one.
    fn has_ids(&self) -> bool {
        self.is_open || self.value.is_some_and(|value| value > 0)
    }
}

impl std::fmt::Display for CellState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.value {
            _ if self.is_unreadable => f.write_str("its cell can't be read"),
            None => f.write_str("it has no cell"),
            Some(value) if self.is_open => write!(f, "its cell is at {value}"),
            Some(value) => write!(f, "its cell is closed at {value}"),
        }
    }
}

/// A counter, and what is wrong with it.
#[derive(Debug, Clone)]
pub(crate) struct Verdict {
    pub(crate) counter: Counter,
    pub(crate) fault: Fault,
    /// The cell's value; 0 if there is none.
    pub(crate) value: u64,
    pub(crate) row: Option<Row>,
    /// The least number to advance to, so that the row is written again.
    pub(crate) to: Option<u64>,
}

impl Verdict {
    /// Whether the value was already above the present ceiling when it was read `before`. Otherwise a server
    /// has raised the ceiling meanwhile, and is at work.
    pub(crate) fn stays_above(&self, before: &[Self]) -> bool {
        let ceiling = self.row.as_ref().map_or(0, |row| row.ceiling);
        let was = before.iter().find(|before| before.counter == self.counter);
        was.is_some_and(|was| was.value > ceiling.saturating_add(FEW_BLOCKS))
    }
}
