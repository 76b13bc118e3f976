//! A resize that is in progress. No layout is in force then, which is no fault of the ledger; the resize is to be finished.

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

/// What a backend calls what it could not read as a layout in force.
pub(super) const FACT: &str = "layout";

/// The change that is fenced, where there is one. `found` is what the look into the ledger found.
pub(super) async fn of(
    ledger: &dyn Ledger,
    found: Option<&LedgerExamination>,
    limit: Duration,
) -> Option<LayoutChange> {
    // Only where none is in force: whoever looks leaves no more behind than must be.
    found.filter(|found| found.layout.is_none())?;
    let page = within(limit, "read the layout", ledger.page()).await.ok()??;
    page.change().filter(|_| page.is_fenced)
}

/// The same ledger, without what it could not say about its layout: that is said by [`finding`].
pub(super) fn without_fact(found: &mut LedgerExamination) {
    found.facts.retain(|fact| fact.name != FACT);
}

/// What is to be said of the change.
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

/// Whether a store bears a stamp that belongs to this change: the next one's, or the one before until it is stamped anew.
/// A store that moves bears another slot's until then.
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
