//! The floor that a named loss left for counters without a row. The ledger starts such a counter above the
//! sum of all named losses, but doesn't report that sum. Therefore the last one is noted beside it, for
//! commands that only read.

use std::time::Duration;

use sequent_core::{
    SourceError,
    ledger::{Ledger, LedgerNote, NoteSubject, ResizeStep},
};
use sequent_engine::ledger_timeout::within;

/// Notes that a loss of so many raw ids was named: the floor is at least that. During a resize nothing is
/// noted.
///
/// # Errors
///
/// Those of the ledger.
pub(crate) async fn note(ledger: &dyn Ledger, bump: u64, limit: Duration) -> Result<(), SourceError> {
    let page = within(limit, "read the layout", ledger.page()).await?;
    let Some(page) = page.filter(|page| page.step == ResizeStep::InForce) else { return Ok(()) };
    let note = LedgerNote { about: NoteSubject::Floor { generation: page.generation }, to: bump };
    within(limit, "note the floor", ledger.note(&note)).await.map(drop)
}

/// A lower bound of the raw id up to which no counter without a row gives anything. 0 if the note can't be
/// read.
pub(crate) async fn floor(ledger: &dyn Ledger, generation: u64, limit: Duration) -> u64 {
    within(limit, "read the floor", ledger.noted(&NoteSubject::Floor { generation })).await.unwrap_or(0)
}
