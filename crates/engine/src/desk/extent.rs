//! How far the cells at hand have come above what the ledger at hand permits them: a loss that is named below that would let
//! numbers come again, once a store forgets, or from a slot whose store was not seen.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use sequent_core::{Key, SlotIndex, SourceError, Store};
use tokio::task::JoinSet;

use super::{permitted::Permitted, since::BUMP_MAX, unread::without_words};
use crate::{OpenError, limit::within};

/// The most pages of one store that are read: some hundred million cells.
const PAGES_MAX: usize = 1 << 16;

/// How many cells beyond every bump are named.
const FAR_NAMED_MAX: usize = 8;

/// How many of them are kept; the others are counted.
const FAR_KEPT_MAX: usize = 1 << 10;

/// How many keys without a row are kept for the plan.
const ROWLESS_MAX: usize = 1 << 12;

/// A cell, and how far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) slot: SlotIndex,
    pub(super) key: Key,
    pub(super) value: u64,
    /// Up to where nothing comes again, as the ledger at hand says: its ceiling, or, without a row, the floor.
    pub(super) ceiling: u64,
    /// Whether the ledger has a row of it.
    pub(super) has_row: bool,
}

impl Reached {
    /// The least bump that covers it.
    pub(super) fn least(&self) -> u64 {
        self.value.saturating_sub(self.ceiling)
    }
}

/// How far each cell is that the ledger has no row of, by its name and slot.
pub(super) type Rowless = BTreeMap<Key, BTreeMap<SlotIndex, u64>>;

/// How far the cells of some stores are.
#[derive(Debug, Default)]
pub(super) struct Extent {
    /// Whether the ledger has rows.
    pub(super) has_rows: bool,
    /// Of each epoch the one that needs the highest bump that can be named.
    highest: BTreeMap<u64, Reached>,
    /// Those that need more.
    far: Vec<Reached>,
    /// How many more there are.
    far_more: usize,
    /// Cells without a row.
    pub(super) rowless: Rowless,
    /// Whether there are more of them.
    pub(super) is_partial: bool,
    /// Slots whose stores can't tell, by their kind.
    untold: Vec<SlotIndex>,
    /// Slots whose stores did not tell all, each with the cause.
    unread: Vec<(SlotIndex, SourceError)>,
}

/// Reads every cell of these stores, all stores at once, each page within `limit`, and holds it against what a ledger that has
/// rows permits it; `None`: it has none. Changes nothing.
pub(super) async fn extent_of(
    stores: impl Iterator<Item = (SlotIndex, Arc<dyn Store>)>,
    permitted: Option<&Arc<Permitted>>,
    limit: Duration,
) -> Extent {
    let mut looks = JoinSet::new();
    for (slot, store) in stores {
        let permitted = permitted.cloned();
        looks.spawn(async move {
            let mut own = Extent::default();
            if let Err(error) = own.read(slot, &*store, permitted.as_deref(), limit).await {
                own.unread.push((slot, error));
            }
            own
        });
    }
    let mut all = Extent { has_rows: permitted.is_some(), ..Extent::default() };
    for own in looks.join_all().await {
        all.add(own);
    }
    all.far.sort_by_key(|cell| (cell.slot, cell.key.clone()));
    all.untold.sort_unstable();
    all.unread.sort_by_key(|(slot, _)| *slot);
    all
}

