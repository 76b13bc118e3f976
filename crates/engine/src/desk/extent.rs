//! How far the cells at hand have come, where the ledger has no row that tells: a loss that is named below that would let numbers
//! come again, once a store forgets, or from a slot whose store was not seen.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use sequent_core::{Key, SlotIndex, SourceError, Store};
use tokio::task::JoinSet;

use super::{since::BUMP_MAX, unread::without_words};
use crate::{OpenError, limit::within};

/// The most pages of one store that are read: some hundred million cells.
const PAGES_MAX: usize = 1 << 16;

/// How many cells beyond every bump are named.
const FAR_NAMED_MAX: usize = 8;

/// A cell, and how far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reached {
    slot: SlotIndex,
    key: Key,
    value: u64,
}

/// How far the cells of some stores are.
#[derive(Debug, Default)]
pub(super) struct Extent {
    /// The highest of each epoch that a bump can name.
    highest: BTreeMap<u64, Reached>,
    /// Those beyond.
    far: Vec<Reached>,
    /// Slots whose stores can't tell, by their kind.
    untold: Vec<SlotIndex>,
    /// Slots whose stores did not tell all, each with the cause.
    unread: Vec<(SlotIndex, SourceError)>,
}

/// Reads every cell of these stores, all stores at once, each page within `limit`. Changes nothing.
pub(super) async fn extent_of(
    stores: impl Iterator<Item = (SlotIndex, Arc<dyn Store>)>,
    limit: Duration,
) -> Extent {
    let mut looks = JoinSet::new();
    for (slot, store) in stores {
        looks.spawn(async move {
            let mut own = Extent::default();
            if let Err(error) = own.read(slot, &*store, limit).await {
                own.unread.push((slot, error));
            }
            own
        });
    }
    let mut all = Extent::default();
    for own in looks.join_all().await {
        all.add(own);
    }
    all.far.sort_by_key(|cell| (cell.slot, cell.key.clone()));
    all.untold.sort_unstable();
    all.unread.sort_by_key(|(slot, _)| *slot);
    all
}

