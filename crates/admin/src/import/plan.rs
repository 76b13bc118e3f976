//! The plan of an import: each counter of the other system with what is to be done. It changes nothing.

mod checks;
mod known;

use std::collections::HashMap;

use sequent_core::{Block, Layout, Numbering, SequenceName};
use sequent_engine::{
    Body, BodyOptions, Engine, EngineError, Placement,
    config::SequencePart,
    foreign::{Table, TableFormat},
};

use super::{
    Action, ImportReport, ImportedCounter, Mapping, OldCounter, carry_out,
    decide::{Decision, Existing, decide},
    mapping, shapes,
};
use crate::advance;

pub(super) use checks::{PlanFacts, check_choice};
pub(super) use known::{Known, request};

/// From this number on, a sequence is defined for 64 bits: half of what numbers of JavaScript hold.
const WIDE_FROM: u64 = 1 << 52;

/// The last number of JavaScript, at which a sequence ends that does not say another.
const JS_MAX: u64 = (1 << 53) - 1;

/// What an operator chooses for all counters of an import.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// The placement of sequences that are defined; `None`: by their size.
    pub placement: Option<String>,
    /// The zone of dates; `None`: UTC.
    pub zone: Option<String>,
    /// How many numbers more each counter of the other system may give while callers move.
    pub ahead: u64,
    /// How many numbers an id of slot tables stands for, as a power of two: the memory bits of the old program.
    pub memory_bits: u32,
    /// The names of slot tables.
    pub table_names: TableFormat,
    /// How many slot tables each owner has; `None`: as many as the ring has slots.
    pub tables: Option<usize>,
    /// Which counter becomes which sequence.
    pub mappings: Vec<Mapping>,
}

/// A plan that can be carried out.
pub struct ImportPlan {
    pub(super) planned: Vec<Planned>,
}

/// A counter with what is to be done.
pub(super) struct Planned {
    pub(super) shown: ImportedCounter,
    pub(super) name: Option<SequenceName>,
    /// The content, if it is to be defined.
    pub(super) body: Option<Body>,
    /// The next number of the other system.
    own: u64,
    /// The other system may have given all numbers below this one, with the room that it has.
    pub(super) next: u64,
    /// The layout by which its numbers are encoded.
    encoded: Option<Layout>,
    /// How many slot tables it was found in.
    tables: Option<usize>,
    /// The last number in the other system, if it has one.
    end: Option<u64>,
    /// It begins anew with each date.
    pub(super) resets: bool,
}

impl Choice {
    /// The counters in these tables.
    pub(super) fn counters(&self, tables: &[Table]) -> Vec<OldCounter> {
        shapes::counters(tables, self.memory_bits, &self.table_names)
    }
}

impl ImportPlan {
    /// The plan, for people and scripts.
    pub fn report(&self) -> ImportReport {
        ImportReport {
            is_done: false,
            counters: self.planned.iter().map(|planned| planned.shown.clone()).collect(),
        }
    }
}

impl Planned {
    pub(super) fn refuse(&mut self, why: String) {
        self.shown.action = Action::Refused;
        self.shown.note = Some(why);
        self.body = None;
    }

    /// Adds what to know of it.
    fn note(&mut self, more: String) {
        self.shown.note = Some(match self.shown.note.take() {
            Some(note) => format!("{note}; {more}"),
            None => more,
        });
    }

    /// The last number of a sequence that begins with `start`, if its numbers would go on beyond that of the other system.
    fn end_of(&self, start: u64) -> Option<u64> {
        let most = if start < WIDE_FROM { JS_MAX } else { Block::NUMBER_MAX };
        self.end.filter(|end| *end < most)
    }

    /// Notes in what a sequence that is there differs.
    fn note_differences(&mut self, existing: &Existing, layout: Layout) {
        if self.shown.step != existing.step && self.shown.template.is_none() {
            self.note(format!("its step is {} there, and stays {} here", self.shown.step, existing.step));
        }
        if let Some(end) = self.end.filter(|end| *end < existing.end) {
            self.note(format!("it ends at {end} there, and at {} here", existing.end));
        }
        self.note_numbering(existing.numbering, layout);
    }

    /// Why ids of the other system can't be compared with encoded numbers of this ring, of the layout `here`.
    pub(super) fn other_layout(&self, numbering: Numbering, here: Layout) -> Option<String> {
        let own = self.encoded.filter(|own| numbering == Numbering::Encoded && *own != here)?;
        Some(format!(
            "its ids are read with {own}, and the sequence's numbers are encoded with {here}: the --memory-bits and --tables of the \
             import are expected"
        ))
    }

