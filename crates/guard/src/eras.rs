//! Marks of other layouts than the ledger's. Versions alone don't tell there: a resize writes to the ledger, and lifts the
//! version of one that went back above what a mark says that nobody could read. So the ledger notes its version when it fences a
//! layout: no mark of that layout can be higher, unless it was left by a ledger that had come further.

use std::time::Duration;

use sequent_core::{
    Mark, SourceError,
    ledger::{Advanced, LayoutChange, Ledger},
};

use crate::{Trouble, limit::patiently};

/// Why a mark says that the ledger went back, where it was left under another layout than the ledger has now. Of one that was
/// left under this layout its version tells, and nobody else is asked.
///
/// # Errors
///
/// Those of the ledger.
pub async fn other_era(
    ledger: &dyn Ledger,
    mark: Mark,
    limit: Duration,
) -> Result<Option<Trouble>, SourceError> {
    let Some(era) = mark.era else { return Ok(None) };
    let Some(page) = patiently(limit, "read of the layout", || ledger.page()).await? else { return Ok(None) };
    if era.epoch > page.epoch {
        return Ok(Some(Trouble::Outrun { epoch: page.epoch, layout: page.layout, mark: era }));
    }
    if era.epoch == page.epoch {
        return Ok(None);
    }
    let (named, ended) = (Advanced::loss_named(0), Advanced::layout_ended(era.epoch, 0));
    let named = patiently(limit, "read of a named loss", || ledger.fence(&named)).await?;
    let ended = patiently(limit, "read of the end of a layout", || ledger.fence(&ended)).await?;
    let accuses = named <= era.epoch && ended > 0 && mark.version > ended;
    Ok(accuses.then_some(Trouble::BehindAtEnd { epoch: era.epoch, version: ended, mark: mark.version }))
}

/// Notes that the ledger had this version when the layout before was fenced, unless whoever fenced it has.
pub(crate) async fn note_end(
    ledger: &dyn Ledger,
    change: &LayoutChange,
    version: u64,
    limit: Duration,
) -> Result<(), SourceError> {
    let end = Advanced::layout_ended(change.from.epoch, version);
    if patiently(limit, "read of the end of a layout", || ledger.fence(&end)).await? == 0 {
        patiently(limit, "note of the end of a layout", || ledger.advance(&end)).await?;
    }
    Ok(())
}

/// Notes that a loss was named: what marks of layouts before say is covered by it.
pub(crate) async fn note_loss(ledger: &dyn Ledger, limit: Duration) -> Result<(), SourceError> {
    let Some(page) = patiently(limit, "read of the layout", || ledger.page()).await? else { return Ok(()) };
    if page.epoch > 1 {
        let named = Advanced::loss_named(page.epoch);
        patiently(limit, "note of a named loss", || ledger.advance(&named)).await?;
    }
    Ok(())
}
