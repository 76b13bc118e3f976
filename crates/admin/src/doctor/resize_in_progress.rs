//! A resize in progress. No layout is in force until it is finished, and that is not a fault of the ledger.

use std::time::Duration;

use sequent_core::{
    Examination, LedgerExamination,
    ledger::{LayoutChange, LayoutRecord, Ledger},
};
use sequent_engine::ledger_timeout::within;

use super::{
    findings::Kind,
    report::{Finding, Site},
};

/// The fact by which backends report a layout that they could not read as one in force.
pub(super) const FACT: &str = "layout";

/// The fenced resize, if there is one. `found` is the result of the ledger's examination.
pub(super) async fn of(
    ledger: &dyn Ledger,
    found: Option<&LedgerExamination>,
    limit: Duration,
) -> Option<LayoutChange> {
    // Asked only if no layout is in force, so that the examination leaves as few traces as possible.
    found.filter(|found| found.layout.is_none())?;
    let page = within(limit, "read the layout", ledger.page()).await.ok()??;
    page.fenced_change()
}

/// The same examination without the facts about the unreadable layout: [`finding`] reports the resize
/// instead.
pub(super) fn without_fact(found: &mut LedgerExamination) {
    found.facts.retain(|fact| fact.name != FACT);
}

/// The finding for the resize.
pub(super) fn finding(change: &LayoutChange) -> Finding {
    let LayoutChange { from, next } = change;
    let shown = |record: &LayoutRecord| {
        let (layout, generation) = (record.layout, record.generation);
        format!("{} slots (shard_bits {}, generation {generation})", layout.slots(), layout.shard_bits())
    };
    let found = format!("a resize from {} to {} has begun and is not finished", shown(from), shown(next));
    Finding::new(Kind::ResizeUnfinished, Site::Ledger, found)
}

/// Whether a store's stamp belongs to this resize: it is the next layout's, or still the previous layout's. A
/// store that moves has another slot's stamp until it is stamped again.
pub(super) fn stamp(
    place: Site,
    found: &Examination,
    held: &LedgerExamination,
    (change, slot): (&LayoutChange, u16),
) -> Result<String, Finding> {
    let next = change.next.stamp(held.inspection.id, slot);
    let Some(found_stamp) = &found.inspection.stamp else {
        return Ok("it has no stamp yet, and gets one when the resize is finished".to_owned());
    };
    let before = change.from.stamp(held.inspection.id, found_stamp.slot);
    if *found_stamp == next {
        return Ok("it has the next layout's stamp already".to_owned());
    }
    if *found_stamp == before {
        return Ok(format!(
            "it has the stamp of slot {} in the previous layout until the resize is finished",
            found_stamp.slot
        ));
    }
    let text =
        format!("the store has the stamp {found_stamp}, expected {next}, or that of the previous layout");
    Err(Finding::new(Kind::WrongStore, place, text)
        .advise("Put this slot's own store back before the resize is finished."))
}
