//! A resolved request: instant, zone, key of the counter, and what all its texts share.

use std::sync::{Arc, atomic::AtomicBool};

use sequent_core::{Blocks, Key, SequenceName};
use sequent_format::{Format, RenderContext, Timestamp, ValueError, Values};

use crate::{
    catalog::Entry,
    definition::Body,
    engine::Inner,
    error::{EngineError, reason::Reason},
    issue::{
        request_types::{Dated, Issued, NextRequest, Way},
        retention,
    },
    texts::Texts,
};

/// How far ahead an instant may be if the definition has no window and its numbers begin anew each period: nobody uses up
/// the periods of a coming year. A month, since documents are dated to the first of the next one.
const AHEAD_S_MAX: i64 = 31 * 86_400;

/// How many texts are rendered before other tasks of the thread have their turn.
const TEXTS_AT_ONCE: usize = 128;

/// The error texts for a value, or an instant, of a sequence without a template.
const NO_VALUE: &str = "no template asks for a value: leave it out";
const NO_INSTANT: &str = "no period and no template asks for an instant: leave it out";

/// The counter of a request, determined before a number is consumed.
pub(crate) struct ResolvedRequest {
    /// The definition in use: the version in effect at the request's instant.
    pub(crate) entry: Arc<Entry>,
    pub(crate) key: Key,
    dated: Option<(RenderContext, Timestamp)>,
    /// The time from which another version takes effect.
    version_end: Option<Timestamp>,
}

/// The version in effect at a request's instant.
struct Chosen {
    entry: Arc<Entry>,
    /// The instant, if it decided which version is in effect.
    at: Option<Timestamp>,
    /// The time from which another version takes effect.
    until: Option<Timestamp>,
}

/// The period of an active key, with what its successor and its end need.
#[derive(Debug)]
pub(crate) struct Period {
    /// The values of the first request: the next period's key uses them.
    pub(crate) with: Values,
    /// The instant of the first request; the period's beginning if the key was created ahead.
    pub(crate) from: Timestamp,
    /// The period's end, if it has one.
    pub(crate) until: Option<Timestamp>,
    /// Whether the next period's key has been created.
    pub(crate) is_followed: AtomicBool,
    /// Whether the warning about its end was given.
    pub(crate) is_warned: AtomicBool,
}

impl ResolvedRequest {
    /// The counter of a sequence without a template.
    fn plain(entry: Arc<Entry>, request: &NextRequest) -> Result<Self, EngineError> {
        refuse_what_is_not_plain(request)?;
        Ok(Self { key: Key::of(&request.name), entry, dated: None, version_end: None })
    }

    /// The counter of a sequence with a template, at an instant.
    pub(crate) fn dated(
        entry: &Arc<Entry>,
        format: &Format,
        request: &NextRequest,
        at: Timestamp,
    ) -> Result<Self, EngineError> {
        let context = format.context(at, &request.with);
        let context = context.map_err(|error| of_issue(format, &error, request.at.as_deref()))?;
        let key = key(entry.body()?.counted_by(&request.name), &context)?;
        Ok(Self { entry: Arc::clone(entry), key, dated: Some((context, at)), version_end: None })
    }

    /// The first number with a warning, and the last number of the range; `None` if the template asks for no warning.
    pub(crate) fn warning(&self) -> Option<(u64, u64)> {
        let (context, _) = self.dated.as_ref()?;
        let last = self.entry.known().ok()?.span().limit();
        Some((context.format().counter_spec().warn_at?, last))
    }

    /// The sequence whose counter is drawn from, if that is another one.
    pub(crate) fn counter(&self) -> Option<&SequenceName> {
        self.entry.known().ok()?.counter()
    }

    /// The period's end, if it has one.
    pub(crate) fn period_end(&self) -> Option<Timestamp> {
        self.dated.as_ref().and_then(|(context, _)| context.period_until())
    }

    /// Refuses numbers of another sequence's counter beyond the last one that has a text here. They are burnt.
    fn within_own_range(&self, name: &SequenceName, numbers: &Blocks) -> Result<(), EngineError> {
        let Some(counter) = self.counter() else { return Ok(()) };
        let last = self.entry.body()?.span().limit();
        if numbers.highest().is_none_or(|highest| highest <= last) {
            return Ok(());
        }
        let text = format!(
            "{name} is at its end: its last number is {last}, and the counter of {counter} is beyond it"
        );
        Err(EngineError::new(Reason::SequenceExhausted, text))
    }

    /// Whether the numbers have texts.
    pub(crate) fn has_texts(&self) -> bool {
        self.dated.is_some()
    }

