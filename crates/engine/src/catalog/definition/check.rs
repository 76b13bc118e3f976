//! What a definition must hold to before it is taken.

use sequent_core::{Fits, Layout, Span, SpanError};
use sequent_format::{CounterSpec, Format};

use super::{Body, BodyFault, Placement, SPREAD_CAPACITY_MIN};
use crate::{catalog::definition::capacity::AtRisk, texts::Texts};

impl Body {
    /// A content, checked as far as it can be without a layout; `None` takes the default. A template is proven here.
    pub fn check(
        placement: Option<&str>,
        start: u64,
        step: u64,
        end: Option<u64>,
        fits: Option<&str>,
        texts: Option<Texts>,
    ) -> Result<Self, BodyFault> {
        let fits = fits.map_or(Ok(Fits::default()), str::parse::<Fits>).map_err(|error| of_span(&error))?;
        let texts = texts.map(Texts::proven).transpose()?;
        let counter = texts.as_ref().and_then(Texts::format).map(Format::counter_spec);
        let start = said_once("start", start, counter.map(|counter| counter.start))?;
        let step = said_once("step", step, counter.map(|counter| counter.step))?;
        check_round(start, counter)?;
        // Its own end first: a template with fewer texts would hide what is wrong with it.
        Span::new(start, step, end, fits).map_err(|error| of_span(&error))?;
        let body = Self { start, step, end, fits, texts, ..Self::default() };
        body.checked_span().map_err(|error| of_span(&error))?;
        let placement = match placement {
            Some(word) => body.placement_of(word)?,
            None => body.placement_by_size(),
        };
        Ok(Self { placement, ..body })
    }

    fn placement_of(&self, word: &str) -> Result<Placement, BodyFault> {
        let refuse = |bound: &str| {
            Err(BodyFault { field: "placement", value: format!("{word:?}"), bound: bound.to_owned() })
        };
        match word {
            "spread" => Ok(Placement::Spread),
            "dense" => Ok(Placement::Dense),
            "book" => {
                // What a book could never have is said first: rule S8.
                self.texts.as_ref().map_or(Ok(()), Texts::check_book)?;
                refuse("book is not built into this version, spread and dense are")
            }
            _ => refuse("spread, dense and book are known"),
        }
    }

    /// Where it counts if nobody says it: what a ring may skip would be a good part of a few numbers.
    fn placement_by_size(&self) -> Placement {
        if self.bound().is_some() && self.span().capacity() < SPREAD_CAPACITY_MIN {
            Placement::Dense
        } else {
            Placement::Spread
        }
    }

    /// Refuses `spread` over a bound where all servers together could skip more than 1 % of it, with the sum. It is a rule
    /// for what is being defined: what is in force stays, however many servers there are later.
    pub fn check_layout(&self, layout: Layout, at_risk: AtRisk) -> Result<(), BodyFault> {
        let Some((field, end)) = self.bound().filter(|_| self.placement == Placement::Spread) else {
            return Ok(());
        };
        let capacity = self.capacity(layout, at_risk);
        if capacity.may_be_spread() {
            return Ok(());
        }
        let (numbers, is_end) = (capacity.numbers, field == "end");
        let room = if is_end { "a higher end" } else { "more digits" };
        let bound = format!(
            "spread could skip {} of {numbers} numbers ({}), and at most 1 % is allowed: placement dense, {room}, fewer \
             servers, or a lower reservoir.at_risk_max and limits.lease_max_count",
            capacity.skipped(),
            capacity.parts(),
        );
        let value = if is_end { end.to_string() } else { format!("one of {numbers} numbers") };
        Err(BodyFault { field, value, bound })
    }
}

/// A number that a definition and its template both may name: whichever names it, but not two.
fn said_once(field: &'static str, said: u64, template: Option<u64>) -> Result<u64, BodyFault> {
    match template {
        Some(template) if template != 1 && said != 1 && said != template => Err(BodyFault {
            field,
            value: said.to_string(),
            bound: format!("the template says {template}: say it once"),
        }),
        Some(template) if template != 1 => Ok(template),
        _ => Ok(said),
    }
}

/// Refuses a first number of which the template does not know where texts begin again: a text is read as a number of its
/// first round, which begins at the template's own.
fn check_round(start: u64, template: Option<CounterSpec>) -> Result<(), BodyFault> {
    let Some(counter) = template.filter(|counter| counter.wrap.is_some() && counter.start != start) else {
        return Ok(());
    };
    let bound = format!(
        "{} is where rounds of over=wrap begin, unless the template says another: say it there, @{{seq,start={start}}}",
        counter.start
    );
    Err(BodyFault { field: "start", value: start.to_string(), bound })
}

/// The same fault, by field, value and bound.
fn of_span(error: &SpanError) -> BodyFault {
    let field = match error {
        SpanError::Start(_) => "start",
        SpanError::Step(_) => "step",
        SpanError::End { .. } => "end",
        SpanError::Beyond { field, .. } => field,
        SpanError::Fits(_) => "fits",
    };
    // Core's text is `field is value: bound`.
    let text = error.to_string();
    let rest = text.strip_prefix(field).and_then(|rest| rest.strip_prefix(" is ")).unwrap_or(&text);
    let (value, bound) = rest.split_once(": ").unwrap_or((rest, ""));
    BodyFault { field, value: value.to_owned(), bound: bound.to_owned() }
}
