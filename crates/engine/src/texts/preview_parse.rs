//! `preview` and `parse` on a running cluster: the text of a number, and the meaning of a text. Nothing is consumed.

use sequent_core::SequenceName;
use sequent_format::{Decoded, Format, PreviewError, Values, tzdb_version};
use serde::Serialize;

use crate::{
    definition::{Body, capacity::Capacity},
    engine::Engine,
    error::EngineError,
    issue::request::{of_issue, of_value},
    ledger_timeout::not_found,
    status::report::as_text,
    texts::{ReadFault, Texts},
};

/// The error text for a preview without a sequence if a key hides the template's numbers.
const NOBODYS: &str =
    "obf hides the numbers of each sequence in a way of its own, and this is none's: name a defined one";

/// The definition that renders and parses texts.
#[derive(Debug, Clone)]
pub enum By {
    /// A defined sequence.
    Sequence(SequenceName),
    /// A content that need not be defined.
    Body(Box<Body>),
}

/// A request for a text that is not issued.
#[derive(Debug, Clone)]
pub struct PreviewAsk {
    /// The definition that renders it.
    pub by: By,
    /// The number; `None`: the first one.
    pub number: Option<u64>,
    /// The instant, as a caller writes it; `None`: now.
    pub at: Option<String>,
    /// Values for the template.
    pub with: Values,
}

/// A text that is not issued, with its number, period and values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreviewReport {
    /// The text.
    pub text: String,
    /// The number.
    #[serde(serialize_with = "as_text")]
    pub number: u64,
    /// The key of the period; empty if the counter never resets.
    pub period: String,
    /// The values that partition the counter, in the order of its key.
    pub partition: Vec<NamedValue>,
    /// The instant it would be issued at, in the definition's zone.
    pub at: String,
    /// The zone.
    pub zone: String,
    /// The release of the time zone data.
    pub tzdb: &'static str,
    /// The longest text, in characters.
    pub max_len: usize,
    /// Always true, so that the number is not taken for an issued one.
    pub preview: bool,
    /// Warnings about allowed settings.
    pub warnings: Vec<String>,
    /// How many numbers a key has, and how many of them may be skipped.
    pub capacity: Capacity,
}

/// The meaning of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ParseReport {
    /// The number.
    #[serde(serialize_with = "as_text")]
    pub number: u64,
    /// The key of the period; `None` if the text does not show it.
    pub period: Option<String>,
    /// The values that the text shows.
    pub values: Vec<NamedValue>,
    /// The text as the template writes it.
    pub text: String,
}

/// A value with its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedValue {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

impl Engine {
    /// The text that a number would have.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` for a value, an instant or a number that the template does not accept; `SEQUENCE_NOT_FOUND`.
    pub async fn preview(&self, ask: &PreviewAsk) -> Result<PreviewReport, EngineError> {
        let body = self.body_at(&ask.by, ask.at.as_deref()).await?;
        let (format, capacity) = (format(&body, &ask.by)?, self.capacity(&body));
        let at = match &ask.at {
            Some(text) => format.instant(text).map_err(|error| of_value(format, &error))?,
            None => self.0.request_clock.now(&*self.0.env.clock),
        };
        // The first that slot 0 gives.
        let number = ask.number.unwrap_or_else(|| body.span().number_at(self.0.cluster.layout(), 0));
        body.check_number(number).map_err(|bound| EngineError::invalid("number", number, bound))?;
        let preview = format.preview(number, at, &ask.with).map_err(|error| match error {
            PreviewError::Value(error) => of_issue(format, &error, ask.at.as_deref()),
            PreviewError::Render(error) => EngineError::invalid("number", number, error.bound()),
        })?;
        Ok(PreviewReport {
            text: preview.text,
            number,
            period: preview.period,
            partition: named(preview.partition),
            at: format.shown_instant(at),
            zone: format.zone_name().to_owned(),
            tzdb: tzdb_version(),
            max_len: format.max_len(),
            preview: true,
            warnings: warnings(&body, &ask.by).into_iter().chain(body.beyond(number)).collect(),
            capacity,
        })
    }