impl Extent {
    async fn read(
        &mut self,
        slot: SlotIndex,
        store: &dyn Store,
        permitted: Option<&Permitted>,
        limit: Duration,
    ) -> Result<(), SourceError> {
        let mut from: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let Some(examiner) = store.examiner() else { break };
            let page = within(limit, "read the cells", examiner.cells(from.as_deref())).await?;
            let bare = |(key, value)| Reached { slot, key, value, ceiling: 0, has_row: false };
            // Rows after their cells: a ceiling that is raised in between is no loss.
            let cells = match permitted {
                Some(permitted) => permitted.of(slot, page.cells).await?,
                None => page.cells.into_iter().map(bare).collect(),
            };
            for cell in cells {
                self.meet(cell);
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
        if !cell.has_row && cell.value > 0 {
            self.list(&cell);
        }
        if cell.least() > BUMP_MAX {
            return match self.far.len() {
                FAR_KEPT_MAX.. => self.far_more += 1,
                _ => self.far.push(cell),
            };
        }
        let epoch = cell.key.epoch();
        if self.highest.get(&epoch).is_none_or(|highest| highest.least() < cell.least()) {
            self.highest.insert(epoch, cell);
        }
    }

    fn list(&mut self, cell: &Reached) {
        if self.rowless.len() < ROWLESS_MAX || self.rowless.contains_key(&cell.key) {
            self.rowless.entry(cell.key.clone()).or_default().insert(cell.slot, cell.value);
        } else {
            self.is_partial = true;
        }
    }

    fn add(&mut self, other: Self) {
        let cells = other.highest.into_values().chain(other.far);
        cells.for_each(|cell| self.meet(cell));
        for (key, slots) in other.rowless {
            for (slot, value) in slots {
                self.list(&Reached { slot, key: key.clone(), value, ceiling: 0, has_row: false });
            }
        }
        self.far_more += other.far_more;
        self.is_partial |= other.is_partial;
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
            let bare = if self.has_rows { "" } else { "the ledger has no row of any counter, and " };
            return Err(OpenError::Refused(format!(
                "{bare}not every store tells how far its counters are: {}; nothing was \
                 done; mend that, and give the command once more; or, where it can't be had, add `{}`: N alone keeps what \
                 they gave from coming again",
                causes.join("; "),
                without_words(unnamed.iter().map(|(slot, _)| *slot))
            )));
        }
        if let Some(cell) = self.furthest().filter(|cell| cell.least() > bump) {
            let (least, above) = (cell.least(), self.above(cell));
            return Err(OpenError::Refused(format!(
                "--bump is {bump}: at least {least} is needed, for {above}: numbers up to there would come again once that \
                 store forgets, and from each slot whose store is empty or not seen; nothing was done; `sequent recover --bump \
                 {least}`, or more where a counter that can't be seen has come further; where a hand set that cell, and its \
                 numbers were never given, delete it first"
            )));
        }
        Ok(self.untold_lines())
    }

    /// The cell that needs the highest bump of all that a bump can name.
    pub(super) fn furthest(&self) -> Option<&Reached> {
        self.highest.values().max_by_key(|cell| cell.least())
    }

    /// Where a cell is, and above what.
    fn above(&self, cell: &Reached) -> String {
        let Reached { slot, key, value, ceiling, has_row } = cell;
        let at = format!("in slot {slot} the cell of key {key} is at raw id {value}");
        match (self.has_rows, has_row) {
            (false, _) => format!("the ledger has no row of any counter, and {at}"),
            (true, true) => format!("{at}, and its ceiling in the ledger is {ceiling}"),
            (true, false) => {
                format!(
                    "{at}, and the ledger has no row of it, which then begins above {ceiling} and the bump"
                )
            }
        }
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
        let far = self.far.iter().take(FAR_NAMED_MAX).map(|Reached { slot, key, value, ceiling, .. }| {
            let above = match ceiling {
                0 => format!("above {BUMP_MAX}"),
                ceiling => format!("more than {BUMP_MAX} above its ceiling {ceiling}"),
            };
            format!(
                "slot {slot}: the cell of key {key} is at raw id {value}, {above}, which no bump names: nothing follows \
                 it, and it must stay until `sequent advance {} TO --leap`, TO at least the highest number that was given; \
                 where a hand set it, delete it",
                key.sequence()
            )
        });
        let more = self.far.len().saturating_sub(FAR_NAMED_MAX) + self.far_more;
        let more = (more > 0).then(|| format!("and {more} more cells above {BUMP_MAX}"));
        let earlier = self.highest.range(..epoch).filter(|(_, cell)| cell.least() > 0).map(|(epoch, cell)| {
            let Reached { slot, key, value, .. } = cell;
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
            let key = Key::from_stored(key);
            extent.meet(Reached { slot: *slot, key, value: *value, ceiling: 0, has_row: false });
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
    fn each_cell_is_held_against_its_own_ceiling_and_one_without_a_row_against_the_floor() {
        let cell = |key: &str, value, ceiling, has_row| Reached {
            slot: 1,
            key: Key::from_stored(key),
            value,
            ceiling,
            has_row,
        };
        let mut extent = Extent { has_rows: true, ..Extent::default() };
        for cell in [cell("far", 1 << 40, 1 << 40, true), cell("order", 25_000, 900, true)] {
            extent.meet(cell);
        }
        let error = refused(&extent, 24_099);
        assert!(
            error.contains("slot 1 the cell of key order is at raw id 25000, and its ceiling"),
            "{error}"
        );
        assert!(error.contains("is 900") && error.contains("`sequent recover --bump 24100`"), "{error}");
        assert_eq!(extent.check(24_100, &BTreeSet::new()).unwrap(), Vec::<String>::new());
        assert!(extent.warnings(1).is_empty() && extent.rowless.is_empty());
        extent.meet(cell("other", 30_000, 100, false));
        let error = refused(&extent, 24_100);
        assert!(error.contains("key other is at raw id 30000, and the ledger has no row of it"), "{error}");
        assert!(error.contains("`sequent recover --bump 29900`"), "{error}");
        assert_eq!(extent.rowless.into_keys().collect::<Vec<_>>(), [Key::from_stored("other")]);
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
