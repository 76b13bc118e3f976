//! What a row claims of its counter. Where it is far more than anybody can have taken, a hand or a broken disk wrote it, and
//! it is neither joined nor followed: what a new life begins with is written down for good.
//!
//! A ceiling is judged against its row's `base` and `seen`. These two are what is judged by, so they are held against what
//! lies elsewhere: what this process has seen, and beyond that the cell, from which all was taken in the row's life. Where the store
//! has forgotten it, or is another run, which may be an old copy, the time since the life was opened tells what is impossible.

use sequent_core::{
    Cell, ErrorKind, Incarnation, SourceError,
    ledger::{Counter, Reading, Row},
};

use super::{Guarded, State};
use crate::{VERSION_LEAP, leap::LEAP_CAP};

/// How it is said that a row is not believed.
pub const DOUBTED_ROW: &str = "the ledger's row says that it is at";

/// More raw ids a second than all servers together take from one counter: a leap, each second.
const PER_SECOND_MAX: u64 = LEAP_CAP;

/// How far its counter is, as a row says.
pub(crate) fn claim(row: &Row) -> u64 {
    row.base.max(row.seen)
}

/// What a row's claim is held against.
pub(crate) struct Evidence<'a> {
    /// The run of the store that answers.
    pub(crate) store: &'a Incarnation,
    /// How far the cell is; `None` where it has none of the row's life.
    pub(crate) value: Option<u64>,
    /// The ledger's clock.
    pub(crate) clock_ms: u64,
}

impl Evidence<'_> {
    /// How far the counter can have come at most.
    fn reach(&self, row: &Row) -> u64 {
        self.by_cell(row).unwrap_or_else(|| within_time(row, self.clock_ms).max(self.value.unwrap_or(0)))
    }

    /// The same as the cell says. Another run of the store may be an old copy, and knows less than was taken.
    fn by_cell(&self, row: &Row) -> Option<u64> {
        self.value.filter(|_| row.store == *self.store)
    }

    /// Why the row is not believed, if it is not, where operators have named a loss of at most `lost`.
    pub(crate) fn against(&self, row: &Row, lost: u64) -> Option<String> {
        let (claim, reach) = (claim(row), self.reach(row));
        if claim <= reach.saturating_add(LEAP_CAP).saturating_add(lost) {
            return None;
        }
        let against = match self.by_cell(row) {
            Some(value) => format!("its cell, from which all of this life was taken, is at {value}"),
            None => format!("since its life was opened it can't have come beyond {reach}"),
        };
        Some(format!(
            "{DOUBTED_ROW} {claim}, but {against}: a hand or a broken disk wrote one of them, and nothing follows it"
        ))
    }
}

/// The most that operators can have added to a row when they named a loss: each row had as much added to it, and those that came
/// later begin above it. A ledger whose version is below that of a named loss was never told of one.
pub(crate) fn loss_named<'a>(version: u64, others: impl Iterator<Item = &'a Row>) -> u64 {
    if version < VERSION_LEAP {
        return 0;
    }
    // Of a counter that is alone nobody knows.
    others.map(claim).min().unwrap_or(u64::MAX)
}

/// The highest that a life can have come to by now. A clock that was set back says nothing.
fn within_time(row: &Row, clock_ms: u64) -> u64 {
    let age = clock_ms.checked_sub(row.opened_at_ms);
    age.map_or(u64::MAX, |ms| row.base.saturating_add((ms / 1000 + 1).saturating_mul(PER_SECOND_MAX)))
}

impl State {
    /// Whether so much must not be taken for seen before it was looked into.
    pub(super) fn doubts(&self, claim: u64) -> bool {
        claim > self.seen.saturating_add(LEAP_CAP)
    }
}

impl Guarded {
    /// `Leapt` for a row that claims more than anybody can have taken. Costs a read of the cell where the counter is further by 2^36
    /// than this process knows, and otherwise nothing.
    pub(super) async fn believe(
        &self,
        row: &Row,
        store: &Incarnation,
        clock_ms: u64,
    ) -> Result<(), SourceError> {
        if !self.state().doubts(claim(row)) {
            return Ok(());
        }
        let cell = Cell { key: &self.cell, under: store };
        let value = match self.shard.store().lift(cell, row.life, 0).await {
            Ok(value) => Some(value),
            Err(error) if error.kind() == ErrorKind::Regressed => None,
            Err(error) => return Err(self.reborn(store, error)),
        };
        let evidence = Evidence { store, value, clock_ms };
        if evidence.against(row, 0).is_none() {
            return Ok(());
        }
        let Counter { slot, key } = &self.counter;
        match evidence.against(row, self.loss_named().await?) {
            None => Ok(()),
            Some(why) => Err(SourceError::new(ErrorKind::Leapt, format!("slot {slot} key {key}: {why}"))),
        }
    }

    async fn loss_named(&self) -> Result<u64, SourceError> {
        let (desk, Counter { slot, key }) = (&self.shared.desk, &self.counter);
        if desk.version() < VERSION_LEAP {
            return Ok(0);
        }
        let others = (0..desk.slots()).filter(|other| other != slot);
        let others: Vec<Counter> = others.map(|slot| Counter { slot, key: key.clone() }).collect();
        let (_, Reading { rows, .. }) = desk.read_anyway(&others).await?;
        Ok(loss_named(desk.version(), rows.iter().flatten()))
    }
}

#[cfg(test)]
mod tests {
    use sequent_core::Life;

    use super::*;

    fn row(base: u64, seen: u64) -> Row {
        let (store, ledger) = (Incarnation::new("s"), Incarnation::new("l"));
        Row { life: Life::from_stored(1), store, ledger, base, ceiling: seen + 2, seen, opened_at_ms: 9_000 }
    }

    fn is_believed(row: &Row, store: &str, value: Option<u64>, clock_ms: u64) -> bool {
        Evidence { store: &Incarnation::new(store), value, clock_ms }.against(row, 0).is_none()
    }

    #[test]
    fn time_tells_what_is_impossible_and_a_clock_that_was_set_back_does_not() {
        let row = row(5, 7);
        assert_eq!(within_time(&row, 9_000), 5 + PER_SECOND_MAX);
        assert_eq!(within_time(&row, 12_500), 5 + 4 * PER_SECOND_MAX);
        assert_eq!(within_time(&row, 8_999), u64::MAX);
    }

    #[test]
    fn the_cell_tells_in_its_own_run_and_time_where_it_can_not() {
        let (far, near) = (row(5, 9 * LEAP_CAP), row(5, LEAP_CAP));
        assert!(!is_believed(&far, "s", Some(7 * LEAP_CAP), 99_000), "nobody took it from there");
        assert!(is_believed(&far, "s", Some(8 * LEAP_CAP), 9_000));
        assert!(is_believed(&far, "another", Some(8 * LEAP_CAP), 9_000));
        assert!(is_believed(&far, "another", Some(1), 99_000), "an old copy");
        assert!(is_believed(&far, "another", None, 99_000), "it forgot");
        assert!(!is_believed(&far, "another", None, 9_000), "within a second");
        assert!(is_believed(&near, "s", Some(5), 9_000), "no further than a leap");
    }

    #[test]
    fn a_named_loss_is_at_most_what_each_row_has() {
        let rows = [row(0, 70), row(90, 20)];
        assert_eq!(loss_named(VERSION_LEAP - 1, rows.iter()), 0);
        assert_eq!(loss_named(VERSION_LEAP, rows.iter()), 70);
        assert_eq!(loss_named(VERSION_LEAP, rows[..0].iter()), u64::MAX);
    }
}