    /// Notes that numbers of this ring, of the layout `here`, are made of ids in another way.
    fn note_numbering(&mut self, numbering: Numbering, here: Layout) {
        let is_ordinal = numbering == Numbering::Ordinal;
        let Some(own) = self.encoded.filter(|own| is_ordinal || *own != here) else { return };
        let how = if is_ordinal { "without slots in them" } else { "by this ring's" };
        let other = if own == here { String::new() } else { format!(", this ring has {here}") };
        self.note(format!("its numbers were encoded with {own}{other}: they go on {how}"));
    }
}

/// The plan of the counters in these tables.
///
/// # Errors
///
/// Errors of the ledger. A counter that can't be imported is refused in the plan.
pub async fn plan(engine: &Engine, tables: &[Table], choice: &Choice) -> Result<ImportPlan, EngineError> {
    check_choice(choice)?;
    let known = Known::of(engine).await?;
    let facts = PlanFacts::of(engine);
    let counters = choice.counters(tables);
    choice.check_fits(&counters)?;
    let mut planned = named(counters, choice, facts);
    for planned in planned.iter_mut().filter(|planned| planned.shown.action != Action::Refused) {
        let existing = match known.existing(engine, planned).await {
            Ok(existing) => existing,
            Err(error) if carry_out::is_of_one(&error) => {
                planned.refuse(error.to_string());
                continue;
            }
            Err(error) => return Err(error),
        };
        settle(planned, existing.as_ref(), (choice, facts.layout));
        if planned.shown.action == Action::Advance {
            note_overlap(engine, planned, existing.as_ref()).await?;
        }
    }
    let refusals = engine.refusals(&firsts(&planned));
    refuse_each(&mut planned, refusals);
    Ok(ImportPlan { planned })
}

/// The counters with their new names. A name that is none, one that two counters would have, and a counter whose next number is not
/// known for sure, is refused.
pub(super) fn named(counters: Vec<OldCounter>, choice: &Choice, facts: PlanFacts) -> Vec<Planned> {
    let mut planned: Vec<Planned> = counters.into_iter().map(|counter| one(counter, choice)).collect();
    for planned in planned.iter_mut().filter(|planned| planned.shown.action != Action::Refused) {
        planned.check(choice, facts);
    }
    let mut names: HashMap<String, usize> = HashMap::new();
    for planned in &planned {
        *names.entry(planned.shown.sequence.clone()).or_default() += 1;
    }
    let is_alone = |planned: &Planned| names[&planned.shown.sequence] == 1;
    let refused = |planned: &Planned| planned.shown.action == Action::Refused;
    for planned in planned.iter_mut().filter(|planned| !is_alone(planned) && !refused(planned)) {
        let (count, ImportedCounter { sequence, source, counter, .. }) =
            (names[&planned.shown.sequence], &planned.shown);
        planned.refuse(format!(
            "{count} counters would become {sequence}: name them apart by --map, such as --map {source}.{counter}=NEW"
        ));
    }
    planned
}

fn one(counter: OldCounter, choice: &Choice) -> Planned {
    let sequence = mapping::name(&choice.mappings, (&counter.source, &counter.name));
    let name = sequence.parse::<SequenceName>();
    let room = room(&counter, choice.ahead);
    let own = counter.next.as_ref().ok().copied();
    let next = own.and_then(|own| own.checked_add(room?));
    let next = next.filter(|next| i64::try_from(next.saturating_sub(1)).is_ok());
    let fault = match (&counter.next, &name, next) {
        (Err(fault), ..) => Some(fault.clone()),
        (_, Err(error), _) => Some(format!("{error}: name another by --map")),
        (Ok(_), Ok(_), None) => {
            Some(format!("ahead is {}: its numbers would end above {}", choice.ahead, i64::MAX))
        }
        _ => None,
    };
    let resets = counter.texts.as_ref().is_some_and(|texts| texts.resets);
    let (template, period) = counter.texts.map_or((None, None), |texts| (Some(texts.template), texts.period));
    // A counter whose date is not known has given nothing yet.
    let next = next.map(|next| if resets && period.is_none() { 0 } else { next });
    let shown = ImportedCounter {
        source: counter.source,
        counter: counter.name,
        sequence,
        to: next.and_then(|next| next.checked_sub(1)),
        step: counter.step,
        template,
        period,
        note: counter.note,
        ..ImportedCounter::default()
    };
    let OldCounter { encoded, tables, end, .. } = counter;
    let (own, next, name) = (own.unwrap_or(0), next.unwrap_or(0), name.ok());
    let mut planned = Planned { shown, name, body: None, own, next, encoded, tables, end, resets };
    if let Some(fault) = fault {
        planned.refuse(fault);
    }
    planned
}

/// The range of `count` more numbers of a counter. Of slot tables, one alone may give them all.
fn room(counter: &OldCounter, count: u64) -> Option<u64> {
    let Some(tables) = counter.tables else { return counter.step.checked_mul(count) };
    let of_id = counter.encoded.map_or(1, Layout::numbers_per_id);
    let ids = count.div_ceil(of_id);
    ids.checked_mul(of_id)?.checked_mul(u64::try_from(tables).ok()?)
}

