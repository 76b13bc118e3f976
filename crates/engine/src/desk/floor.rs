//! How far a named loss reaches where the ledger has no row, for who looks and opens nothing. The ledger itself begins such a counter
//! above its floor, the sum of all losses that were named; it tells that to nobody, so what was named last is noted beside it.

use std::time::Duration;

use sequent_core::{
    Key, SourceError,
    ledger::{Advanced, Ledger},
};

use crate::limit::within;

/// The note that counters without a row begin above this raw id of an epoch's layout, at least. No sequence is without a name,
/// so it is no counter's. A resize counts the floor anew, and leaves no note.
fn noted(epoch: u64, floor: u64) -> Advanced {
    Advanced { key: Key::from_stored(&format!("|~floor{epoch}")), to: floor }
}

/// Notes that a loss of so many raw ids was named: the floor is no lower now. Amid a change of the ring nothing is noted.
///
/// # Errors
///
/// Those of the ledger.
pub(super) async fn note(ledger: &dyn Ledger, bump: u64, limit: Duration) -> Result<(), SourceError> {
    let page = within(limit, "read the layout", ledger.page()).await?;
    let Some(page) = page.filter(|page| page.next.is_none()) else { return Ok(()) };
    within(limit, "note the floor", ledger.advance(&noted(page.epoch, bump))).await.map(drop)
}

/// The raw id up to which no counter without a row gives anything, at least; 0 where nothing tells.
pub(crate) async fn floor(ledger: &dyn Ledger, epoch: u64, limit: Duration) -> u64 {
    within(limit, "read the floor", ledger.fence(&noted(epoch, 0))).await.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_of_a_floor_is_no_counters() {
        assert!(noted(1, 9).is_fence());
        assert_ne!(noted(1, 9).key, noted(2, 9).key, "raw ids of another layout are other numbers");
    }
}