impl Extent {
    async fn read(&mut self, slot: SlotIndex, store: &dyn Store, limit: Duration) -> Result<(), SourceError> {
        let mut from: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let Some(examiner) = store.examiner() else { break };
            let page = within(limit, "read the cells", examiner.cells(from.as_deref())).await?;
            for (key, value) in page.cells {
                self.meet(Reached { slot, key, value });
            }
            if page.is_partial {
                break;
            }
            from = page.next;
            if from.is_none() {
                return Ok(());
            }
        }
        self.untold.push(slot);
        Ok(())
    }

    fn meet(&mut self, cell: Reached) {
        if cell.value > BUMP_MAX {
            return self.far.push(cell);
        }
        let epoch = cell.key.epoch();
        if self.highest.get(&epoch).is_none_or(|highest| highest.value < cell.value) {
            self.highest.insert(epoch, cell);
        }
    }

    fn add(&mut self, other: Self) {
        other.highest.into_values().for_each(|cell| self.meet(cell));
        self.far.extend(other.far);
        self.untold.extend(other.untold);
        self.unread.extend(other.unread);
    }

    /// Refuses a loss below what is seen here, and where some store did not tell though nobody has named its slot. Returns what
    /// is to be said all the same.
    ///
    /// # Errors
    ///
    /// `Refused`, naming the cell, its value and the least that may be named.
    pub(super) fn check(&self, bump: u64, without: &BTreeSet<SlotIndex>) -> Result<Vec<String>, OpenError> {
        let unnamed: Vec<_> = self.unread.iter().filter(|(slot, _)| !without.contains(slot)).collect();
        if !unnamed.is_empty() {
            let causes: Vec<String> =
                unnamed.iter().map(|(slot, error)| format!("slot {slot}: {error}")).collect();
            return Err(OpenError::Refused(format!(
                "the ledger has no row of any counter, and not every store tells how far its counters are: {}; nothing was \
                 done; mend that, and give the command once more; or, where it can't be had, add `{}`: N alone keeps what \
                 they gave from coming again",
                causes.join("; "),
                without_words(unnamed.iter().map(|(slot, _)| *slot))
            )));
        }
        let highest = self.highest.values().max_by_key(|cell| cell.value);
        if let Some(Reached { slot, key, value }) = highest.filter(|cell| cell.value > bump) {
            return Err(OpenError::Refused(format!(
                "--bump is {bump}: at least {value} is needed, for the ledger has no row of any counter, and in slot {slot} the \
                 cell of key {key} is at raw id {value}: numbers up to there would come again once that store forgets, and \
                 from each slot whose store is empty or not seen; nothing was done; `sequent recover --bump {value}`, or more \
                 where a counter that can't be seen has come further; where a hand set that cell, and its numbers were never \
                 given, delete it first"
            )));
        }
        Ok(self.untold_lines())
    }

    fn untold_lines(&self) -> Vec<String> {
        if self.untold.is_empty() {
            return Vec::new();
        }
        let slots = super::unread::listed(self.untold.iter().copied());
        vec![format!(
            "their kinds of store can't list cells, so that N alone keeps what they gave from coming again where they forget: \
             slots {slots}"
        )]
    }

    /// What a person must have read before it is done, in a ring of this epoch.
    pub(super) fn warnings(&self, epoch: u64) -> Vec<String> {
        let far = self.far.iter().take(FAR_NAMED_MAX).map(|Reached { slot, key, value }| {
            format!(
                "slot {slot}: the cell of key {key} is at raw id {value}, above {BUMP_MAX}, which no bump names: nothing follows \
                 it, and it must stay until `sequent advance {} TO --leap`, TO at least the highest number that was given; \
                 where a hand set it, delete it",
                key.sequence()
            )
        });
        let more = self.far.len().saturating_sub(FAR_NAMED_MAX);
        let more = (more > 0).then(|| format!("and {more} more cells above {BUMP_MAX}"));
        let earlier = self.highest.range(..epoch).map(|(epoch, Reached { slot, key, value })| {
            format!(
                "slot {slot}: the cell of key {key} is of a layout before (epoch {epoch}), at raw id {value} of it: where that \
                 layout had more bits (n + m) than the present one, N must be at least so many times 2 to the power of the \
                 difference"
            )
        });
        far.chain(more).chain(earlier).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::ErrorKind;

    fn of(cells: &[(SlotIndex, &str, u64)]) -> Extent {
        let mut extent = Extent::default();
        for (slot, key, value) in cells {
            extent.meet(Reached { slot: *slot, key: Key::from_stored(key), value: *value });
        }
        extent
    }

    fn refused(extent: &Extent, bump: u64) -> String {
        extent.check(bump, &BTreeSet::new()).unwrap_err().to_string()
    }

    #[test]
    fn a_bump_below_a_cell_is_refused_with_the_least_that_is_not() {
        let extent = of(&[(0, "order", 9), (1, "order", 10_000_000), (2, "invoice|~2", 4)]);
        let error = refused(&extent, 5);
        assert!(error.contains("slot 1 the cell of key order is at raw id 10000000"), "{error}");
        assert!(error.contains("`sequent recover --bump 10000000`"), "{error}");
        refused(&extent, 9_999_999);
        assert_eq!(extent.check(10_000_000, &BTreeSet::new()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_cell_of_a_layout_before_counts_and_is_named() {
        let extent = of(&[(0, "order", 900), (1, "order|~2", 50)]);
        assert!(refused(&extent, 899).contains("raw id 900"));
        let warnings = extent.warnings(2);
        assert!(warnings.len() == 1 && warnings[0].contains("(epoch 1), at raw id 900"), "{warnings:?}");
        assert_eq!(extent.warnings(1), Vec::<String>::new());
    }

    #[test]
    fn a_cell_that_no_bump_reaches_is_named_and_moves_nothing_else() {
        let extent = of(&[(0, "order", 1 << 62), (1, "order", 7)]);
        assert_eq!(extent.check(7, &BTreeSet::new()).unwrap(), Vec::<String>::new());
        let warnings = extent.warnings(1);
        assert!(warnings[0].contains("`sequent advance order TO --leap`"), "{warnings:?}");
    }

    #[test]
    fn a_store_that_does_not_tell_is_named_by_a_person_or_nothing_is_done() {
        let mut extent = of(&[]);
        extent.unread.push((3, SourceError::new(ErrorKind::Timeout, "no answer")));
        extent.untold.push(1);
        assert!(refused(&extent, 5).contains("slot 3: ") && refused(&extent, 5).contains("`--without 3`"));
        let lines = extent.check(5, &BTreeSet::from([3])).unwrap();
        assert!(lines[0].ends_with("slots 1"), "{lines:?}");
    }
}
