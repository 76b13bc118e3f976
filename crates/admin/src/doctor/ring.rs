//! Checks across places: stamps, marks, and whether anything survives a crash.

use std::collections::BTreeMap;

use sequent_core::{DurabilityClass, Examination, InstanceId, LedgerExamination, SlotIndex, Stamp};
use sequent_engine::foreign_stores::ForeignStores;

use super::{
    findings::Kind,
    report::{Finding, Site},
};

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
        let (text, advice) = misfit.split_once(": ").unwrap_or((&misfit, ""));
        return Err(Finding::new(Kind::WrongStore, place, text).advise(advice));
    }
    if let Some(displaced) = beside(place, found, expected) {
        return Err(displaced);
    }
    match &found.inspection.stamp {
        Some(_) => Ok("its stamp is right".to_owned()),
        None if has_rows => {
            let text = "it is empty and has no stamp, and the ledger knows counters of this slot";
            Err(Finding::new(Kind::StoreEmptied, place, text))
        }
        None => Err(Finding::new(Kind::StoreUnused, place, "it has no stamp yet")),
    }
}

/// A store without a stamp, in a database that holds another slot's stamp of this ledger and layout. Either
/// that store was put in its place, or both slots have the same database.
fn beside(place: Site, found: &Examination, expected: &Stamp) -> Option<Finding> {
    found.inspection.stamp.is_none().then_some(())?;
    let stamps = found.facts.iter().filter(|fact| fact.name == BESIDE);
    let mut stamps = stamps.filter_map(|fact| fact.found.parse::<Stamp>().ok());
    let other =
        stamps.find(|stamp| stamp.ledger == expected.ledger && stamp.generation == expected.generation)?;
    let text =
        format!("the database holds the store of slot {}, and nothing of slot {}", other.slot, expected.slot);
    Some(Finding::new(Kind::WrongStore, place, text))
}

/// A ledger that differs from the one that stores or the data directory name.
pub(super) fn wrong_ledger(stores: &ForeignStores) -> Finding {
    Finding::new(Kind::WrongLedger, Site::Ledger, stores.found()).advise(stores.mend())
}

/// Whether a store's mark is about this ledger. A store with another ledger's stamp has that ledger's mark.
pub(super) fn is_marked_by(found: &Examination, ledger: Option<&LedgerExamination>) -> bool {
    let of = found.inspection.stamp.as_ref().map(|stamp| stamp.ledger);
    ledger.zip(of).is_none_or(|(ledger, of)| ledger.inspection.id == of)
}

/// Ledger and stores that are other files than those on record.
pub(super) fn moved() -> Finding {
    let found =
        "ledger and stores are other files than those on record: the directory was copied or restored";
    Finding::new(Kind::CopiedOrRestored, Site::Ring, found)
}

/// A ledger older than the marks that it left elsewhere.
pub(super) fn behind(version: u64, mark: u64) -> Option<Finding> {
    let found = format!("it is at version {version}, and a mark names {mark}");
    (version < mark).then(|| Finding::new(Kind::LedgerBehind, Site::Ledger, found))
}

/// The durability of the cluster as a whole: what a crash leaves.
pub(super) fn durability(ledger: Option<&LedgerExamination>, shards: &[DurabilityClass]) -> Option<Finding> {
    let is_durable = |class: DurabilityClass| class == DurabilityClass::Durable;
    if shards.is_empty() || shards.iter().copied().any(is_durable) {
        return None;
    }
    let (kind, found) = match ledger {
        Some(ledger) if !is_durable(ledger.durability().class) => {
            (Kind::NothingDurable, "neither the ledger nor any shard that was reached is durable")
        }
        _ => (Kind::NoDurableStore, "no shard that was reached is durable"),
    };
    Some(Finding::new(kind, Site::Ring, found))
}

/// A configuration with another layout than the ledger's, whose generation is given. `stamped`: the highest
/// generation among the stores' stamps.
pub(super) fn layout(fault: &str, generation: u64, stamped: u64) -> Finding {
    // Each fault of it is about a key of the configuration.
    let found = fault.lines().collect::<Vec<_>>().join("; ");
    if stamped <= generation {
        return Finding::new(Kind::LayoutDiffers, Site::Ledger, found);
    }
    let found = format!(
        "{found}; the ledger has generation {generation}, and its stores went through a resize to generation {stamped}"
    );
    Finding::new(Kind::LedgerBeforeResize, Site::Ledger, found)
}

/// Slots whose stores are one instance: their counters would be one counter. An instance that nobody has
/// connected to yet is not compared.
pub(super) fn shared_stores<'a>(
    instances: impl Iterator<Item = (SlotIndex, &'a InstanceId)>,
) -> Vec<Finding> {
    let mut seen: BTreeMap<&str, SlotIndex> = BTreeMap::new();
    let mut findings = Vec::new();
    for (slot, instance) in instances.filter(|(_, instance)| !instance.as_str().contains("nobody")) {
        if let Some(other) = seen.insert(instance.as_str(), slot) {
            let found = format!("slots {other} and {slot} are on one store, {instance}");
            findings.push(Finding::new(Kind::SharedStore, Site::Slot(slot), found));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_that_differs_is_one_line_and_a_ledger_from_before_a_resize_is_another_finding() {
        let fault = "ring.shard_bits is 2: the ledger's layout has 1\nwhere the ring has this layout: put the newest one back";
        let own = layout(fault, 1, 1);
        assert!(own.found.contains("has 1; where") && !own.found.contains('\n'), "{own:?}");
        assert_eq!(own.kind, Kind::LayoutDiffers);
        let older = layout(fault, 1, 2);
        assert_eq!(older.kind, Kind::LedgerBeforeResize);
        assert!(older.found.contains("generation 1, and its stores"), "{older:?}");
    }

    #[test]
    fn two_slots_on_one_store_are_an_error_unless_the_instance_is_unknown() {
        let of = |instances: &[&str]| {
            let instances: Vec<InstanceId> = instances.iter().map(|text| InstanceId::new(*text)).collect();
            shared_stores((0..).zip(&instances)).len()
        };
        assert_eq!((of(&["a", "b", "c"]), of(&["a", "b", "a"])), (0, 1));
        assert_eq!(of(&["mysql nobody made 1", "mysql nobody made 1"]), 0);
        let one = InstanceId::new("sqlite a");
        let found = shared_stores([(1, &one), (3, &one)].into_iter());
        assert_eq!((found[0].kind, found[0].place), (Kind::SharedStore, Site::Slot(3)));
        assert!(found[0].found.starts_with("slots 1 and 3 are on one store"), "{found:?}");
    }
}