/// Decides, and makes the definition for a ring of this layout.
fn settle(planned: &mut Planned, existing: Option<&Existing>, (choice, layout): (&Choice, Layout)) {
    let shown = &planned.shown;
    // A counter of each period is told by its template, which shows a date that resets it.
    let resets = shown
        .template
        .as_deref()
        .is_some_and(|template| template.contains("@{date,") && !template.contains("reset=never"));
    let decision = decide((planned.own, planned.next), (shown.template.as_deref(), resets), existing);
    if let Some(why) = existing.and_then(|existing| existing.other_zone(choice.zone())) {
        return planned.refuse(why);
    }
    if let Some(existing) = existing {
        planned.note_differences(existing, layout);
    }
    match decision {
        Decision::Nothing => {}
        Decision::RoomLeft(left) => {
            planned.shown.to = (planned.own + left).checked_sub(1);
            planned.note(format!(
                "an import before left room: {left} numbers of it are left, and it is not enlarged, since the sequence may have \
                 given those above"
            ));
        }
        Decision::Advance(to) => {
            planned.shown.action = Action::Advance;
            planned.shown.to = Some(to);
        }
        Decision::Refused(why) => planned.refuse(why),
        Decision::Define(start) => match body(planned, start, (choice, layout)) {
            Ok(body) => {
                let is_encoded = body.numbering() == Numbering::Encoded;
                planned.shown.action = Action::Define;
                planned.shown.start = Some(start).filter(|_| !is_encoded);
                planned.shown.numbering = is_encoded.then_some(Numbering::Encoded.as_str());
                planned.note_numbering(body.numbering(), layout);
                if let Some(end) = planned.end_of(start) {
                    planned.shown.end = Some(end);
                    planned.note(format!("it ends at {end}, as there"));
                }
                planned.shown.placement = Some(body.placement().as_str());
                planned.body = Some(body);
            }
            Err(fault) => planned.refuse(fault),
        },
    }
}

fn body(planned: &Planned, start: u64, (choice, layout): (&Choice, Layout)) -> Result<Body, String> {
    let shown = &planned.shown;
    let texts = shown.template.as_ref().map(|template| choice.texts(template));
    let (fits, end) = ((start >= WIDE_FROM).then_some("int64"), planned.end_of(start));
    if let Some(end) = end.filter(|end| *end < start) {
        return Err(format!("its next number is {start}, and the other system ends at {end}: none is left"));
    }
    let placement = choice.placement.as_deref();
    let is_encoded = planned.encoded == Some(layout) && placement != Some(Placement::Dense.as_str());
    if is_encoded {
        let options = BodyOptions { numbering: Some("encoded".to_owned()), ..BodyOptions::default() };
        let body = Body::check(placement, 1, 1, None, fits, texts)?;
        return Ok(body.with_options(&options, placement)?);
    }
    Ok(Body::check(placement, start, shown.step, end, fits, texts)?)
}

/// Notes which numbers both systems may have given.
async fn note_overlap(
    engine: &Engine,
    planned: &mut Planned,
    existing: Option<&Existing>,
) -> Result<(), EngineError> {
    let Some((name, existing)) = planned.name.as_ref().zip(existing) else { return Ok(()) };
    let request = request(engine, name, planned.shown.period.as_deref()).await?;
    let first = existing.first(planned.shown.period.is_some());
    let Some(given) = advance::given(engine, &request).await? else { return Ok(()) };
    let has_room = planned.own < planned.next;
    if has_room && given.at_most >= planned.own {
        planned.refuse(format!(
            "{given}, and the next of the other system is {}: there is no room for it; stop it, then import without --ahead",
            planned.own
        ));
    } else if given.at_most >= first {
        let overlap = given.at_most.min(planned.shown.to.unwrap_or(0));
        planned.note(format!("{given}: those up to {overlap} may be the other system's, too"));
    }
    Ok(())
}

/// Refuses the counters whose definitions are refused: `refusals` has the reason for each of the [`firsts`].
pub(super) fn refuse_each(planned: &mut [Planned], refusals: Vec<Option<String>>) {
    let defined = planned.iter_mut().filter(|planned| planned.body.is_some());
    for (planned, refusal) in defined.zip(refusals) {
        if let Some(why) = refusal {
            planned.refuse(why);
        }
    }
}

/// The definitions of a plan, in its order.
pub(super) fn firsts(planned: &[Planned]) -> Vec<SequencePart> {
    let first = |planned: &Planned| {
        let (name, body) = (planned.name.clone()?, planned.body.clone()?);
        Some(SequencePart { name, version: 1, body, effective: None })
    };
    planned.iter().filter_map(first).collect()
}

#[cfg(test)]
mod tests;
