//! What lies outside a counter's row and tells where its epoch can have begun: the row itself may be a hand's work.

use sequent_core::{
    Epoch, Layout, SourceError,
    ledger::{Counter, Ledger, NoteSubject, PastEpoch, Row},
};

use crate::{VERSION_LEAP, jump_limit::LEAP_CAP};

/// How far an epoch can begin above the highest ceiling of all before it: what an opening follows at most, which is what was
/// permitted and never reported, what it asks for ahead, and a leap.
const OPENED_ABOVE_MAX: u64 = 4 * LEAP_CAP;

/// So long after its epoch was opened a row's ceiling may lie ahead of nothing that was given yet, and says nothing.
const YOUNG_MS: u64 = 10_000;

/// What the rows of a key's other slots say to one of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SiblingSlots {
    /// How far each of them is at least, as it claims; `None` where no other has a row.
    pub(crate) least: Option<u64>,
    /// How far the furthest may be: a counter of which nothing is known begins no lower. One that claims 2^36 more than
    /// another is not counted: a hand set it there.
    pub(crate) most: u64,
}

impl SiblingSlots {
    pub(crate) fn of<'a>(others: impl Iterator<Item = &'a Row> + Clone, clock_ms: u64) -> Self {
        let furthest = furthest_of(others.clone());
        others.fold(Self::default(), |beside, row| beside.with(Self::told_by(row, furthest, clock_ms)))
    }

    fn with(self, other: Self) -> Self {
        let least = self.least.into_iter().chain(other.least).min();
        Self { least, most: self.most.max(other.most) }
    }

    fn told_by(row: &Row, furthest: u64, clock_ms: u64) -> Self {
        let most = if row.reached() > furthest { 0 } else { may_be_at(row, clock_ms) };
        Self { least: (!row.is_unbegun()).then(|| row.reached()), most }
    }
}

/// How far a key's slots are at most beside the one that claims least: a row that says more drags no other along.
fn furthest_of<'a>(rows: impl Iterator<Item = &'a Row>) -> u64 {
    let begun = rows.filter(|row| !row.is_unbegun()).map(Row::reached);
    begun.min().map_or(u64::MAX, |least| least.saturating_add(LEAP_CAP))
}

/// What it is for each of a key's slots.
pub(crate) fn beside_each(rows: &[Option<Row>], clock_ms: u64) -> Vec<SiblingSlots> {
    let furthest = furthest_of(rows.iter().flatten());
    let told = |row: &Option<Row>| {
        row.as_ref().map(|row| SiblingSlots::told_by(row, furthest, clock_ms)).unwrap_or_default()
    };
    // Of the slots before each, and of those after it: a wide ring has a thousand.
    let (mut all, mut before, mut after) =
        (Vec::with_capacity(rows.len()), SiblingSlots::default(), SiblingSlots::default());
    for row in rows {
        all.push(before);
        before = before.with(told(row));
    }
    for (beside, row) in all.iter_mut().zip(rows).rev() {
        *beside = beside.with(after);
        after = after.with(told(row));
    }
    all
}

/// How far a counter may be, as its row says: what nobody has reported yet is below its ceiling. Of an epoch that was opened just now
/// the ceiling lies ahead of what nobody has been given: a key's slots that begin one after the other begin at the same. A ceiling
/// that was never asked for by a server says nothing at all.
fn may_be_at(row: &Row, clock_ms: u64) -> u64 {
    let claim = row.reached();
    match row.ceiling.saturating_sub(claim) {
        ahead if ahead > LEAP_CAP => 0,
        // It has not begun: a claim, or a word, which moved this row as well.
        _ if row.store.is_nobody() => 0,
        _ if clock_ms.saturating_sub(row.opened_at_ms) < YOUNG_MS => claim,
        ahead => claim + ahead,
    }
}

