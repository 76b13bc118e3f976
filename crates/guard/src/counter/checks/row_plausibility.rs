//! Plausibility check of a row. If it claims far more than can have been taken, it was written by hand or by a broken disk. It
//! is then neither joined nor followed, because a new epoch would make its claim permanent.
//!
//! The ceiling is judged against the row's `base` and `seen`. These two need evidence from outside the row:
//!
//! - `base` is judged by [evidence](crate::Plausibility) outside row and cell, since the same hand may have set both.
//! - `seen` is judged by the cell, from which all ids of the row's epoch were taken, and by the epoch's age.
//! - If the store has lost the cell, or is another instance and so perhaps an old copy, only the age counts.

use std::fmt;

use sequent_core::{
    Cell, Condition, ErrorKind, InstanceId, SourceError,
    ledger::{Counter, Row},
};

use crate::counter::{Guarded, State};
use crate::{jump_limit::JUMP_CAP, plausibility::Plausibility};

/// Text for an implausible row.
pub const DOUBTED_ROW: &str = "the ledger's row says that it is at";

/// Text for a cell as far ahead as its row, which is therefore no evidence.
pub const CELL_AS_FAR: &str = "and its cell is as far";

/// An upper bound of the raw ids per second that all servers together take from one counter: a jump each second.
const PER_SECOND_MAX: u64 = JUMP_CAP;

/// Why a row is implausible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Doubt {
    /// The part that is too far: the row, row and cell, or the row's ceiling.
    pub(crate) condition: Condition,
    /// The same as text, for people.
    pub(crate) text: String,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Evidence for judging a row's claim: used by servers and a resize.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence<'a> {
    /// The store's present instance.
    pub(crate) store: &'a InstanceId,
    /// The cell's value; `None` if there is no cell of the row's epoch.
    pub(crate) value: Option<u64>,
    /// The ledger's clock, in milliseconds since 1970.
    pub(crate) clock_ms: u64,
    /// Evidence outside row and cell.
    pub(crate) outside: Plausibility,
}

impl Evidence<'_> {
    /// The highest id that the counter can have reached in its epoch.
    fn reach(&self, row: &Row) -> u64 {
        let reach = self.outside.reach(row, self.clock_ms, PER_SECOND_MAX);
        // A named loss is in the row, and in no cell.
        self.by_cell(row).map_or(reach, |value| value.saturating_add(self.outside.lost).min(reach))
    }

    /// The cell's value as evidence. Another instance of the store may be an old copy, with less than was taken.
    fn by_cell(&self, row: &Row) -> Option<u64> {
        self.value.filter(|_| row.store == *self.store)
    }

    /// Why the row is implausible; `None` if it is plausible.
    pub(crate) fn against(&self, row: &Row) -> Option<Doubt> {
        self.against_base(row).or_else(|| self.against_seen(row))
    }

    fn against_base(&self, row: &Row) -> Option<Doubt> {
        if self.outside.explains_base(row) {
            return None;
        }
        let most = self.outside.base_max();
        let against = format!(
            "no epoch of it can have begun beyond {most}: earlier epochs, the key's other slots and advances are all lower"
        );
        Some(self.doubted(row, &against))
    }

    fn against_seen(&self, row: &Row) -> Option<Doubt> {
        let reach = self.reach(row);
        if row.reached() <= reach.saturating_add(JUMP_CAP) {
            return None;
        }
        let against = match self.by_cell(row) {
            Some(value) if value <= reach => {
                format!("its cell, from which all of this epoch was taken, is at {value}")
            }
            _ => format!("since its epoch was opened it can't have come beyond {reach}"),
        };
        Some(self.doubted(row, &against))
    }

    fn doubted(&self, row: &Row, against: &str) -> Doubt {
        let claim = row.reached();
        let is_as_far = self.value.is_some_and(|value| value.saturating_add(JUMP_CAP) >= claim);
        let condition = if is_as_far { Condition::FarRowAndCell } else { Condition::FarRow };
        let cell = if is_as_far { format!(", {CELL_AS_FAR}") } else { String::new() };
        let text = format!(
            "{DOUBTED_ROW} {claim}{cell}, but {against}: one of them was set by hand or by a broken disk, and is not used"
        );
        Doubt { condition, text }
    }
}

impl State {
    /// Whether a claim is so far above what was seen that it must be checked first.
    pub(in crate::counter) fn doubts(&self, claim: u64) -> bool {
        claim > self.seen.saturating_add(JUMP_CAP)
    }

    /// The evidence that this process has itself.
    fn outside(&self) -> Plausibility {
        Plausibility { known: self.seen, others: self.beside, ..Plausibility::default() }
    }
}