    /// How many numbers a key has, with warnings; no text is rendered.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` for an instant that can't be parsed; `SEQUENCE_NOT_FOUND`.
    pub async fn capacity_of(
        &self,
        by: &By,
        at: Option<&str>,
    ) -> Result<(Capacity, Vec<String>), EngineError> {
        let body = self.body_at(by, at).await?;
        Ok((self.capacity(&body), warnings(&body, by)))
    }

    /// The meaning of a text, if the template can render it. For a defined sequence, texts of its older versions are
    /// parsed, too.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` for a text that no version renders. `DEFINITION_CONFLICT` for a text that may belong to a
    /// version whose key of `obf` is missing. `SEQUENCE_NOT_FOUND`.
    pub async fn parse(&self, by: &By, text: &str) -> Result<ParseReport, EngineError> {
        let body = self.body(by).await?;
        format(&body, by)?;
        let read = body.read(text).map_err(|fault| EngineError::of_read(text, fault))?;
        let Decoded { number, period, values, text, .. } = read;
        Ok(ParseReport { number, period, values: named(values), text })
    }

    /// Whether a key hides the numbers of a sequence, or hid those of an earlier version. Its texts then show a number
    /// to nobody who may not reveal it.
    ///
    /// # Errors
    ///
    /// `SEQUENCE_NOT_FOUND`; errors of the ledger.
    pub async fn hides_numbers(&self, name: &SequenceName) -> Result<bool, EngineError> {
        let body = self.body(&By::Sequence(name.clone())).await?;
        let versions = body.earlier().map(|(_, body)| body).chain([&body]);
        Ok(versions.filter_map(Body::texts).any(Texts::has_hidden))
    }

    /// When a sequence's period begins, in the form in which a caller writes an instant. The period is named by its
    /// key, such as `20260401`.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` for a text that is not a period of the sequence; `SEQUENCE_NOT_FOUND`.
    pub async fn beginning(&self, name: &SequenceName, period: &str) -> Result<String, EngineError> {
        let by = By::Sequence(name.clone());
        // Successive versions may have periods of another kind.
        let stages = self.body(&by).await?;
        let of_one = |body: &Body| {
            let format = body.format()?;
            Some(format.shown_instant(format.period_begins(period)?))
        };
        let found = stages.earlier().rev().map(|(_, body)| body).find_map(of_one);
        if let Some(begins) = of_one(&stages).or(found) {
            return Ok(begins);
        }
        let body = self.body_at(&by, None).await?;
        let format = format(&body, &by)?;
        let begins = format.period_begins(period).ok_or_else(|| {
            let now = format.period_back(self.0.request_clock.now(&*self.0.env.clock), 0).unwrap_or_default();
            let bound = match &*now {
                "" => "this sequence has no periods: leave it out".to_owned(),
                now => format!("a period of this sequence, such as {now}, is expected"),
            };
            EngineError::invalid_text("period", period, bound)
        })?;
        Ok(format.shown_instant(begins))
    }

    /// The latest version, which includes the earlier ones.
    async fn body(&self, by: &By) -> Result<Body, EngineError> {
        match by {
            By::Body(body) => Ok(Body::clone(body)),
            By::Sequence(name) => {
                let found = self.0.catalog.find_defined(name).await?;
                found.ok_or_else(|| not_found(name))?.body().cloned()
            }
        }
    }

    /// The version in effect at an instant; `None`: now.
    async fn body_at(&self, by: &By, at: Option<&str>) -> Result<Body, EngineError> {
        match by {
            By::Body(body) => Ok(Body::clone(body)),
            By::Sequence(name) => {
                let found = self.0.catalog.find_defined(name).await?;
                self.0.version_at(found.ok_or_else(|| not_found(name))?, at)?.body().cloned()
            }
        }
    }

