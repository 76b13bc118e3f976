//! Checks across places: stamps, marks, and whether anything survives a crash.

use std::collections::BTreeMap;

use sequent_core::{DurabilityClass, Examination, InstanceId, LedgerExamination, SlotIndex, Stamp};
use sequent_engine::foreign_stores::{CAUSES, ForeignStores};

use super::report::{Finding, Severity, Site};

/// The fact by which backends report another slot's stamp in the same database, where the slot's own is
/// missing.
pub(super) const BESIDE: &str = "beside";

/// Whether the store has the stamp that belongs there, or the finding. `has_rows`: the ledger has counters of
/// this slot.
pub(super) fn stamp(
    place: Site,
    found: &Examination,
    expected: &Stamp,
    has_rows: bool,
) -> Result<String, Finding> {
    if let Some(misfit) = sequent_guard::misfit(&found.inspection, expected) {
        let (text, mend) = misfit.split_once(": ").unwrap_or((&misfit, ""));
        let finding = Finding::new(Severity::Error, place, "stamp", text);
        let causes =
            "servers refuse it; counted here, another cluster's, layout's or slot's numbers would come twice";
        return Err(finding.causes(causes).mend(mend));
    }
    if let Some(displaced) = beside(place, found, expected) {
        return Err(displaced);
    }
    match &found.inspection.stamp {
        Some(_) => Ok("its stamp is right".to_owned()),
        None if has_rows => {
            let text = "it is empty and bears no stamp, and the ledger knows counters of this slot";
            let finding = Finding::new(Severity::Warning, place, "stamp", text);
            let causes = "nothing repeats: it is stamped again, and each counter begins above its ceiling";
            Err(finding.causes(causes).mend("find out what emptied it"))
        }
        None => {
            let text = "it bears no stamp yet: nobody has used it";
            Err(Finding::new(Severity::Info, place, "stamp", text)
                .mend("nothing: whoever uses it first stamps it"))
        }
    }
}

/// A store without a stamp, in a database that holds another slot's stamp of this ledger and layout. Either
/// that store was put in its place, or both slots have the same database.
pub(super) fn beside(place: Site, found: &Examination, expected: &Stamp) -> Option<Finding> {
    found.inspection.stamp.is_none().then_some(())?;
    let stamps = found.facts.iter().filter(|fact| fact.name == BESIDE);
    let mut stamps = stamps.filter_map(|fact| fact.found.parse::<Stamp>().ok());
    let other =
        stamps.find(|stamp| stamp.ledger == expected.ledger && stamp.generation == expected.generation)?;
    let text =
        format!("the database holds the store of slot {}, and nothing of slot {}", other.slot, expected.slot);
    let finding = Finding::new(Severity::Error, place, "stamp", text);
    let causes = "servers refuse it; counted here, the slot would begin anew beside another's";
    let mend = format!(
        "put each slot's own store back in its place, or give slot {slot} a database of its own; then `sequent rescue {slot} --why TEXT`",
        slot = expected.slot
    );
    Some(finding.causes(causes).mend(mend))
}

/// A ledger that differs from the one that stores or the data directory name.
pub(super) fn orphans(orphans: &ForeignStores) -> Finding {
    let finding = Finding::new(Severity::Error, Site::Ledger, "stamp", orphans.found());
    finding.causes(CAUSES).mend(orphans.mend())
}

/// The other ledger that all stores name, if they agree on one.
pub(super) fn orphan(place: Site, borne: &Stamp) -> Finding {
    let text = format!("it bears stamp {borne}, of another ledger than the one at hand");
    let finding = Finding::new(Severity::Error, place, "stamp", text);
    finding.causes("servers refuse to start").mend("what is said of the ledger; leave the store as it is")
}

/// Whether a store's mark is about this ledger. A store with another ledger's stamp has that ledger's mark.
pub(super) fn speaks_of(found: &Examination, ledger: Option<&LedgerExamination>) -> bool {
    let of = found.inspection.stamp.as_ref().map(|stamp| stamp.ledger);
    ledger.zip(of).is_none_or(|(ledger, of)| ledger.inspection.id == of)
}

/// Ledger and stores that are other files than those on record.
pub(super) fn moved() -> Finding {
    let found =
        "ledger and stores are other files than those on record: the directory was copied or restored";
    let causes = "servers refuse to start on it; if the original is in use, or this is an older state of it, numbers would come \
                  twice";
    let mend = "`sequent recover` says which number each answer would give next, and changes nothing; the safe one is `sequent recover \
                --bump N`, N at least how far the numbers have come since (`sequent recover --help` says how to tell); only if \
                nothing was given since it was copied, and no other copy is in use: `sequent recover --moved`";
    Finding::new(Severity::Error, Site::Ring, "ring", found).causes(causes).mend(mend)
}

/// What to do before any advice about counters if the ledger went back: it refuses to advance them.
pub(super) const RECOVER_FIRST: &str =
    "first what is said of the ledger, which may mend this as well; if it is told afterwards: ";

