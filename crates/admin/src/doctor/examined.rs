//! The results of an examination, collected place by place.

use sequent_core::{
    Condition, Durability, Examination, Fact, LedgerExamination, SourceError, ledger::LayoutChange,
};
use sequent_engine::{
    bootstrap,
    config::{Config, Place},
    foreign_stores::ForeignStores,
    stores::Shard,
};

use super::{
    Seen,
    clocks::{self, Asked},
    collect::{COUNTERS_MAX, Looked, ROWS_MAX},
    counters::{self, Verdict},
    facts,
    findings::Kind,
    report::{Checkup, Finding, PlaceReport, Site},
    resize_in_progress, ring,
};

/// The places that were examined so far, and the findings.
pub(super) struct Examined<'a> {
    config: &'a Config,
    places: Vec<PlaceReport>,
    findings: Vec<Finding>,
    /// Whether there is no ledger yet, or none with a layout. Then nothing that is missing elsewhere is a
    /// fault.
    is_unmade: bool,
    /// Whether the ledger went back. Then nothing can be advanced before it is recovered.
    went_back: bool,
    /// The highest generation in the stores' stamps of this ledger.
    stamped: u64,
}

/// What advice about a counter begins with if the ledger went back: no advance is accepted before.
const RECOVER_FIRST: &str =
    "First do what is said of the ledger, which may repair this too. If it is found afterwards: ";

/// What every reached place reports.
struct Reached<'a> {
    version: &'a str,
    durability: &'a Durability,
    clock_ms: u64,
    asked: Asked,
    facts: &'a [Fact],
}

impl<'a> Examined<'a> {
    pub(super) fn new(config: &'a Config) -> Self {
        Self {
            config,
            places: Vec::new(),
            findings: Vec::new(),
            is_unmade: false,
            went_back: false,
            stamped: 0,
        }
    }

    /// Adds the ledger, with its version compared with the highest mark. Neither layout nor mark is checked
    /// if the stores belong to another ledger.
    pub(super) fn ledger(
        &mut self,
        looked: &Looked<LedgerExamination>,
        marked: Option<Result<(u64, u64), SourceError>>,
        change: Option<&LayoutChange>,
        foreign: Option<&ForeignStores>,
    ) {
        let place = &self.config.ledger.place;
        let mut report = not_reached(Site::Ledger, place);
        self.findings.extend(foreign.map(ring::wrong_ledger));
        match &looked.found {
            // The finding about the other ledger covers it.
            Err(_) if foreign.is_some() => {}
            Err(error) => self.unreachable(Site::Ledger, error),
            Ok(found) => {
                let reached = Reached {
                    version: &found.inspection.engine,
                    durability: &found.inspection.durability,
                    clock_ms: found.inspection.clock_ms,
                    asked: looked.asked,
                    facts: &found.facts,
                };
                self.reached(&mut report, &reached);
                if foreign.is_some() {
                    return self.places.push(report);
                }
                match marked.map(|marked| marked.map(|(version, mark)| ring::behind(version, mark))) {
                    Some(Err(error)) => self.unreachable(Site::Ledger, &error),
                    Some(Ok(Some(finding))) => {
                        self.went_back = true;
                        self.findings.push(finding);
                    }
                    Some(Ok(None)) | None => report.fine.push(no_mark(place)),
                }
                match change {
                    Some(change) => self.findings.push(resize_in_progress::finding(change)),
                    None => self.layout(&mut report, found),
                }
            }
        }
        self.places.push(report);
    }

    fn layout(&mut self, report: &mut PlaceReport, found: &LedgerExamination) {
        let Some(record) = &found.layout else {
            if !super::has_no_layout(found) {
                // The facts say why it can't be read.
                return;
            }
            self.is_unmade = true;
            let found = format!("{}: it has no layout", bootstrap::NOT_STARTED);
            return self.findings.push(Finding::new(Kind::NotStarted, Site::Ledger, found));
        };
        let checked = bootstrap::check_layout(self.config, record)
            .and_then(|()| bootstrap::check_slots(self.config, record));
        match checked {
            Ok(()) => {
                let (n, m) = (record.layout.shard_bits(), record.layout.memory_bits());
                report.fine.push(format!(
                    "the configuration has its layout: n={n} m={m}, generation {}",
                    record.generation
                ));
            }
            Err(error) => {
                self.findings.push(ring::layout(&error.to_string(), record.generation, self.stamped));
            }
        }
    }

    /// Adds findings from elsewhere.
    pub(super) fn found(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.extend(findings);
    }

    /// Sets the highest generation of the stores' stamps of this ledger.
    pub(super) fn stamped(&mut self, generations: impl Iterator<Item = u64>) {
        self.stamped = generations.max().unwrap_or(0);
    }

    /// Adds a finding for each two slots that share a store.
    pub(super) fn shared_stores(&mut self, seen: &Seen) {
        let found = seen.iter().filter_map(|(slot, looked)| Some((*slot, looked.found.as_ref().ok()?)));
        let instances = found.map(|(slot, found)| (slot, &found.inspection.instance));
        self.findings.extend(ring::shared_stores(instances));
    }

    /// Adds a finding if ledger and stores are other files than those on record.
    pub(super) fn moved(&mut self, moved: bool) {
        self.findings.extend(moved.then(ring::moved));
    }