impl Guarded {
    /// Fails with `Jumped` if the row claims more than can have been taken. It reads the cell only if the claim is over 2^36
    /// above what this process knows, and asks the ledger only if row, cell and other slots disagree.
    pub(in crate::counter) async fn believe(
        &self,
        row: &Row,
        store: &InstanceId,
        clock_ms: u64,
    ) -> Result<(), SourceError> {
        if !self.state().doubts(row.reached()) {
            return Ok(());
        }
        let cell = Cell { key: &self.cell, under: store };
        let value = match self.shard.store().lift(cell, row.epoch, 0).await {
            Ok(value) => Some(value),
            Err(error) if error.kind() == ErrorKind::Regressed => None,
            Err(error) => return Err(self.instance_changed(store, error)),
        };
        // First without a call to the ledger.
        let outside = self.state().outside();
        if (Evidence { store, value, clock_ms, outside }).against(row).is_none() {
            return Ok(());
        }
        let outside =
            Plausibility { known: outside.known, ..self.shared.client.outside(&self.counter).await? };
        let Counter { slot, key } = &self.counter;
        match (Evidence { store, value, clock_ms, outside }).against(row) {
            None => Ok(()),
            Some(doubt) => {
                let context = format!("slot {slot} key {key}: {doubt}");
                Err(SourceError::new(ErrorKind::Jumped, context).with(doubt.condition))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sequent_core::Epoch;

    use super::*;

    fn row(base: u64, seen: u64) -> Row {
        let (store, ledger) = (InstanceId::new("s"), InstanceId::new("l"));
        Row {
            epoch: Epoch::from_stored(1),
            store,
            ledger,
            base,
            ceiling: seen + 2,
            seen,
            opened_at_ms: 9_000,
        }
    }

    fn is_believed(row: &Row, store: &str, value: Option<u64>, clock_ms: u64) -> bool {
        let outside = Plausibility::default();
        Evidence { store: &InstanceId::new(store), value, clock_ms, outside }.against(row).is_none()
    }

    #[test]
    fn time_tells_what_is_impossible_and_a_clock_that_was_set_back_does_not() {
        let row = row(5, 7);
        let reach = |clock_ms| Plausibility::default().reach(&row, clock_ms, PER_SECOND_MAX);
        assert_eq!(reach(9_000), 5 + PER_SECOND_MAX);
        assert_eq!(reach(12_500), 5 + 4 * PER_SECOND_MAX);
        assert_eq!(reach(8_999), u64::MAX);
    }

    #[test]
    fn the_cell_tells_in_its_own_run_and_time_tells_everywhere() {
        let (far, near) = (row(5, 9 * JUMP_CAP), row(5, JUMP_CAP));
        assert!(!is_believed(&far, "s", Some(7 * JUMP_CAP), 99_000), "nobody took it from there");
        assert!(is_believed(&far, "s", Some(8 * JUMP_CAP), 99_000));
        assert!(
            !is_believed(&far, "s", Some(8 * JUMP_CAP), 9_000),
            "within a second: the cell is a hand's work, too"
        );
        assert!(!is_believed(&far, "another", Some(8 * JUMP_CAP), 9_000), "the same");
        assert!(is_believed(&far, "s", Some(8 * JUMP_CAP), 8_999), "a clock that was set back");
        assert!(is_believed(&far, "another", Some(1), 99_000), "an old copy");
        assert!(is_believed(&far, "another", None, 99_000), "it forgot");
        assert!(!is_believed(&far, "another", None, 9_000), "within a second");
        assert!(is_believed(&near, "s", Some(5), 9_000), "no further than a jump");
    }

    #[test]
    fn a_base_is_judged_by_what_lies_outside_of_row_and_cell() {
        let far = row(9 * JUMP_CAP, 9 * JUMP_CAP);
        for (store, value) in [("s", Some(9 * JUMP_CAP)), ("s", None), ("another", None)] {
            assert!(!is_believed(&far, store, value, 99_000), "{store} {value:?}");
        }
        let judged = |outside, row: &Row| {
            let evidence =
                Evidence { store: &InstanceId::new("another"), value: None, clock_ms: 99_000, outside };
            evidence.against(row)
        };
        let others = Plausibility { others: Some(9 * JUMP_CAP), ..Plausibility::default() };
        assert_eq!(judged(others, &far), None);
        let why = judged(Plausibility { others: Some(7), ..Plausibility::default() }, &far).unwrap();
        assert_eq!(why.condition, Condition::FarRow, "{why}");
        assert!(why.text.contains(DOUBTED_ROW) && !why.text.contains(CELL_AS_FAR), "{why}");
        let alone = Row { store: InstanceId::nobody("advanced"), ..far };
        assert_eq!(judged(Plausibility::default(), &alone), None, "by a word, and the slot is away");
        assert!(judged(Plausibility { others: Some(7), ..Plausibility::default() }, &alone).is_some());
    }

    #[test]
    fn a_cell_as_far_as_its_row_is_named() {
        let (far, store) = (row(5, 1 << 62), InstanceId::new("s"));
        let why = |value| {
            let evidence =
                Evidence { store: &store, value, clock_ms: 9_000, outside: Plausibility::default() };
            evidence.against(&far).unwrap()
        };
        for (value, expected) in [
            (Some(1 << 62), Condition::FarRowAndCell),
            (Some(7), Condition::FarRow),
            (None, Condition::FarRow),
        ] {
            let Doubt { condition, text } = why(value);
            assert_eq!(condition, expected, "{text}");
            assert_eq!(text.contains(CELL_AS_FAR), expected == Condition::FarRowAndCell, "{text}");
        }
    }
}