/// Where a counter has been, as all but its own row says. What is not known counts for nothing.
///
/// ```
/// use sequent_guard::Plausibility;
/// let young = Plausibility::default();
/// assert!(young.explains(1 << 30) && !young.explains(1 << 62));
/// let moved = Plausibility { others: Some(1 << 62), ..young };
/// assert!(moved.explains(1 << 62), "an operator's word moves all of a key's slots");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Plausibility {
    /// The highest ceiling of its epochs that have ended, in the ledger's history.
    pub ended: u64,
    /// How far the key is in each of its other slots, by their rows; `None` where no other has one. An operator's word moves all of
    /// them, and a hand that wrote two rows makes neither the witness of the other.
    pub others: Option<u64>,
    /// How far operators have advanced the key, at most, as a raw id.
    pub advanced: u64,
    /// What operators have named as lost, at most, in raw ids.
    pub lost: u64,
    /// How far this process knows it to be.
    pub known: u64,
}

impl Plausibility {
    /// Reads all of it: `others` are the rows of the key's other slots, `version` the ledger's. One call reads the epochs that have
    /// ended, and two how far the key was advanced.
    ///
    /// # Errors
    ///
    /// Those of the ledger. It sets no time limit.
    pub async fn read<'a>(
        ledger: &dyn Ledger,
        counter: &Counter,
        layout: Layout,
        (version, others): (u64, impl Iterator<Item = &'a Row>),
    ) -> Result<Self, SourceError> {
        // One that never began says nothing.
        let claims: Vec<u64> = others.filter(|row| !row.is_unbegun()).map(Row::reached).collect();
        let past = ledger.history(counter).await?;
        let advanced = ledger.noted(&NoteSubject::Advanced(counter.key.clone())).await?;
        let begun = ledger.noted(&NoteSubject::BegunAt(counter.key.clone())).await?;
        // A number is never below its place.
        let advanced = if advanced == 0 { 0 } else { layout.raw_behind(advanced, 0) };
        Ok(Self {
            ended: past.iter().map(|epoch| epoch.ceiling).max().unwrap_or(0),
            others: claims.iter().copied().min(),
            advanced: advanced.max(begun),
            lost: loss_named(version, &claims),
            known: 0,
        })
    }

    /// Whether an epoch can have begun at `base`.
    pub fn explains(&self, base: u64) -> bool {
        base <= self.base_max()
    }

    /// The highest that its epoch can have come to by `clock_ms` of the ledger's clock, where at most `per_second` are taken: from
    /// where it began, or can have begun at most. A clock that was set back says nothing.
    pub fn reach(&self, row: &Row, clock_ms: u64, per_second: u64) -> u64 {
        let Some(age) = clock_ms.checked_sub(row.opened_at_ms) else { return u64::MAX };
        let taken = (age / 1000 + 1).saturating_mul(per_second).saturating_add(self.lost);
        let begun = if self.is_unknown_to_others(row) { row.base } else { row.base.min(self.base_max()) };
        begun.saturating_add(taken)
    }

    /// Whether the epoch of a row can have begun where it says.
    pub(crate) fn explains_base(&self, row: &Row) -> bool {
        self.is_unknown_to_others(row) || self.explains(row.base)
    }

    /// A word moved a key whose only slot is away: the next epoch has that in its history.
    fn is_unknown_to_others(&self, row: &Row) -> bool {
        row.store.is_nobody() && self.others.is_none()
    }

    /// The highest at which an epoch can have begun.
    pub fn base_max(&self) -> u64 {
        let highest = self.ended.max(self.others.unwrap_or(0)).max(self.advanced).max(self.known);
        highest.saturating_add(OPENED_ABOVE_MAX).saturating_add(self.lost)
    }
}

