//! Notes for people about cells that were seen, and about stores that could not be read.

use sequent_core::SlotIndex;

use super::{Extent, FAR_NAMED_MAX, Reached};
use crate::recover::{since::BUMP_MAX, unreadable_witnesses::listed};

/// Why some stores' cells are not seen.
pub(crate) const CANT_LIST: &str = "these kinds of store can't list cells";

impl Extent {
    /// Notes about stores whose cells were not all seen.
    pub(crate) fn untold_lines(&self) -> Vec<String> {
        let causes = [(&self.untold, CANT_LIST), (&self.cut, "there are more cells than are read")];
        let some = causes.into_iter().filter(|(slots, _)| !slots.is_empty());
        some.map(|(slots, cause)| untold_line(slots, cause)).collect()
    }

    /// What an operator must have read before a recovery, in a ring of this generation.
    pub(crate) fn warnings(&self, generation: u64) -> Vec<String> {
        let far = self.far.iter().take(FAR_NAMED_MAX).map(Reached::warning);
        let more = self.far.len().saturating_sub(FAR_NAMED_MAX) + self.far_more;
        let more = (more > 0).then(|| format!("and {more} more cells above {BUMP_MAX}"));
        let earlier = self.highest.range(..generation).filter(|(_, cell)| cell.least() > 0);
        far.chain(more).chain(earlier.map(|(generation, cell)| earlier_line(*generation, cell))).collect()
    }
}

/// A raw id of another layout is another distance in this one.
fn earlier_line(generation: u64, Reached { slot, key, value, .. }: &Reached) -> String {
    format!(
        "slot {slot}: the cell of key {key} is of a previous layout (generation {generation}), at raw id {value} of it. If that \
         layout had more bits (n + m) than the present one, N must be at least {value} times 2 to the power of the \
         difference"
    )
}

/// The consequence if cells of these slots are not seen.
pub(crate) fn untold_line(slots: &[SlotIndex], cause: &str) -> String {
    let slots = listed(slots.iter().copied());
    format!(
        "{cause}: if these stores lose their cells, only N prevents that their numbers are given again: slots {slots}"
    )
}
