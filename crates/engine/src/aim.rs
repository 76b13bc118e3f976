//! What a request aims at: one instant, one zone, one counter's key; and what all its texts have in common.

use std::sync::{Arc, atomic::AtomicBool};

use sequent_core::{Key, SequenceName};
use sequent_format::{Format, Issue, Timestamp, ValueError, Values};

use crate::{Dated, EngineError, Issued, NextRequest, Texts, Way, catalog::Entry, engine::Inner, over};

/// What is told who gives a value, or an instant, to a sequence without a template.
const NO_VALUE: &str = "no template asks for a value: leave it out";
const NO_INSTANT: &str = "no period and no template asks for an instant: leave it out";

/// A request's counter, worked out before a number is consumed.
pub(crate) struct Aim {
    /// The definition that it was worked out from.
    pub(crate) entry: Arc<Entry>,
    pub(crate) key: Key,
    dated: Option<(Issue, Timestamp)>,
}

/// The period of a live key, as far as its successor and its end go.
#[derive(Debug)]
pub(crate) struct Period {
    /// The values that it was first asked with: those of the next period's key.
    pub(crate) with: Values,
    /// When it ends, where it does.
    pub(crate) until: Option<Timestamp>,
    /// Whether the next one has been made ahead.
    pub(crate) is_followed: AtomicBool,
    /// Whether it was told that its end is near.
    pub(crate) is_warned: AtomicBool,
}

impl Aim {
    /// The counter of a sequence without a template.
    fn plain(entry: Arc<Entry>, request: &NextRequest) -> Result<Self, EngineError> {
        refuse_what_is_not_plain(request)?;
        Ok(Self { key: Key::of(&request.name), entry, dated: None })
    }

    /// The counter of a sequence with a template, at an instant.
    pub(crate) fn dated(
        entry: &Arc<Entry>,
        format: &Format,
        request: &NextRequest,
        at: Timestamp,
    ) -> Result<Self, EngineError> {
        let issue = format.issue(at, &request.with).map_err(|error| of_value(format, &error))?;
        let key = key(&request.name, &issue)?;
        Ok(Self { entry: Arc::clone(entry), key, dated: Some((issue, at)) })
    }

    /// The number from which on a warning is due, and the last one, where the template asks for a warning.
    pub(crate) fn warning(&self) -> Option<(u64, u64)> {
        let (issue, _) = self.dated.as_ref()?;
        let last = self.entry.known().ok()?.span().limit();
        Some((issue.format().counter().warn_at?, last))
    }

    /// Whether its numbers have texts.
    pub(crate) fn has_texts(&self) -> bool {
        self.dated.is_some()
    }

    /// What its live key must know of its period; `None` without a template.
    pub(crate) fn period(&self, request: &NextRequest) -> Option<Period> {
        let (issue, _) = self.dated.as_ref()?;
        Some(Period {
            with: request.with.clone(),
            until: issue.period_until(),
            is_followed: AtomicBool::new(false),
            is_warned: AtomicBool::new(false),
        })
    }

    /// The numbers with all that belongs to them; texts only `with_texts`.
    pub(crate) fn issued(
        &self,
        request: &NextRequest,
        (numbers, way): (sequent_core::Blocks, Way),
        with_texts: bool,
    ) -> Result<Issued, EngineError> {
        let (sequence, version) = (request.name.clone(), self.entry.version);
        let Some((issue, at)) = &self.dated else {
            return Ok(Issued { sequence, numbers, version, dated: None, way });
        };
        let text = |number| issue.text(number).map_err(|error| of_render(&request.name, &error));
        let texts: Result<Vec<String>, EngineError> =
            if with_texts { numbers.numbers().map(text).collect() } else { Ok(Vec::new()) };
        let dated = Dated {
            texts: texts?,
            period: issue.period().to_owned(),
            at: issue.format().shown_instant(*at),
            period_end: issue.period_until(),
            by: if with_texts { None } else { self.entry.body()?.texts().map(Texts::alone) },
        };
        Ok(Issued { sequence, numbers, version, dated: Some(dated), way })
    }
}

impl Inner {
    /// What a request aims at under a definition. Nothing has been consumed where it fails.
    pub(crate) fn aim(&self, entry: Arc<Entry>, request: &NextRequest) -> Result<Aim, EngineError> {
        let texts = entry.body()?.texts();
        let Some((texts, format)) = texts.and_then(|texts| Some((texts, texts.format()?))) else {
            return Aim::plain(entry, request);
        };
        let at = self.instant(format, request, texts)?;
        let aim = Aim::dated(&entry, format, request, at)?;
        if self.floors.is_over(&aim.key) {
            // Also without an instant: this clock may be behind the others by a period.
            let at = request.at.clone().unwrap_or_else(|| format.shown_instant(at));
            return Err(EngineError::invalid_text("at", &at, over::for_good(&aim.key)));
        }
        Ok(aim)
    }

    /// The instant that counts: the caller's, within the definition's window, or now.
    fn instant(
        &self,
        format: &Format,
        request: &NextRequest,
        texts: &Texts,
    ) -> Result<Timestamp, EngineError> {
        let now = self.wall.now(&*self.env.clock);
        let Some(text) = &request.at else { return Ok(now) };
        let at = format.instant(text).map_err(|error| of_value(format, &error))?;
        over::check_retained((texts, format), at, now)
            .map_err(|bound| EngineError::invalid_text("at", text, bound))?;
        let window_s = texts.window();
        let away_s = at.as_second().abs_diff(now.as_second());
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

/// Refuses what only a template could use.
pub(crate) fn refuse_what_is_not_plain(request: &NextRequest) -> Result<(), EngineError> {
    if let Some((name, value)) = request.with.iter().next() {
        return Err(EngineError::invalid_text(format!("with.{name}"), value, NO_VALUE));
    }
    match &request.at {
        Some(at) => Err(EngineError::invalid_text("at", at, NO_INSTANT)),
        None => Ok(()),
    }
}

fn key(name: &SequenceName, issue: &Issue) -> Result<Key, EngineError> {
    let values: Vec<&str> = issue.partition().map(|(_, value)| value).collect();
    Key::new(name, issue.period(), &values).map_err(|error| {
        let given = values.iter().map(|value| value.len()).sum::<usize>();
        EngineError::invalid("with", format!("{given} bytes"), error.to_string())
    })
}

pub(crate) fn of_value(format: &Format, error: &ValueError) -> EngineError {
    let is_value = error.field != "at" || format.template().values().contains(&"at");
    let field = if is_value { format!("with.{}", error.field) } else { error.field.clone() };
    EngineError::invalid_text(field, &error.value, error.bound.clone())
}

fn of_render(name: &SequenceName, error: &sequent_format::RenderError) -> EngineError {
    // The counter ends where texts do; what is left is a user's own function that broke its word.
    EngineError::new(crate::Reason::SequenceExhausted, format!("{name} has no text: {error}"))
}