/// A ledger older than the marks that it left elsewhere.
pub(super) fn behind(version: u64, mark: u64) -> Option<Finding> {
    let found = format!("it is at version {version}, and a mark names {mark}: it went back");
    let finding = Finding::new(Severity::Error, Site::Ledger, "mark", found);
    let causes = "ceilings are missing: nothing is given before an operator names the loss";
    let mend = "if a copy of it is at work over the same shards, stop the servers of all but one of the two first; put the newest \
                ledger back, or `sequent recover --bump N`, N at least how far the numbers have come since the \
                copy, not how many were given (`sequent recover` prints the least, its help says how to tell)";
    (version < mark).then(|| finding.causes(causes).mend(mend))
}

/// The durability of the cluster as a whole: what a crash leaves.
pub(super) fn durability(ledger: Option<&LedgerExamination>, shards: &[DurabilityClass]) -> Option<Finding> {
    let is_durable = |class: DurabilityClass| class == DurabilityClass::Durable;
    if shards.is_empty() || shards.iter().copied().any(is_durable) {
        return None;
    }
    if ledger.is_some_and(|ledger| !is_durable(ledger.durability().class)) {
        let found = "neither the ledger nor any shard that was reached keeps all that it acknowledged";
        let finding = Finding::new(Severity::Error, Site::Ring, "ring", found);
        let causes =
            "a crash of their machines leaves nothing that tells which numbers were given: they repeat";
        return Some(finding.causes(causes).mend("make the ledger durable"));
    }
    let found = "no shard that was reached is durable";
    let finding = Finding::new(Severity::Info, Site::Ring, "ring", found);
    let causes = "the ledger's marks are kept by stores that may forget them";
    Some(finding.causes(causes).mend("have one durable store in the ring"))
}

/// A configuration with another layout than the ledger's, whose generation is given. `stamped`: the highest
/// generation among the stores' stamps.
pub(super) fn layout(fault: &str, generation: u64, stamped: u64) -> Finding {
    // Each fault of it is about a key of the configuration.
    let found = fault.lines().collect::<Vec<_>>().join("; ");
    let finding = Finding::new(Severity::Error, Site::Ledger, "layout", found);
    if stamped > generation {
        let causes = "no server starts on it: it would give numbers of a layout that the ring has left";
        return finding.causes(causes).mend(format!(
            "the ledger (generation {generation}) is a copy from before a resize, which its stores have gone through (generation {stamped}): leave the \
             configuration as it is, and put the newest ledger back; if there is none, stop every process, put an empty ledger in its \
             place, and `sequent recover --bump N` with the configuration of the layout after it"
        ));
    }
    let causes = "servers refuse to start; with another layout numbers would come twice";
    finding.causes(causes).mend("give the configuration the ledger's values, or `sequent resize`")
}

/// Slots whose stores are one instance: their counters would be one counter. An instance that nobody has
/// connected to yet is not compared.
pub(super) fn on_one<'a>(speaks: impl Iterator<Item = (SlotIndex, &'a InstanceId)>) -> Vec<Finding> {
    let mut seen: BTreeMap<&str, SlotIndex> = BTreeMap::new();
    let mut findings = Vec::new();
    for (slot, instance) in speaks.filter(|(_, instance)| !instance.as_str().contains("nobody")) {
        if let Some(other) = seen.insert(instance.as_str(), slot) {
            let found = format!("slots {other} and {slot} are on one store, {instance}");
            let finding = Finding::new(Severity::Error, Site::Slot(slot), "stamp", found);
            let causes = "servers refuse to start: both slots would give the numbers of one counter";
            findings.push(
                finding
                    .causes(causes)
                    .mend("give each slot a store of its own: see where their paths, or links, lead"),
            );
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_that_differs_is_one_line_and_of_an_older_ledger_is_mended_by_the_newest() {
        let fault = "ring.shard_bits is 2: the ledger's layout has 1\nwhere the ring has this layout: put the newest one back";
        let own = layout(fault, 1, 1);
        assert!(own.found.contains("has 1; where") && !own.found.contains('\n'), "{own:?}");
        assert!(own.mend.contains("`sequent resize`"), "{own:?}");
        let older = layout(fault, 1, 2);
        assert!(
            older.mend.contains("put the newest ledger back") && !older.mend.contains("`sequent resize`"),
            "{older:?}"
        );
    }

    #[test]
    fn two_slots_on_one_store_are_an_error_unless_nobody_knows_who_speaks() {
        let of = |speaks: &[&str]| {
            let speaks: Vec<InstanceId> = speaks.iter().map(|text| InstanceId::new(*text)).collect();
            on_one((0..).zip(&speaks)).len()
        };
        assert_eq!((of(&["a", "b", "c"]), of(&["a", "b", "a"])), (0, 1));
        assert_eq!(of(&["mysql nobody made 1", "mysql nobody made 1"]), 0);
        let one = InstanceId::new("sqlite a");
        let found = on_one([(1, &one), (3, &one)].into_iter());
        assert_eq!((found[0].severity, found[0].place), (Severity::Error, Site::Slot(3)));
        assert!(found[0].found.starts_with("slots 1 and 3 are on one store"), "{found:?}");
    }
}