    /// Adds a shard, with the findings about its counters.
    pub(super) fn shard(
        &mut self,
        shard: &Shard,
        looked: &Looked<Examination>,
        stamp: impl Fn(&Examination) -> Option<Result<String, Finding>>,
        verdicts: &[Verdict],
        counters: usize,
    ) {
        let site = Site::Slot(shard.part.slot);
        let mut report = not_reached(site, &shard.part.place);
        match &looked.found {
            Err(error) => self.unreachable(site, error),
            Ok(found) => {
                let reached = Reached {
                    version: &found.inspection.version,
                    durability: &found.inspection.durability,
                    clock_ms: found.inspection.clock_ms,
                    asked: looked.asked,
                    facts: &found.facts,
                };
                self.reached(&mut report, &reached);
                match stamp(found) {
                    Some(Ok(fine)) => report.fine.push(fine),
                    Some(Err(finding)) => self.findings.push(finding),
                    None => {}
                }
                let own = verdicts.iter().filter(|own| own.counter.slot == shard.part.slot);
                let own: Vec<&Verdict> = own.collect();
                self.findings.extend(counters::findings(shard.part.slot, &own));
                self.compared(&mut report, found, &own, counters);
            }
        }
        self.places.push(report);
    }

    /// Adds a shard in each server's own memory: no other process can examine it.
    pub(super) fn memory(&mut self, shard: &Shard) {
        let site = Site::Slot(shard.part.slot);
        let text = "the store is in the memory of each server";
        self.findings.push(Finding::new(Kind::MemoryStore, site, text));
        self.places.push(PlaceReport { reached: true, ..not_reached(site, &shard.part.place) });
    }

    fn compared(&mut self, report: &mut PlaceReport, found: &Examination, own: &[&Verdict], counters: usize) {
        let ill = own.iter().filter(|verdict| verdict.row.is_some()).count();
        let well = found.cells.len().min(counters).saturating_sub(ill);
        if well > 0 {
            report.fine.push(format!(
                "{well} of {counters} counters are under their ceilings, and above what was given"
            ));
        }
        if counters == COUNTERS_MAX {
            let text = format!("only the first {COUNTERS_MAX} counters were compared with their rows");
            self.findings.push(Finding::new(Kind::NotExamined, report.place, text));
        }
    }

    /// Adds a finding if not all rows were read.
    pub(super) fn rows(&mut self, count: usize) {
        if count >= ROWS_MAX {
            let text = format!("only the first {ROWS_MAX} rows were examined, and no cells without a row");
            self.findings.push(Finding::new(Kind::NotExamined, Site::Ledger, text));
        }
    }

    /// The whole examination.
    pub(super) fn checkup(mut self, ledger: Option<&LedgerExamination>, seen: &Seen) -> Checkup {
        let found = seen.iter().filter_map(|(_, looked)| looked.found.as_ref().ok());
        let classes: Vec<_> = found.map(|found| found.inspection.durability.class).collect();
        if !self.is_unmade {
            // Before a cluster's first start most stores can't be examined.
            self.findings.extend(ring::durability(ledger, &classes));
        }
        if self.went_back {
            let counters = self.findings.iter_mut().filter(|finding| finding.kind.is_of_counter());
            counters.for_each(|finding| finding.advice.insert_str(0, RECOVER_FIRST));
        }
        let cluster =
            ledger.and_then(|ledger| ledger.layout.as_ref()).map(|record| record.cluster.to_string());
        let cluster = cluster.unwrap_or_else(|| self.config.cluster.to_string());
        Checkup::new(cluster, self.places, self.findings)
    }

    fn reached(&mut self, report: &mut PlaceReport, reached: &Reached<'_>) {
        report.reached = true;
        report.version = Some(reached.version.to_owned());
        report.durability = Some(reached.durability.class.as_str());
        report.settings.clone_from(&reached.durability.settings);
        let mut facts = reached.facts.iter().filter(|fact| fact.name != ring::BESIDE).peekable();
        if facts.peek().is_none() {
            report.fine.push("its settings and the user's rights are as they should be".to_owned());
        }
        self.findings.extend(facts.map(|fact| facts::finding(report.place, fact.clone())));
        let off_ms = reached.asked.off(reached.clock_ms);
        report.clock_off_ms = Some(off_ms);
        match clocks::finding(report.place, off_ms) {
            Some(finding) => self.findings.push(finding),
            None => report.fine.push("its clock is within 2 s of this machine's".to_owned()),
        }
    }

    fn unreachable(&mut self, place: Site, error: &SourceError) {
        let is_unmade = error.condition() == Some(Condition::NeverMade);
        if place == Site::Ledger {
            self.is_unmade = is_unmade;
        }
        if is_unmade && self.is_unmade {
            let text =
                if place == Site::Ledger { bootstrap::NOT_STARTED } else { "the store does not exist yet" };
            return self.findings.push(Finding::new(Kind::NotStarted, place, format!("{text} ({error})")));
        }
        let kind = if place == Site::Ledger { Kind::LedgerUnreachable } else { Kind::StoreUnreachable };
        self.findings.push(Finding::new(kind, place, error.to_string()));
    }
}

/// If the ledger is on a server, other hosts may have data directories with marks that only they can read.
fn no_mark(ledger: &Place) -> String {
    let elsewhere = match ledger {
        Place::Server(_) => "; data directories of other hosts were not examined",
        _ => "",
    };
    format!("no mark in a store or in this data directory is above its version{elsewhere}")
}

fn not_reached(place: Site, at: &Place) -> PlaceReport {
    PlaceReport {
        place,
        store: at.as_str(),
        address: at.to_string(),
        reached: false,
        version: None,
        durability: None,
        settings: Vec::new(),
        clock_off_ms: None,
        fine: Vec::new(),
    }
}
