//! Checks of a definition before it is accepted.

use sequent_core::{FieldFault, Fits, Layout, Span};
use sequent_format::{CounterSpec, Format};

use super::{Body, Placement, SPREAD_CAPACITY_MIN, capacity::AtRisk};
use crate::texts::Texts;

impl Body {
    /// A content, checked as far as possible without a layout; `None` means the default. A template is verified here.
    pub fn check(
        placement: Option<&str>,
        start: u64,
        step: u64,
        end: Option<u64>,
        fits: Option<&str>,
        texts: Option<Texts>,
    ) -> Result<Self, FieldFault> {
        let fits = fits.map_or(Ok(Fits::default()), str::parse::<Fits>)?;
        let texts = texts.map(Texts::proven).transpose()?;
        let counter = texts.as_ref().and_then(Texts::format).map(Format::counter_spec);
        let start = said_once("start", start, counter.map(|counter| counter.start))?;
        let step = said_once("step", step, counter.map(|counter| counter.step))?;
        check_round(start, counter)?;
        check_first(start, counter)?;
        // The sequence's own end is checked first: a template with fewer texts would hide its fault.
        Span::new(start, step, end, fits)?;
        let body = Self { start, step, end, fits, texts, ..Self::default() };
        body.checked_span()?;
        let placement = match placement {
            Some(word) => body.placement_of(word)?,
            None => body.placement_by_size(),
        };
        Ok(Self { placement, ..body })
    }

    fn placement_of(&self, word: &str) -> Result<Placement, FieldFault> {
        let refuse = |bound: &str| Err(FieldFault::new("placement", format!("{word:?}"), bound));
        match word {
            "spread" => Ok(Placement::Spread),
            "dense" => Ok(Placement::Dense),
            "book" => {
                // Rule S8 comes first: a fault that a book could never accept is reported before the missing
                // placement.
                self.texts.as_ref().map_or(Ok(()), Texts::check_book)?;
                refuse("book is not built into this version, spread and dense are")
            }
            _ => refuse("spread and dense are known"),
        }
    }

    /// The default placement. With few numbers it is `dense`, since the ring may skip a considerable part of them.
    fn placement_by_size(&self) -> Placement {
        if self.bound().is_some() && self.span().capacity() < SPREAD_CAPACITY_MIN {
            Placement::Dense
        } else {
            Placement::Spread
        }
    }

    /// Refuses `spread` with a bound if all servers together could skip more than 1 % of it; the error contains the
    /// sum. The rule applies to new definitions: one in force stays, however many servers there are later.
    pub fn check_layout(&self, layout: Layout, at_risk: AtRisk) -> Result<(), FieldFault> {
        self.check_at_risk(at_risk.held_max)?;
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
        Err(FieldFault::new(field, value, bound))
    }
}

/// A number that either a definition or its template may set. Two different values are refused.
fn said_once(field: &'static str, said: u64, template: Option<u64>) -> Result<u64, FieldFault> {
    match template {
        Some(template) if template != 1 && said != 1 && said != template => {
            Err(FieldFault::new(field, said, format!("the template says {template}: say it once")))
        }
        Some(template) if template != 1 => Ok(template),
        _ => Ok(said),
    }
}

/// Refuses a first number other than the template's if texts wrap around. A text is parsed as a number of its first
/// round, which begins at the template's own first number.
fn check_round(start: u64, template: Option<CounterSpec>) -> Result<(), FieldFault> {
    let Some(counter) = template.filter(|counter| counter.wrap.is_some() && counter.start != start) else {
        return Ok(());
    };
    let bound = format!(
        "{} is where rounds of over=wrap begin, unless the template says another: say it there, @{{seq,start={start}}}",
        counter.start
    );
    Err(FieldFault::new("start", start, bound))
}

/// Refuses a first number below the template's: what is known of the template's texts holds from its own first number on.
fn check_first(start: u64, template: Option<CounterSpec>) -> Result<(), FieldFault> {
    let Some(counter) = template.filter(|counter| start < counter.start) else { return Ok(()) };
    let bound =
        format!("the template's numbers begin at {}: say it there, @{{seq,start={start}}}", counter.start);
    Err(FieldFault::new("start", start, bound))
}
