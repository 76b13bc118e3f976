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

/// The most pages of one store that a recovery reads: some hundred million cells.
const PAGES_MAX: usize = 1 << 16;

/// How much of each store is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pages {
    /// So many pages of some thousand cells …
    pub(crate) most: usize,
    /// … each within this time.
    pub(crate) limit: Duration,
}

impl Pages {
    /// As much as there is.
    pub(super) fn all(limit: Duration) -> Self {
        Self { most: PAGES_MAX, limit }
    }
}

/// Why some stores' cells are not seen.
pub(super) const CANT_LIST: &str = "their kinds of store can't list cells";

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
    /// How far it can have come at most, as all says that is outside of row and cell; `None` where nobody has asked.
    pub(super) reach: Option<u64>,
}

impl Reached {
    /// The least bump that covers it.
    pub(super) fn least(&self) -> u64 {
        self.value.saturating_sub(self.ceiling)
    }

    /// What is to be said of it where no bump covers it.
    fn warning(&self) -> String {
        let Self { slot, key, value, ceiling, reach, .. } = self;
        let above = match ceiling {
            0 => format!("above {BUMP_MAX}"),
            ceiling => format!("more than {BUMP_MAX} above its ceiling {ceiling}"),
        };
        let what = match reach {
            Some(reach) if reach.saturating_add(BUMP_MAX) < *value => format!(
                "and since its life was opened it can't have come beyond {reach}, so a hand or a broken disk set it: delete it, and the \
                 counter begins above its ceiling and the bump"
            ),
            Some(_) => format!(
                "and it can have come so far in its life, so its row may have been set lower by hand, or be older: it must stay until \
                 `sequent advance {} TO --leap`, TO at least the highest number that was given",
                key.sequence()
            ),
            None => format!(
                "nothing follows it, and it must stay until `sequent advance {} TO --leap`, TO at least the highest number that was \
                 given; where a hand set it, delete it",
                key.sequence()
            ),
        };
        format!(
            "slot {slot}: the cell of key {key} is at raw id {value}, {above}, which no bump names: {what}"
        )
    }
}

/// How far each cell is that the ledger has no row of, by its name and slot.
pub(crate) type Rowless = BTreeMap<Key, BTreeMap<SlotIndex, u64>>;

/// How far the cells of some stores are.
#[derive(Debug, Default)]
pub(crate) struct Extent {
    /// Whether the ledger has rows.
    pub(super) has_rows: bool,
    /// Of each epoch the one that needs the highest bump that can be named.
    highest: BTreeMap<u64, Reached>,
    /// Those that need more.
    far: Vec<Reached>,
    /// How many more there are.
    far_more: usize,
    /// Cells without a row.
    pub(crate) rowless: Rowless,
    /// Whether there are more of them.
    pub(crate) is_partial: bool,
    /// Slots whose stores can't tell, by their kind.
    pub(crate) untold: Vec<SlotIndex>,
    /// Slots whose stores have more cells than were read.
    pub(crate) cut: Vec<SlotIndex>,
    /// Slots whose stores did not tell all, each with the cause.
    pub(crate) unread: Vec<(SlotIndex, SourceError)>,
}

/// Reads the cells of these stores, all stores at once, and holds them against what a ledger that has rows permits them; `None`:
/// it has none. Changes nothing.
pub(crate) async fn extent_of(
    stores: impl Iterator<Item = (SlotIndex, Arc<dyn Store>)>,
    permitted: Option<&Arc<Permitted>>,
    pages: Pages,
) -> Extent {
    let mut looks = JoinSet::new();
    for (slot, store) in stores {
        let permitted = permitted.cloned();
        looks.spawn(async move {
            let mut own = Extent::default();
            if let Err(error) = own.read(slot, &*store, permitted.as_deref(), pages).await {
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
    all.cut.sort_unstable();
    all.unread.sort_by_key(|(slot, _)| *slot);
    all
}

impl Extent {
    async fn read(
        &mut self,
        slot: SlotIndex,
        store: &dyn Store,
        permitted: Option<&Permitted>,
        Pages { most, limit }: Pages,
    ) -> Result<(), SourceError> {
        let Some(examiner) = store.examiner() else {
            self.untold.push(slot);
            return Ok(());
        };
        let mut from: Option<String> = None;
        for _ in 0..most {
            let page = within(limit, "read the cells", examiner.cells(from.as_deref())).await?;
            let bare = |(key, value)| Reached { slot, key, value, ceiling: 0, has_row: false, reach: None };
            // Rows after their cells: a ceiling that is raised in between is no loss.
            let cells = match permitted {
                Some(permitted) => permitted.of(slot, page.cells).await?,
                None => page.cells.into_iter().map(bare).collect(),
            };
            for cell in cells {
                self.meet(cell);
            }
            if page.is_partial {
                self.untold.push(slot);
                return Ok(());
            }
            from = page.next;
            if from.is_none() {
                return Ok(());
            }
        }
        self.cut.push(slot);
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
                self.list(&Reached {
                    slot,
                    key: key.clone(),
                    value,
                    ceiling: 0,
                    has_row: false,
                    reach: None,
                });
            }
        }
        self.far_more += other.far_more;
        self.is_partial |= other.is_partial;
        self.untold.extend(other.untold);
        self.cut.extend(other.cut);
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

    /// The cells beyond every bump that have rows, as many as are named.
    pub(super) fn far(&mut self) -> impl Iterator<Item = &mut Reached> {
        self.far.iter_mut().filter(|cell| cell.has_row).take(FAR_NAMED_MAX)
    }

    /// The cell that needs the highest bump of all that a bump can name.
    pub(super) fn furthest(&self) -> Option<&Reached> {
        self.highest.values().max_by_key(|cell| cell.least())
    }

    /// Where a cell is, and above what.
    fn above(&self, cell: &Reached) -> String {
        let Reached { slot, key, value, ceiling, has_row, .. } = cell;
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

    /// What is to be said of stores whose cells were not all seen.
    pub(super) fn untold_lines(&self) -> Vec<String> {
        let causes = [(&self.untold, CANT_LIST), (&self.cut, "they hold more cells than are read")];
        let some = causes.into_iter().filter(|(slots, _)| !slots.is_empty());
        some.map(|(slots, cause)| untold_line(slots, cause)).collect()
    }

    /// What a person must have read before it is done, in a ring of this epoch.
    pub(super) fn warnings(&self, epoch: u64) -> Vec<String> {
        let far = self.far.iter().take(FAR_NAMED_MAX).map(Reached::warning);
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

/// What it means that cells of these slots are not seen.
pub(super) fn untold_line(slots: &[SlotIndex], cause: &str) -> String {
    let slots = super::unread::listed(slots.iter().copied());
    format!(
        "{cause}, so that N alone keeps what they gave from coming again where they forget: slots {slots}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::ErrorKind;

    fn of(cells: &[(SlotIndex, &str, u64)]) -> Extent {
        let mut extent = Extent::default();
        for (slot, key, value) in cells {
            let key = Key::from_stored(key);
            extent.meet(Reached { slot: *slot, key, value: *value, ceiling: 0, has_row: false, reach: None });
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
            reach: None,
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
