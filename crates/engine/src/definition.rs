//! What a sequence gives, in one canonical text.

use sequent_core::{Fits, Key, KeyError, Layout, SequenceName, Span, SpanError, ledger::Definition};
use sequent_format::{Counter, Format, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{capacity::AtRisk, texts::Texts};

mod effect;

pub use effect::{EARLIER_MAX, EFFECTIVE_AHEAD_MIN, Effective};
use effect::{Earlier, Since};

/// A key with fewer numbers than this has `dense` as its default placement.
pub const SPREAD_CAPACITY_MIN: u64 = 1_000_000;

/// A placement of this version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Over the ring.
    Spread,
    /// One counter in the ledger: in order, without gaps, and only while the ledger lives.
    Dense,
}

impl Placement {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spread => "spread",
            Self::Dense => "dense",
        }
    }
}

/// The content of a definition: all of it but name and version.
///
/// Its text in the ledger is JSON with the fields in this order and without blanks, so that equal definitions have
/// equal texts:
///
/// ```
/// use sequent_engine::Body;
/// let text = r#"{"placement":"spread","start":1,"step":1,"fits":"js"}"#;
/// assert_eq!(Body::default().to_text(), text);
/// assert_eq!(Body::from_text(text)?, Body::default());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    placement: Placement,
    start: u64,
    step: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<u64>,
    #[serde(with = "fits_word")]
    fits: Fits,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    texts: Option<Texts>,
    /// From when on it is in effect, where another one is before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<Since>,
    /// What is in effect before it, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<Earlier>,
}

/// A field of a definition that is out of bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyFault {
    /// The field.
    pub field: &'static str,
    /// What was found.
    pub value: String,
    /// What is allowed.
    pub bound: String,
}

