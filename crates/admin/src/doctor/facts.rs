//! Facts about settings and rights that backends report, and their meaning for a ring.

use sequent_core::{Fact, FactClass};

use super::report::{Finding, Severity, Site};

/// The effect of a store that loses data.
const SHARD_FORGETS: &str = "nothing repeats, for its counters go on above their ceilings; what they leave out is at most \
    twice ledger.outage_s of consumption each time";

/// The effect of a ledger that loses data.
const LEDGER_FORGETS: &str = "ceilings that it acknowledged are gone then: where a shard's mark tells, nothing is given \
    before `sequent recover`; where none does, numbers repeat";

/// The finding for a fact about a place.
pub(super) fn finding(place: Site, fact: Fact) -> Finding {
    let Fact { class, name, found, expected, causes, mend } = fact;
    let is_ledger = place == Site::Ledger;
    let severity = match class {
        FactClass::Repeats => Severity::Error,
        FactClass::Loses | FactClass::Forgets if is_ledger => Severity::Error,
        FactClass::Loses
        | FactClass::Forgets
        | FactClass::Unusable
        | FactClass::Excess
        | FactClass::Lacks => Severity::Warning,
        FactClass::Untold | FactClass::Note => Severity::Info,
    };
    let check = match class {
        FactClass::Excess | FactClass::Lacks => "privilege",
        _ => "setting",
    };
    let costs = match class {
        FactClass::Loses | FactClass::Forgets => Some(if is_ledger { LEDGER_FORGETS } else { SHARD_FORGETS }),
        FactClass::Lacks | FactClass::Unusable if !is_ledger => Some("the slot does not serve"),
        _ => None,
    };
    let text = if expected.is_empty() {
        format!("{name}: {found}")
    } else {
        format!("{name} is {found}, expected {expected}")
    };
    let causes = [Some(causes.as_str()), costs].into_iter().flatten().collect::<Vec<_>>().join("; ");
    Finding::new(severity, place, check, text).causes(causes).mend(mend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shard_may_lose_a_ledger_must_not() {
        let fact = || Fact::new(FactClass::Loses, "fsync", "off").expected("on").causes("a crash").mend("on");
        let (shard, ledger) = (finding(Site::Slot(1), fact()), finding(Site::Ledger, fact()));
        assert_eq!((shard.severity, ledger.severity), (Severity::Warning, Severity::Error));
        assert_eq!(shard.found, "fsync is off, expected on");
        assert!(shard.causes.starts_with("a crash; nothing repeats"), "{}", shard.causes);
        assert!(ledger.causes.contains("sequent recover"), "{}", ledger.causes);
        let note = finding(Site::Slot(1), Fact::new(FactClass::Note, "memory", "16 MB"));
        assert_eq!((note.severity, note.found.as_str()), (Severity::Info, "memory: 16 MB"));
    }
}
