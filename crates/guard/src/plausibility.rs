//! Plausibility of a counter's row: evidence outside the row of where its epoch can have begun. The row itself may have been
//! set by hand.

use sequent_core::{
    Epoch, Layout, SourceError,
    ledger::{Counter, Ledger, NoteSubject, PastEpoch, Row},
};

use crate::{VERSION_JUMP, jump_limit::JUMP_CAP};

/// How far an epoch can begin above the highest ceiling before it. This is the most that an opening follows: ids permitted but
/// not reported, ids requested ahead, and a jump.
const OPENED_ABOVE_MAX: u64 = 4 * JUMP_CAP;

/// Age up to which an epoch's ceiling is no evidence: no id below it may have been given yet.
const YOUNG_MS: u64 = 10_000;

/// Evidence from the rows of a key's other slots.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SiblingSlots {
    /// The least of the ids that their rows claim; `None` if no other slot has a row.
    pub(crate) least: Option<u64>,
    /// How far the furthest of them may be; an unknown counter begins no lower. A row is ignored if it claims over 2^36 more
    /// than another one, since it was set by hand.
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

/// The highest claim of a key's slots that counts: one jump above the lowest. A row that claims more has no influence on the
/// others.
fn furthest_of<'a>(rows: impl Iterator<Item = &'a Row>) -> u64 {
    let begun = rows.filter(|row| !row.is_unbegun()).map(Row::reached);
    begun.min().map_or(u64::MAX, |least| least.saturating_add(JUMP_CAP))
}

/// The evidence for each of a key's slots.
pub(crate) fn beside_each(rows: &[Option<Row>], clock_ms: u64) -> Vec<SiblingSlots> {
    let furthest = furthest_of(rows.iter().flatten());
    let told = |row: &Option<Row>| {
        row.as_ref().map(|row| SiblingSlots::told_by(row, furthest, clock_ms)).unwrap_or_default()
    };
    // Prefix and suffix sums instead of pairs: a wide ring has a thousand slots.
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

/// How far a counter may be, judged by its row: unreported ids are below its ceiling.
///
/// For a new epoch the ceiling is no evidence, since nothing up to it was given yet. Otherwise slots of a key that begin one
/// after the other would climb on each other. A ceiling that no server can have asked for is ignored.
fn may_be_at(row: &Row, clock_ms: u64) -> u64 {
    let claim = row.reached();
    match row.ceiling.saturating_sub(claim) {
        ahead if ahead > JUMP_CAP => 0,
        // The counter has not begun: a claim, or an advance, which also moved this row.
        _ if row.store.is_nobody() => 0,
        _ if clock_ms.saturating_sub(row.opened_at_ms) < YOUNG_MS => claim,
        ahead => claim + ahead,
    }
}

/// Evidence of where a counter has been, from everything except its own row. Unknown parts count as nothing.
///
/// ```
/// use sequent_guard::Plausibility;
/// let young = Plausibility::default();
/// assert!(young.explains(1 << 30) && !young.explains(1 << 62));
/// let moved = Plausibility { others: Some(1 << 62), ..young };
/// assert!(moved.explains(1 << 62), "an advance moves all of a key's slots");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Plausibility {
    /// The highest ceiling of its ended epochs, from the ledger's history.
    pub ended: u64,
    /// The lowest claim of the key's other slots; `None` if none has a row. An advance moves all of them. If two rows were set
    /// by hand, neither supports the other.
    pub others: Option<u64>,
    /// The highest raw id to which operators have advanced the key.
    pub advanced: u64,
    /// The most that operators have named as lost, in raw ids.
    pub lost: u64,
    /// The highest raw id that this process knows of.
    pub known: u64,
}