/// What the epochs of a counter that have ended were permitted at most, in the layout of `generation`: the epochs since that began alone, for
/// raw ids of another layout are other numbers. No epoch that follows begins lower, since whoever opens one reads the ceiling of the
/// one before in the same step; so a row that does was set by a hand.
///
/// ```
/// use sequent_core::{Epoch, ledger::PastEpoch};
/// let past = |epoch, base, ceiling| PastEpoch { epoch, base, ceiling };
/// let all = [past(Epoch::from_stored(1), 0, 900), past(Epoch::of_generation(2), 450, 450), past(Epoch::from_stored(2), 450, 500)];
/// assert_eq!([1, 2].map(|generation| sequent_guard::ended_in(generation, &all)), [900, 500]);
/// assert_eq!(sequent_guard::ended_in(2, &[past(Epoch::from_stored(3), 0, 70)]), 70, "its key began in this layout");
/// ```
pub fn ended_in(generation: u64, past: &[PastEpoch]) -> u64 {
    let began = past.iter().rposition(|past| past.epoch == Epoch::of_generation(generation));
    past.iter().skip(began.unwrap_or(0)).map(|past| past.ceiling).max().unwrap_or(0)
}

/// The most that operators can have added to a row when they named a loss: each row had as much added to it, and those that came
/// later begin above it. A ledger whose version is below that of a named loss was never told of one.
fn loss_named(version: u64, others: &[u64]) -> u64 {
    if version < VERSION_LEAP {
        return 0;
    }
    // Of a counter that is alone nobody knows.
    others.iter().copied().min().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use sequent_core::InstanceId;

    use super::*;

    #[test]
    fn each_slot_hears_of_all_the_others() {
        let row = |base, seen, ceiling, opened_at_ms| {
            let (store, ledger) = (InstanceId::new("s"), InstanceId::new("l"));
            Some(Row { epoch: Epoch::from_stored(1), store, ledger, base, ceiling, seen, opened_at_ms })
        };
        let told = |rows: &[Option<Row>]| -> Vec<(Option<u64>, u64)> {
            beside_each(rows, 20_000).iter().map(|beside| (beside.least, beside.most)).collect()
        };
        let (old, young) = (row(0, 7, 9, 10_000), row(20, 20, 90, 10_001));
        assert_eq!(told(&[old.clone(), young, None]), [(Some(20), 20), (Some(7), 9), (Some(7), 20)]);
        let (absurd, back) = (row(5, 5, 6 + LEAP_CAP, 0), row(1, 3, 4, 30_000));
        assert_eq!(told(&[old.clone(), absurd]), [(Some(5), 0), (Some(7), 9)], "no server asked for it");
        assert_eq!(told(&[old.clone(), back]), [(Some(3), 3), (Some(7), 9)], "a clock that was set back");
        assert_eq!(told(&[]), []);
        let (near, far) = (row(7 + LEAP_CAP, 0, 7 + LEAP_CAP, 0), row(1 << 62, 0, 1 << 62, 0));
        let beside_far = told(&[old.clone(), near.clone(), far]);
        assert_eq!(beside_far, [(Some(7 + LEAP_CAP), 7 + LEAP_CAP), (Some(7), 9), (Some(7), 7 + LEAP_CAP)]);
        assert_eq!(told(&[old, near])[0].1, 7 + LEAP_CAP, "as far as a leap");
    }

    #[test]
    fn a_named_loss_is_at_most_what_each_row_has() {
        let claims = [70, 90];
        assert_eq!(loss_named(VERSION_LEAP - 1, &claims), 0);
        assert_eq!(loss_named(VERSION_LEAP, &claims), 70);
        assert_eq!(loss_named(VERSION_LEAP, &[]), u64::MAX);
    }

    #[test]
    fn whatever_tells_of_a_counter_explains_where_it_begins() {
        let far = 1 << 50;
        let none = Plausibility::default();
        assert!(none.explains(OPENED_ABOVE_MAX) && !none.explains(OPENED_ABOVE_MAX + 1));
        for outside in [
            Plausibility { ended: far, ..none },
            Plausibility { others: Some(far), ..none },
            Plausibility { advanced: far, ..none },
            Plausibility { lost: far, ..none },
            Plausibility { known: far, ..none },
        ] {
            assert!(outside.explains(far) && !outside.explains(2 * far), "{outside:?}");
        }
    }
}