    /// The period for the active key; `None` without a template.
    pub(crate) fn period(&self, request: &NextRequest) -> Option<Period> {
        let (context, at) = self.dated.as_ref()?;
        Some(Period {
            with: request.with.clone(),
            from: *at,
            until: context.period_until(),
            is_followed: AtomicBool::new(false),
            is_warned: AtomicBool::new(false),
        })
    }

    /// The numbers with all that belongs to them; texts only `with_texts`.
    pub(crate) async fn issued(
        &self,
        request: &NextRequest,
        (numbers, way): (Blocks, Way),
        with_texts: bool,
    ) -> Result<Issued, EngineError> {
        self.within_own_range(&request.name, &numbers)?;
        let (sequence, version, version_end) = (request.name.clone(), self.entry.version, self.version_end);
        let Some((context, at)) = &self.dated else {
            return Ok(Issued { sequence, numbers, version, version_end, dated: None, way });
        };
        let texts = if with_texts { texts(&request.name, context, &numbers).await? } else { Vec::new() };
        let dated = Dated {
            texts,
            period: context.period().to_owned(),
            at: context.format().shown_instant(*at),
            period_end: context.period_until(),
            by: if with_texts { None } else { self.entry.body()?.texts().map(Texts::alone) },
        };
        Ok(Issued { sequence, numbers, version, version_end, dated: Some(dated), way })
    }
}

/// The texts of numbers. Thousands with a key of `obf` take a fifth of a second: without pauses, health checks and calls
/// of the ledger would wait for them.
async fn texts(
    name: &SequenceName,
    context: &RenderContext,
    numbers: &Blocks,
) -> Result<Vec<String>, EngineError> {
    let mut texts = Vec::new();
    for number in numbers.numbers() {
        if !texts.is_empty() && texts.len() % TEXTS_AT_ONCE == 0 {
            tokio::task::yield_now().await;
        }
        texts.push(context.text(number).map_err(|error| of_render(name, &error))?);
    }
    Ok(texts)
}

impl Inner {
    /// The key of a request under a definition. An error consumes nothing.
    pub(crate) fn resolve(
        &self,
        entry: Arc<Entry>,
        request: &NextRequest,
    ) -> Result<ResolvedRequest, EngineError> {
        let Chosen { entry, at, until: version_end } = self.chosen(entry, request.at.as_deref())?;
        let texts = entry.body()?.texts();
        let Some((texts, format)) = texts.and_then(|texts| Some((texts, texts.format()?))) else {
            return Ok(ResolvedRequest { version_end, ..ResolvedRequest::plain(entry, request)? });
        };
        let at = self.instant(format, request, (texts, at))?;
        let resolved =
            ResolvedRequest { version_end, ..ResolvedRequest::dated(&entry, format, request, at)? };
        if self.minimums.is_over(&resolved.key) {
            // Checked also without an instant: this server's clock may be a period behind the others.
            return Err(match &request.at {
                Some(at) => EngineError::invalid_text("at", at, retention::for_good(&resolved.key)),
                None => retention::clock_is_behind(&resolved.key, &format.shown_instant(at)),
            });
        }
        Ok(resolved)
    }

    /// The version of a definition in effect at an instant, as a caller writes it; `None` means now.
    pub(crate) fn version_at(&self, top: Arc<Entry>, at: Option<&str>) -> Result<Arc<Entry>, EngineError> {
        self.chosen(top, at).map(|chosen| chosen.entry)
    }

    fn chosen(&self, top: Arc<Entry>, at: Option<&str>) -> Result<Chosen, EngineError> {
        if !top.is_staged() {
            return Ok(Chosen { entry: top, at: None, until: None });
        }
        let now = self.request_clock.now(&*self.env.clock);
        let mut next: Option<(Arc<Entry>, Timestamp)> = None;
        for (entry, begins) in top.stages() {
            // A local time belongs to the version's own zone.
            let instant = match (at, entry.body()?.format()) {
                (None, _) => Some(now),
                (Some(text), Some(format)) => {
                    Some(format.instant(text).map_err(|error| of_value(format, &error))?)
                }
                (Some(text), None) => text.parse().ok(),
            };
            let until = next.as_ref().map(|(_, begins)| *begins);
            match (next, instant, until) {
                // A local time may be before the end in the next version's zone, and past it in this version's. No
                // version covers it.
                (Some((entry, _)), Some(instant), Some(until)) if until <= instant => {
                    return Ok(Chosen { entry, at: Some(instant), until: None });
                }
                _ => {}
            }
            match begins {
                Some(begins) if instant.is_none_or(|instant| instant < begins) => {
                    next = Some((entry, begins));
                }
                _ => return Ok(Chosen { entry, at: instant, until }),
            }
        }
        Ok(Chosen { entry: top, at: None, until: None })
    }