    pub(crate) fn capacity(&self, body: &Body) -> Capacity {
        body.capacity(self.0.cluster.layout(), self.0.catalog.at_risk())
    }
}

impl Body {
    /// The meaning of a text by its templates, including those of earlier versions:
    /// [`Texts::read`](crate::texts::Texts::read).
    ///
    /// ```
    /// use sequent_engine::{Body, Texts};
    /// let body = Body::check(None, 1, 1, None, None, Some(Texts::new("QJ@{seq,w=6}")))?;
    /// assert_eq!(body.read("QJ000042").map(|read| read.number), Ok(42));
    /// assert!(body.read("QJ42").is_err());
    /// # Ok::<(), sequent_core::FieldFault>(())
    /// ```
    pub fn read(&self, text: &str) -> Result<Decoded, ReadFault> {
        let none = || ReadFault::Text("no template reads it".to_owned());
        let read = self.texts().ok_or_else(none)?.read(text)?;
        let wrong = |bound| ReadFault::Text(format!("it stands for {}: {bound}", read.number));
        self.check_number(read.number).map_err(wrong)?;
        Ok(read)
    }

    /// The message about a number beyond the last one, which may have a text all the same; `None` if it may be issued.
    ///
    /// ```
    /// use sequent_engine::{Body, Texts};
    /// let body = Body::check(None, 1, 1, Some(5000), None, Some(Texts::new("W@{seq,w=6}")))?;
    /// assert_eq!(body.beyond(5000), None);
    /// let told = "number is 5001: no such number is given, 5000 is the last one";
    /// assert_eq!(body.beyond(5001).as_deref(), Some(told));
    /// # Ok::<(), sequent_core::FieldFault>(())
    /// ```
    pub fn beyond(&self, number: u64) -> Option<String> {
        let last = self.span().limit();
        (number > last)
            .then(|| format!("number is {number}: no such number is given, {last} is the last one"))
    }

    /// Whether its counters can issue a number: one of its steps from the first; the error is the bound. Earlier
    /// versions had the same start and step.
    ///
    /// ```
    /// use sequent_engine::{Body, Texts};
    /// let body = Body::check(None, 10, 5, None, None, Some(Texts::new("W@{seq,w=6}")))?;
    /// assert_eq!(body.check_number(15), Ok(()));
    /// assert_eq!(body.check_number(12), Err("numbers are 10, 15, …: in steps of 5".to_owned()));
    /// assert!(body.read("W000012").is_err());
    /// # Ok::<(), sequent_core::FieldFault>(())
    /// ```
    pub fn check_number(&self, number: u64) -> Result<(), String> {
        let (start, step) = (self.span().start(), self.span().step());
        match number.checked_sub(start) {
            None => Err(format!("numbers begin at {start}")),
            Some(above) if above.is_multiple_of(step) => Ok(()),
            Some(_) => {
                Err(format!("numbers are {start}, {}, …: in steps of {step}", start.saturating_add(step)))
            }
        }
    }
}

/// Warnings about the texts of a content.
fn warnings(body: &Body, by: &By) -> Vec<String> {
    let own = body.format().into_iter().flat_map(|format| format.warnings().iter().map(ToString::to_string));
    let hides = matches!(by, By::Body(_)) && body.texts().is_some_and(Texts::hides);
    own.chain(hides.then(|| NOBODYS.to_owned())).collect()
}

/// The renderer, if there is a template.
fn format<'a>(body: &'a Body, by: &By) -> Result<&'a Format, EngineError> {
    body.format().ok_or_else(|| match by {
        By::Sequence(name) => {
            let bound = "a sequence with a template is expected: this one's texts are its numbers";
            EngineError::invalid("sequence", name, bound)
        }
        By::Body(_) => EngineError::invalid("template", "missing", "a template is expected"),
    })
}

fn named(pairs: Vec<(String, String)>) -> Vec<NamedValue> {
    pairs.into_iter().map(|(name, value)| NamedValue { name, value }).collect()
}
