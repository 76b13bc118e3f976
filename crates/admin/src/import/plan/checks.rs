//! Refusals of counters of which the next number is not known for sure: dates, and slot tables of which some may be missing.

use sequent_core::Layout;
use sequent_engine::{
    Body, Engine, EngineError, Texts, Timestamp,
    foreign::{COUNTING_TABLES, TableFormat},
};

use super::{Choice, OldCounter, Planned};

/// The zone without a choice.
const ZONE_DEFAULT: &str = "UTC";

/// A template of which only the zone can be at fault.
const DATED: &str = "@{date,yyyy}@{seq}";

/// What counters are checked against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlanFacts {
    /// That of the ring.
    pub(crate) layout: Layout,
    /// The present instant.
    pub(crate) now: Timestamp,
    /// A shard counts in slot tables by itself.
    pub(crate) adopts_tables: bool,
}

impl PlanFacts {
    pub(crate) fn of(engine: &Engine) -> Self {
        let cluster = engine.cluster();
        Self { layout: cluster.layout(), now: cluster.now(), adopts_tables: cluster.adopts_tables() }
    }
}

/// Refuses a choice that no counter could be imported with.
pub(crate) fn check_choice(choice: &Choice) -> Result<(), EngineError> {
    let zone = choice.zone();
    if Texts::new(DATED).zone(zone).proven().is_err() {
        return Err(EngineError::invalid_text(
            "zone",
            zone,
            "an IANA name such as Asia/Shanghai is expected",
        ));
    }
    let placement = Body::check(choice.placement.as_deref(), 1, 1, None, None, None);
    placement.map(drop).map_err(|fault| EngineError::invalid(fault.field, fault.value, fault.bound))
}

impl Choice {
    /// The zone of dates.
    pub(crate) fn zone(&self) -> &str {
        self.zone.as_deref().unwrap_or(ZONE_DEFAULT)
    }

    /// The texts of a template, not proven.
    pub(crate) fn texts(&self, template: &str) -> Texts {
        Texts::new(template).zone(self.zone())
    }

    /// Refuses what was chosen for counters that are not there: it would be passed over, and a sequence begin at 1.
    pub(super) fn check_fits(&self, counters: &[OldCounter]) -> Result<(), EngineError> {
        let olds = || counters.iter().map(|counter| (&*counter.source, &*counter.name));
        if let Some(mapping) = self.mappings.iter().find(|mapping| !mapping.fits(olds())) {
            let bound =
                "a counter of the other system is expected in front of the =, and none of those found is it";
            return Err(EngineError::invalid("map", mapping.text(), bound));
        }
        let is_default = self.table_names == TableFormat::default();
        if !is_default && counters.iter().all(|counter| counter.tables.is_none()) {
            let bound = "names of slot tables are expected, and no table that was found has such a name";
            return Err(EngineError::invalid("table_name", &self.table_names, bound));
        }
        Ok(())
    }
}

/// The zone of a definition whose texts show a date.
pub(crate) fn zone_of(body: &Body) -> Option<String> {
    let is_dated = body.texts().is_some_and(|texts| texts.template().contains("@{date,"));
    body.format().filter(|_| is_dated).map(|format| format.zone_name().to_owned())
}

impl Planned {
    /// Refuses the counter if its next number is not known for sure.
    pub(crate) fn check(&mut self, choice: &Choice, facts: PlanFacts) {
        if let Err(why) = self
            .check_tables(choice, facts)
            .and_then(|()| self.check_date(choice, facts))
            .and_then(|()| self.check_room(choice))
        {
            self.refuse(why);
        }
    }

    /// Any 1, 2, 4 … tables look complete, though a user may see only some, or another database have the others.
    fn check_tables(&mut self, choice: &Choice, facts: PlanFacts) -> Result<(), String> {
        let Some(found) = self.tables else { return Ok(()) };
        if facts.adopts_tables {
            let why = "a shard has adopt_tables = true: this ring counts in such tables by itself, and each import would skip \
                       numbers; name what is to be imported by --table";
            return Err(why.to_owned());
        }
        let slots = usize::from(facts.layout.slots());
        match choice.tables {
            None if found != slots => Err(format!(
                "tables found: {found}, slots of this ring: {slots}: name each database that has some; if these are \
                 all, say --tables {found}"
            )),
            Some(tables) if found != tables => Err(format!(
                "tables found: {found}, --tables says {tables}: name each database that has some"
            )),
            _ => {
                let layout = self.encoded.map(|layout| format!(", read with {layout}")).unwrap_or_default();
                self.note(format!("tables found: {found}{layout}"));
                Ok(())
            }
        }
    }

    fn check_date(&mut self, choice: &Choice, facts: PlanFacts) -> Result<(), String> {
        let Some(template) = self.shown.template.clone() else { return Ok(()) };
        if choice.zone.is_none() && template.contains("@{date,") {
            self.note(format!("its dates are those of {ZONE_DEFAULT}: --zone names another"));
        }
        if !self.resets {
            return Ok(());
        }
        // What is wrong with a template is told when it is defined.
        let Ok(texts) = choice.texts(&template).proven() else { return Ok(()) };
        let Some((format, today)) =
            texts.format().and_then(|format| Some((format, format.period_back(facts.now, 0)?)))
        else {
            return Ok(());
        };
        if let Some(period) = &self.shown.period {
            let begins = format.period_begins(period);
            let begins = begins.ok_or_else(|| format!("maxdate is {period}: there is no such date"))?;
            if begins > facts.now {
                let zone = choice.zone();
                return Err(format!(
                    "maxdate is {period}: at most {today} is allowed, today's in {zone}; name the zone of its dates by --zone"
                ));
            }
        }
        if choice.ahead == 0 {
            return Ok(());
        }
        if self.shown.period.as_ref() != Some(&today) {
            let period = self.shown.period.as_deref().unwrap_or("none");
            return Err(format!(
                "ahead is {}, and maxdate is {period}: its program would begin {today} at 1, as the sequence does; stop it and \
                 import without --ahead",
                choice.ahead
            ));
        }
        self.note(format!(
            "the room is in {today} alone, and the next date begins at 1 in both systems: move all callers before, or stop them"
        ));
        Ok(())
    }

    /// A table that counts by itself goes on above any id that is inserted, also above one of Sequent's.
    fn check_room(&self, choice: &Choice) -> Result<(), String> {
        if choice.ahead == 0 || self.shown.source != COUNTING_TABLES {
            return Ok(());
        }
        Err(format!(
            "ahead is {}: an id that a caller inserts takes the table's own counter beyond the room; stop the programs that \
             insert without an id, then import without --ahead",
            choice.ahead
        ))
    }
}