    /// The instant of the request: the caller's, within the definition's window, or now. It is already known if it
    /// decided which version is in effect.
    fn instant(
        &self,
        format: &Format,
        request: &NextRequest,
        (texts, known): (&Texts, Option<Timestamp>),
    ) -> Result<Timestamp, EngineError> {
        let Some(text) = &request.at else {
            return Ok(known.unwrap_or_else(|| self.request_clock.now(&*self.env.clock)));
        };
        let now = self.request_clock.now(&*self.env.clock);
        let at = match known {
            Some(at) => at,
            None => format.instant(text).map_err(|error| of_value(format, &error))?,
        };
        retention::check_retained((texts, format), at, now)
            .map_err(|bound| EngineError::invalid_text("at", text, bound))?;
        let window_s = texts.window();
        let away_s = at.as_second().abs_diff(now.as_second());
        let ahead_s = at.as_second().saturating_sub(now.as_second());
        if window_s.is_none() && ahead_s > AHEAD_S_MAX && format.period_back(at, 0).is_some() {
            let days = AHEAD_S_MAX / 86_400;
            let bound = format!(
                "at most {days} days from now, {}, is allowed where the definition has no window_s",
                format.shown_instant(now)
            );
            return Err(EngineError::invalid_text("at", text, bound));
        }
        match window_s.filter(|window_s| away_s > *window_s) {
            None => Ok(at),
            Some(window_s) => {
                let now = format.shown_instant(now);
                let bound = format!("at most window_s, {window_s} s, from now, {now}, is allowed");
                Err(EngineError::invalid_text("at", text, bound))
            }
        }
    }
}

/// Refuses values and instants, which only a template can use.
pub(crate) fn refuse_what_is_not_plain(request: &NextRequest) -> Result<(), EngineError> {
    if let Some((name, value)) = request.with.iter().next() {
        return Err(EngineError::invalid_text(format!("values.{name}"), value, NO_VALUE));
    }
    match &request.at {
        Some(at) => Err(EngineError::invalid_text("at", at, NO_INSTANT)),
        None => Ok(()),
    }
}

/// The key of a definition in a period, as [`Format::period_begins`] reads it.
pub(super) fn key_of_period(name: &SequenceName, body: &Body, period: &str) -> Result<Key, EngineError> {
    let begins = body.format().and_then(|format| Some((format, format.period_begins(period)?)));
    let Some((format, begins)) = begins else {
        return Err(EngineError::invalid_text(
            "period",
            period,
            "a period of its template is expected".to_owned(),
        ));
    };
    let context = format.context(begins, &Values::default()).map_err(|error| of_value(format, &error))?;
    key(name, &context)
}

fn key(name: &SequenceName, context: &RenderContext) -> Result<Key, EngineError> {
    let values: Vec<&str> = context.partition().map(|(_, value)| value).collect();
    Key::new(name, context.period(), &values).map_err(|error| {
        let given = values.iter().map(|value| value.len()).sum::<usize>();
        EngineError::invalid("values", format!("{given} bytes"), error.to_string())
    })
}

/// Whether the error concerns the instant, and not a template value named `at`.
fn is_instant(format: &Format, error: &ValueError) -> bool {
    error.field == "at" && !format.template().values().contains(&"at")
}

/// The error of a value, or of an instant; an instant is quoted as the caller wrote it.
pub(crate) fn of_issue(format: &Format, error: &ValueError, at: Option<&str>) -> EngineError {
    match at.filter(|_| is_instant(format, error)) {
        Some(text) => EngineError::invalid_text("at", text, error.bound.clone()),
        None => of_value(format, error),
    }
}

pub(crate) fn of_value(format: &Format, error: &ValueError) -> EngineError {
    let field =
        if is_instant(format, error) { error.field.clone() } else { format!("values.{}", error.field) };
    if error.is_missing {
        return EngineError::invalid(field, "missing", error.bound.clone());
    }
    EngineError::invalid_text(field, &error.value, error.bound.clone())
}

fn of_render(name: &SequenceName, error: &sequent_format::RenderError) -> EngineError {
    // A counter ends at the last number that has a text. This error is left only for a template function of a user
    // that broke its contract.
    EngineError::new(crate::error::reason::Reason::SequenceExhausted, format!("{name} has no text: {error}"))
}