impl Plausibility {
    /// Reads all the evidence. `others` are the rows of the key's other slots, `version` is the ledger's. One call reads the
    /// ended epochs, and two read how far the key was advanced.
    ///
    /// # Errors
    ///
    /// Those of the ledger. The caller must limit the time.
    pub async fn read<'a>(
        ledger: &dyn Ledger,
        counter: &Counter,
        layout: Layout,
        (version, others): (u64, impl Iterator<Item = &'a Row>),
    ) -> Result<Self, SourceError> {
        // A row that never began is no evidence.
        let claims: Vec<u64> = others.filter(|row| !row.is_unbegun()).map(Row::reached).collect();
        let past = ledger.history(counter).await?;
        let advanced = ledger.noted(&NoteSubject::Advanced(counter.key.clone())).await?;
        let begun = ledger.noted(&NoteSubject::BegunAt(counter.key.clone())).await?;
        // A number is never below its place, so this bound is not too low.
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

    /// The highest raw id that the row's epoch can have reached by `clock_ms` of the ledger's clock, at `per_second` ids a
    /// second. It counts from the row's base, or from the highest plausible base. A clock that was set back gives no bound.
    pub fn reach(&self, row: &Row, clock_ms: u64, per_second: u64) -> u64 {
        let Some(age) = clock_ms.checked_sub(row.opened_at_ms) else { return u64::MAX };
        let taken = (age / 1000 + 1).saturating_mul(per_second).saturating_add(self.lost);
        let begun = if self.is_unknown_to_others(row) { row.base } else { row.base.min(self.base_max()) };
        begun.saturating_add(taken)
    }

    /// Whether the row's epoch can have begun at its base.
    pub(crate) fn explains_base(&self, row: &Row) -> bool {
        self.is_unknown_to_others(row) || self.explains(row.base)
    }

    /// Whether an advance moved a key whose only slot is away. The next epoch has that in its history.
    fn is_unknown_to_others(&self, row: &Row) -> bool {
        row.store.is_nobody() && self.others.is_none()
    }

    /// The highest plausible base of an epoch.
    pub fn base_max(&self) -> u64 {
        let highest = self.ended.max(self.others.unwrap_or(0)).max(self.advanced).max(self.known);
        highest.saturating_add(OPENED_ABOVE_MAX).saturating_add(self.lost)
    }
}

/// The highest ceiling of a counter's ended epochs in the layout of `generation`. Epochs of earlier layouts are left out, since
/// raw ids of another layout are other numbers.
///
/// No later epoch begins lower, because an opening reads the previous ceiling in the same step. A row below it was set by hand.
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

/// The most that operators can have added to a row by naming losses. Each row had the same loss added, and later rows begin
/// above it. A ledger with a version below that of any named loss was never told of one.
fn loss_named(version: u64, others: &[u64]) -> u64 {
    if version < VERSION_JUMP {
        return 0;
    }
    // A single counter has no other row to compare with.
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
        let (absurd, back) = (row(5, 5, 6 + JUMP_CAP, 0), row(1, 3, 4, 30_000));
        assert_eq!(told(&[old.clone(), absurd]), [(Some(5), 0), (Some(7), 9)], "no server asked for it");
        assert_eq!(told(&[old.clone(), back]), [(Some(3), 3), (Some(7), 9)], "a clock that was set back");
        assert_eq!(told(&[]), []);
        let (near, far) = (row(7 + JUMP_CAP, 0, 7 + JUMP_CAP, 0), row(1 << 62, 0, 1 << 62, 0));
        let beside_far = told(&[old.clone(), near.clone(), far]);
        assert_eq!(beside_far, [(Some(7 + JUMP_CAP), 7 + JUMP_CAP), (Some(7), 9), (Some(7), 7 + JUMP_CAP)]);
        assert_eq!(told(&[old, near])[0].1, 7 + JUMP_CAP, "as far as a jump");
    }

    #[test]
    fn a_named_loss_is_at_most_what_each_row_has() {
        let claims = [70, 90];
        assert_eq!(loss_named(VERSION_JUMP - 1, &claims), 0);
        assert_eq!(loss_named(VERSION_JUMP, &claims), 70);
        assert_eq!(loss_named(VERSION_JUMP, &[]), u64::MAX);
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
