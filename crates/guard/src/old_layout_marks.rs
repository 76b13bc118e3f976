//! Marks of other layouts than the ledger's. Versions alone don't tell there: a resize writes to the ledger, and lifts the
//! version of one that went back above what a mark says that nobody could read. So the ledger notes its version when it fences a
//! layout: no mark of that layout can be higher, unless it was left by a ledger that had come further.

use std::time::Duration;

use sequent_core::{
    ErrorKind, Mark, SourceError,
    ledger::{LayoutChange, LayoutPage, Ledger, LedgerNote, NoteSubject},
};

use crate::{LedgerFault, timeouts::patiently};

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

/// Notes that the ledger had this version when the layout before was fenced, unless whoever fenced it has.
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

/// Notes that a loss was named: what marks of layouts before say is covered by it.
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

/// Why a resize goes no further: a loss was named while it wrote rows, and those may not have it in them. That is noted, so that
/// the next run stops too.
pub(crate) async fn loss_dropped(ledger: &dyn Ledger, version: u64, limit: Duration) -> SourceError {
    let dropped = LedgerNote { about: NoteSubject::LossDropped, to: version };
    match patiently(limit, "note of a dropped loss", || ledger.note(&dropped)).await {
        Ok(_) => name_it_again(),
        Err(error) => name_it_again().because(error),
    }
}

/// Refuses to go on with a resize that has dropped a loss, until it is named once more.
pub(crate) async fn no_loss_dropped(
    ledger: &dyn Ledger,
    page: &LayoutPage,
    limit: Duration,
) -> Result<(), SourceError> {
    if !page.is_fenced {
        return Ok(());
    }
    let dropped =
        patiently(limit, "read of a dropped loss", || ledger.noted(&NoteSubject::LossDropped)).await?;
    let named = patiently(limit, "read of a named loss", || ledger.noted(&NoteSubject::LossNamedAt)).await?;
    if named < dropped { Err(name_it_again()) } else { Ok(()) }
}

fn name_it_again() -> SourceError {
    let context = "a loss was named while the counters of the next layout were written, and some of them may begin without it: name \
         it once more, `sequent recover --bump N`, and then finish the resize, `sequent resize --go`";
    SourceError::new(ErrorKind::Refused, context)
}
