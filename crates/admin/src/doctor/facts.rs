//! Facts about settings and rights that backends report, and their meaning for a ring.

use sequent_core::{Fact, FactClass};

use super::{
    findings::Kind,
    report::{Finding, Site},
};

/// The finding for a fact about a place.
pub(super) fn finding(place: Site, fact: Fact) -> Finding {
    let Fact { class, name, found, expected, causes, mend } = fact;
    let kind = match class {
        FactClass::Repeats => Kind::SettingRepeats,
        FactClass::Loses | FactClass::Forgets if place == Site::Ledger => Kind::LedgerLosesCommits,
        FactClass::Loses | FactClass::Forgets => Kind::StoreLosesCommits,
        FactClass::Unusable => Kind::SettingUnusable,
        FactClass::Lacks => Kind::PrivilegeMissing,
        FactClass::Excess => Kind::PrivilegeExcess,
        FactClass::Untold | FactClass::Note => Kind::SettingNote,
    };
    let text = if expected.is_empty() {
        format!("{name}: {found}")
    } else {
        format!("{name} is {found}, expected {expected}")
    };
    Finding::new(kind, place, text).because(&causes).advise(mend)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::report::Severity;

    #[test]
    fn what_a_shard_may_lose_a_ledger_must_not() {
        let fact = || Fact::new(FactClass::Loses, "fsync", "off").expected("on").causes("a crash").mend("on");
        let (shard, ledger) = (finding(Site::Slot(1), fact()), finding(Site::Ledger, fact()));
        assert_eq!((shard.severity, ledger.severity), (Severity::Warning, Severity::Error));
        assert_eq!((shard.found.as_str(), shard.advice.as_str()), ("fsync is off, expected on", "on"));
        assert!(shard.means.starts_with("a crash. Nothing repeats"), "{}", shard.means);
        assert!(ledger.means.contains("sequent recover"), "{}", ledger.means);
        let note = finding(Site::Slot(1), Fact::new(FactClass::Note, "memory", "16 MB"));
        assert_eq!((note.severity, note.found.as_str()), (Severity::Info, "memory: 16 MB"));
    }
}
