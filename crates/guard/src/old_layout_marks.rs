//! Marks left under an earlier layout than the ledger's.
//!
//! For these, comparing versions is not enough. A resize writes to the ledger, so a ledger that went back may rise above a mark
//! that nobody could read. Therefore the ledger notes its version when it fences a layout. A higher mark of that layout proves
//! that the ledger went back.

use std::time::Duration;

use sequent_core::{
    ErrorKind, Mark, SourceError,
    ledger::{LayoutChange, LayoutPage, Ledger, LedgerNote, NoteSubject},
};

use crate::{LedgerFault, timeouts::patiently};

/// Whether a mark proves that the ledger went back, if it was left under another layout than the ledger's. For a mark of the
/// same layout the result is `None`: the caller compares versions.
///
/// # Errors
///
/// Those of the ledger.
pub async fn other_era(
    ledger: &dyn Ledger,
    mark: Mark,
    limit: Duration,
) -> Result<Option<LedgerFault>, SourceError> {
    let Some(era) = mark.era else { return Ok(None) };
    let Some(page) = patiently(limit, "read of the layout", || ledger.page()).await? else { return Ok(None) };
    if era.generation > page.generation {
        return Ok(Some(LedgerFault::Outrun { generation: page.generation, layout: page.layout, mark: era }));
    }
    if era.generation == page.generation {
        return Ok(None);
    }
    let (named, ended) = (NoteSubject::LossNamed, NoteSubject::LayoutEnded { generation: era.generation });
    let named = patiently(limit, "read of a named loss", || ledger.noted(&named)).await?;
    let ended = patiently(limit, "read of the end of a layout", || ledger.noted(&ended)).await?;
    let accuses = named <= era.generation && ended > 0 && mark.version > ended;
    Ok(accuses.then_some(LedgerFault::BehindAtEnd {
        generation: era.generation,
        version: ended,
        mark: mark.version,
    }))
}

/// Notes the ledger's version when the old layout was fenced, unless it is noted already.
pub(crate) async fn note_end(
    ledger: &dyn Ledger,
    change: &LayoutChange,
    version: u64,
    limit: Duration,
) -> Result<(), SourceError> {
    let end =
        LedgerNote { about: NoteSubject::LayoutEnded { generation: change.from.generation }, to: version };
    if patiently(limit, "read of the end of a layout", || ledger.noted(&end.about)).await? == 0 {
        patiently(limit, "note of the end of a layout", || ledger.note(&end)).await?;
    }
    Ok(())
}

/// Notes that a loss was named, which covers marks of earlier layouts.
pub(crate) async fn note_loss(ledger: &dyn Ledger, limit: Duration) -> Result<(), SourceError> {
    let Some(page) = patiently(limit, "read of the layout", || ledger.page()).await? else { return Ok(()) };
    if page.generation > 1 {
        let version = patiently(limit, "inspect", || ledger.inspect()).await?.version;
        for (about, to) in [(NoteSubject::LossNamed, page.generation), (NoteSubject::LossNamedAt, version)] {
            let named = LedgerNote { about, to };
            patiently(limit, "note of a named loss", || ledger.note(&named)).await?;
        }
    }
    Ok(())
}

/// The error of a resize during which a loss was named: rows that it wrote may lack the loss. A note makes the next run stop
/// too.
pub(crate) async fn loss_dropped(ledger: &dyn Ledger, version: u64, limit: Duration) -> SourceError {
    let dropped = LedgerNote { about: NoteSubject::LossDropped, to: version };
    match patiently(limit, "note of a dropped loss", || ledger.note(&dropped)).await {
        Ok(_) => name_it_again(),
        Err(error) => name_it_again().because(error),
    }
}

/// Refuses to continue a resize that has dropped a loss, until the loss is named again.
pub(crate) async fn no_loss_dropped(
    ledger: &dyn Ledger,
    page: &LayoutPage,
    limit: Duration,
) -> Result<(), SourceError> {
    if !page.step.is_fenced() {
        return Ok(());
    }
    let dropped =
        patiently(limit, "read of a dropped loss", || ledger.noted(&NoteSubject::LossDropped)).await?;
    let named = patiently(limit, "read of a named loss", || ledger.noted(&NoteSubject::LossNamedAt)).await?;
    if named < dropped { Err(name_it_again()) } else { Ok(()) }
}

fn name_it_again() -> SourceError {
    let context = "a loss was named while the counters of the next layout were written, and some of them may begin without it: \
         name it again, `sequent recover --bump N`, and then finish the resize, `sequent resize --go`";
    SourceError::new(ErrorKind::Refused, context)
}
