//! A resize in progress. No layout is in force until it is finished, and that is not a fault of the ledger.

use std::time::Duration;

use sequent_core::{
    Examination, LedgerExamination, Stamp,
    ledger::{LayoutChange, LayoutRecord, Ledger},
};
use sequent_engine::ledger_timeout::within;

use super::{
    report::{Finding, Severity, Site},
    stamp_of,
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
    let found = format!("the ring is being changed from {} to {}, and fenced", shown(from), shown(next));
    let causes = "nothing repeats and nothing is broken, but no server gives numbers before it is done: they are refused with \
                  `layout changed`; counters are not compared with their rows meanwhile";
    let mend = "finish it: `sequent resize --go`, with the configuration of the next layout; what is done already is not done \
                twice. Then restart every server with that configuration";
    Finding::new(Severity::Warning, Site::Ledger, "layout", found).causes(causes).mend(mend)
}

/// Whether a store's stamp belongs to this resize: it is the next layout's, or still the previous layout's. A
/// store that moves has another slot's stamp until it is stamped again.
pub(super) fn stamp(
    place: Site,
    found: &Examination,
    held: &LedgerExamination,
    (change, slot): (&LayoutChange, u16),
) -> Result<String, Finding> {
    let next = stamp_of(change.next.clone(), held, slot);
    let Some(borne) = &found.inspection.stamp else {
        return Ok("it bears no stamp yet: it is stamped when the change is finished".to_owned());
    };
    let before = Stamp { slot: borne.slot, ..stamp_of(change.from.clone(), held, slot) };
    if *borne == next {
        return Ok("it bears the next layout's stamp already".to_owned());
    }
    if *borne == before {
        return Ok(format!(
            "it bears the stamp of slot {} of the layout before, until the change is finished",
            borne.slot
        ));
    }
    let text = format!("the store bears stamp {borne}, expected {next}, or that of the layout before");
    let finding = Finding::new(Severity::Error, place, "stamp", text);
    let causes =
        "the change refuses it; counted here, another cluster's or layout's numbers would come twice";
    Err(finding.causes(causes).mend("put this slot's own store back before the change is finished"))
}