impl Default for Body {
    fn default() -> Self {
        Self {
            placement: Placement::Spread,
            start: 1,
            step: 1,
            end: None,
            fits: Fits::default(),
            texts: None,
            from: None,
            earlier: Vec::new(),
        }
    }
}

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
        let counter = texts.as_ref().and_then(Texts::format).map(Format::counter);
        let start = said_once("start", start, counter.map(|counter| counter.start))?;
        let step = said_once("step", step, counter.map(|counter| counter.step))?;
        check_round(start, counter)?;
        Span::new(start, step, end, fits).map_err(|error| of_span(&error))?;
        let body = Self { start, step, end, fits, texts, ..Self::default() };
        let span = body.checked_span().map_err(|error| of_span(&error))?;
        let refuse = |value: String, bound: &str| {
            Err(BodyFault { field: "placement", value, bound: bound.to_owned() })
        };
        let placement = match placement {
            Some("spread") => Placement::Spread,
            Some("dense") => Placement::Dense,
            Some("book") => {
                // What a book could never have is said first: rule S8.
                body.texts.as_ref().map_or(Ok(()), Texts::check_book)?;
                return refuse(
                    "\"book\"".to_owned(),
                    "book is not built into this version, spread and dense are",
                );
            }
            Some(word) => return refuse(format!("{word:?}"), "spread, dense and book are known"),
            // What a ring may skip would be a good part of so few.
            None if body.bound().is_some() && span.capacity() < SPREAD_CAPACITY_MIN => Placement::Dense,
            None => Placement::Spread,
        };
        Ok(Self { placement, ..body })
    }

    /// Which numbers: as far as `end`, what fits, and what its template has texts for.
    pub fn span(&self) -> Span {
        // Both ways in have checked the bounds; a default span is never seen.
        self.checked_span().unwrap_or_default()
    }

    fn checked_span(&self) -> Result<Span, SpanError> {
        let limit = self.fits.limit();
        let template = self.texts_end().filter(|end| *end < limit);
        let end = self.end.into_iter().chain(template).min();
        Span::new(self.start, self.step, end, self.fits)
    }

    /// The field that bounds it, and the last number, where it is less than what fits.
    pub(crate) fn bound(&self) -> Option<(&'static str, u64)> {
        let last = self.span().limit();
        if self.end == Some(last) {
            return Some(("end", last));
        }
        (last < self.fits.limit()).then_some(("template", last))
    }

    /// The last number that the template has a text for. A number whose text would be that of an earlier one has none:
    /// nothing in a cluster knows how long ago that one was given.
    fn texts_end(&self) -> Option<u64> {
        let Counter { end, wrap, .. } = self.format()?.counter();
        let round = wrap.map(|wrap| self.start.saturating_add(wrap.cycle).saturating_sub(self.step));
        Some(round.unwrap_or(end))
    }

    /// What its texts are, where it has a template.
    pub fn texts(&self) -> Option<&Texts> {
        self.texts.as_ref()
    }

    /// What renders its texts, where it has a template.
    pub fn format(&self) -> Option<&Format> {
        self.texts.as_ref()?.format()
    }

    /// Where it counts.
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// The canonical text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The content of a text that this version can read.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let mut body = Self::unproven(text)?;
        body.prove()?;
        body.prove_earlier()?;
        Ok(body)
    }

    /// The same as it is written, not proven: to be shown, where the key of `obf` is not at hand. It renders and reads nothing.
    pub(crate) fn unproven(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    fn prove(&mut self) -> Result<(), String> {
        let proven = self.texts.take().map(Texts::proven).transpose();
        self.texts =
            proven.map_err(|fault| format!("{} is {}: {}", fault.field, fault.value, fault.bound))?;
        self.checked_span().map(drop).map_err(|error| error.to_string())
    }

    /// A key that every key of `name` is like: whether it has a period, how many values partition it, and how long the
    /// shortest of them are; an error where not even that one can be held.
    pub(crate) fn example_key(&self, name: &SequenceName) -> Result<Key, KeyError> {
        let Some(format) = self.format() else { return Ok(Key::of(name)) };
        // All keys of a kind of period have one length.
        let period = format.period_back(Timestamp::UNIX_EPOCH, 0).unwrap_or_default();
        let values: Vec<String> = format.shortest_values().map(|bytes| "0".repeat(bytes)).collect();
        Key::new(name, &period, &values.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The definition of `name` in this content and version.
    pub fn defining(&self, name: &SequenceName, version: u32) -> Definition {
        Definition { name: name.clone(), version, body: self.to_text() }
    }

    /// Whether `self` may take the place of `held`: a changed start or step would give numbers of the old ones again, and
    /// a changed template, or a first one, must give no text that the old ones gave. A number is one with its period and
    /// the values that partition it: another period's counter begins again, if texts tell them apart.
    pub fn may_follow(&self, held: &Self) -> bool {
        self.follows(held).is_ok()
    }

    /// The same, with what it does that it may not, and how to mend it.
    pub fn follows(&self, held: &Self) -> Result<(), String> {
        if (self.start, self.step) != (held.start, held.step) {
            return Err(format!(
                "changes start or step, which would give numbers of the version before again: keep start {} and step \
                 {}, or define another sequence",
                held.start, held.step
            ));
        }
        if self.placement != held.placement {
            let (was, is) = (held.placement.as_str(), self.placement.as_str());
            return Err(format!(
                "changes placement from {was} to {is}, another counter, which would give numbers of the version before \
                 again: say --placement {was} (placement = {was:?} in a file), or define another sequence"
            ));
        }
        match (&self.texts, &held.texts) {
            (None, None) => Ok(()),
            (Some(texts), None) => texts.follows_numbers(),
            (None, Some(held)) => Err(format!(
                "has no template any more, and its texts were unique by it: keep {}, or define another sequence",
                held.template()
            )),
            (Some(texts), Some(held)) => texts.follows(held),
        }
    }

    /// The same, knowing the templates of `held`, which was `version`.
    #[must_use]
    pub(crate) fn after(&self, version: u32, held: &Self) -> Self {
        match (&self.texts, &held.texts) {
            (Some(texts), held) => Self { texts: Some(texts.after(version, held.as_ref())), ..self.clone() },
            _ => self.clone(),
        }
    }

    /// The same as it is brought for a sequence of which `held` is known: where a key hides its numbers, the name hides
    /// them too.
    pub(crate) fn named(&self, name: &SequenceName, held: Option<&Self>) -> Result<Self, BodyFault> {
        let Some(texts) = self.texts().filter(|texts| texts.hides()) else { return Ok(self.clone()) };
        let texts = texts.named(name, held.and_then(Self::texts))?;
        Ok(Self { texts: Some(texts), ..self.clone() })
    }

    /// Whether both say the same, whatever versions before said, from whenever on, and whether the name hides numbers too.
    pub(crate) fn says_as(&self, other: &Self) -> bool {
        let said = |texts: &Texts| texts.alone().nameless();
        let alone = |body: &Self| Self { texts: body.texts.as_ref().map(said), ..body.at_once() };
        alone(self) == alone(other)
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
fn check_round(start: u64, template: Option<Counter>) -> Result<(), BodyFault> {
    let Some(counter) = template.filter(|counter| counter.wrap.is_some() && counter.start != start) else {
        return Ok(());
    };
    let bound = format!(
        "{} is where rounds of over=wrap begin, unless the template says another: say it there, @{{seq,start={start}}}",
        counter.start
    );
    Err(BodyFault { field: "start", value: start.to_string(), bound })
}

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

mod fits_word {
    use sequent_core::Fits;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    pub(super) fn serialize<S: Serializer>(fits: &Fits, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(fits.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Fits, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(template: &str, start: u64, step: u64) -> Result<Body, BodyFault> {
        Body::check(Some("spread"), start, step, None, None, Some(Texts::new(template)))
    }

    /// Whether its first and its last number are what their texts are read as.
    fn ends_are_read(body: &Body) -> bool {
        let (format, span) = (body.format().unwrap(), body.span());
        let values = sequent_format::Values::new();
        [span.start(), span.limit()].into_iter().all(|number| {
            let shown = format.preview(number, "2026-04-01T00:00:00Z".parse().unwrap(), &values).unwrap();
            body.texts().unwrap().read(&shown.text).is_ok_and(|read| read.number == number)
        })
    }

    #[test]
    fn a_round_begins_where_its_template_says() {
        let fault = body("@{seq,w=3,over=wrap,reuse_after=1d}", 5, 1).unwrap_err();
        assert_eq!((fault.field, fault.value.as_str()), ("start", "5"));
        assert!(fault.bound.contains("@{seq,start=5}"), "{}", fault.bound);
        for (template, start, step) in [
            ("@{seq,w=3,over=wrap,reuse_after=1d}", 1, 1),
            ("@{seq,w=3,over=wrap,reuse_after=1d}", 1, 2),
            ("@{seq,w=3,start=5,over=wrap,reuse_after=1d}", 1, 1),
            ("@{seq,w=3,start=5,over=wrap,reuse_after=1d}", 5, 3),
            ("@{seq,w=3,over=error}", 5, 1),
        ] {
            let body = body(template, start, step).unwrap_or_else(|fault| panic!("{template}: {fault:?}"));
            assert!(ends_are_read(&body), "{template} from {start} by {step}");
        }
    }

    #[test]
    fn a_key_that_nothing_holds_is_told_by_its_shortest_values() {
        let name: SequenceName = "k7".parse().unwrap();
        let key = |template: &str| {
            let texts = Texts::new(template).maxlen(Some(256));
            Body::check(Some("spread"), 1, 1, None, None, Some(texts)).unwrap().example_key(&name)
        };
        let error = key("@{ctx,a,len=120}-@{ctx,b,len=112}-@{seq,w=5,over=error}").unwrap_err();
        assert_eq!(error.length, "k7|0:|120:".len() + 120 + "|112:".len() + 112);
        for template in [
            "@{date,yyyyMMddHH}-@{ctx,a,len=112}-@{ctx,b,len=100}@{seq,w=5,over=error}",
            "@{ctx,a,re=[é]+,len=115}-@{seq,w=5,over=error}",
            "@{ctx,a,len=120,by=no}-@{ctx,b,map=a:x;b:y}-@{seq,w=5,over=error}",
        ] {
            let fits = template.contains("by=no");
            assert_eq!(key(template).is_ok(), fits, "{template}");
        }
        // A value may be long; one that is short has a key.
        assert!(key("@{ctx,a,max=120}-@{ctx,b,len=112,re=[^-]+}-@{seq,w=5,over=error}").is_ok());
    }
}
