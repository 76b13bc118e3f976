//! Definitions by HTTP: listed and shown to everybody; made where `limits.define` allows it.

use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use sequent_core::SequenceName;
use sequent_engine::{Body, BodyFault, DefineReport, OpenError, Reason, Texts, report::SequenceSummary};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer;
use crate::{fault::Fault, teller::Teller};

/// What whoever may not define is told.
const NOT_ALLOWED: &str =
    "definitions are made by `sequent define`, or by this door where limits.define = true";

/// The most sequences of one list; `more` says that there are more.
const LISTED_MAX: usize = 1000;

/// A definition as a caller writes it; what is left out has its default.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Wanted {
    version: Option<u32>,
    placement: Option<String>,
    start: Option<Number>,
    step: Option<Number>,
    end: Option<Number>,
    fits: Option<String>,
    template: Option<String>,
    zone: Option<String>,
    maxlen: Option<usize>,
    charset: Option<String>,
    unique: Option<String>,
    window_s: Option<u64>,
}

/// A number as a string, as everywhere; or as an integer, where a reader has not rounded it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Number {
    Integer(u64),
    Text(String),
}

/// A sequence as it is shown.
#[derive(Serialize)]
struct Shown<'a> {
    sequence: &'a str,
    version: u32,
    placement: &'a str,
    start: String,
    step: String,
    end: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<&'a str>,
}

/// What became of a definition.
#[derive(Serialize)]
struct Defined<'a> {
    sequence: &'a str,
    version: u32,
    already: bool,
    definition: &'a str,
}

/// `GET /v1/sequences`.
pub(super) async fn list(teller: &Teller) -> Result<Response<Full<Bytes>>, Fault> {
    let sequences = teller.engine().desk().list().await?;
    let more = sequences.len() > LISTED_MAX;
    let listed: Vec<Shown<'_>> =
        sequences.iter().take(LISTED_MAX).map(|summary| shown(summary, None)).collect();
    Ok(json(&serde_json::json!({ "sequences": listed, "more": more })))
}

/// `GET /v1/sequences/{name}`.
pub(super) async fn show(teller: &Teller, name: &str) -> Result<Response<Full<Bytes>>, Fault> {
    let name = named(name)?;
    let report = teller.engine().desk().show(&name).await?;
    Ok(json(&shown(&report.summary, Some(&report.definition))))
}

/// `PUT /v1/sequences/{name}`: its next version, or the one that the body names.
pub(super) async fn define(teller: &Teller, name: &str, body: &[u8]) -> Result<Response<Full<Bytes>>, Fault> {
    let name = named(name)?;
    if !teller.may_define() {
        return Err(Fault::new(Reason::PermissionDenied, NOT_ALLOWED));
    }
    let wanted: Wanted = serde_json::from_slice(body).map_err(|error| {
        Fault::field("body", &error.to_string(), "a JSON object with a definition is expected")
    })?;
    let version = wanted.version.filter(|version| *version > 0);
    if version != wanted.version {
        return Err(Fault::field("version", "0", "at least 1 is allowed"));
    }
    let body = wanted.body()?;
    let defined = teller.engine().define(&name, version, body).await.map_err(|error| of_open(&error))?;
    let DefineReport { sequence, version, already, definition, .. } = &defined;
    Ok(json(&Defined { sequence, version: *version, already: *already, definition }))
}

impl Wanted {
    fn body(self) -> Result<Body, Fault> {
        let number = |field, number: Option<Number>| match number {
            None => Ok(None),
            Some(Number::Integer(number)) => Ok(Some(number)),
            Some(Number::Text(text)) => text.parse().map(Some).map_err(|_| {
                Fault::field(field, &text, format!("a whole number is expected: 1 to {}", i64::MAX))
            }),
        };
        let start = number("start", self.start)?.unwrap_or(1);
        let step = number("step", self.step)?.unwrap_or(1);
        let end = number("end", self.end)?;
        let around = self.zone.is_some() || self.maxlen.is_some() || self.charset.is_some();
        let texts = match self.template {
            Some(template) => {
                let texts = Texts::new(template).maxlen(self.maxlen).charset(self.charset);
                let texts = texts
                    .window_s(self.window_s)
                    .unique(self.unique.as_deref())
                    .map_err(|it| of_body(&it))?;
                Some(self.zone.into_iter().fold(texts, Texts::zone))
            }
            None if around || self.unique.is_some() || self.window_s.is_some() => {
                let bound = "zone, maxlen, charset, unique and window_s belong to one";
                return Err(Fault::field("template", "missing", bound));
            }
            None => None,
        };
        let body = Body::check(self.placement.as_deref(), start, step, end, self.fits.as_deref(), texts);
        body.map_err(|fault| of_body(&fault))
    }
}

fn named(name: &str) -> Result<SequenceName, Fault> {
    name.parse().map_err(|_| Fault::name("name", name))
}

fn shown<'a>(summary: &'a SequenceSummary, definition: Option<&'a str>) -> Shown<'a> {
    Shown {
        sequence: &summary.sequence,
        version: summary.version,
        placement: summary.placement,
        start: summary.start.to_string(),
        step: summary.step.to_string(),
        end: summary.end.to_string(),
        template: summary.template.as_deref(),
        fault: summary.fault.as_deref(),
        definition,
    }
}

fn json(value: &impl Serialize) -> Response<Full<Bytes>> {
    answer::json(Bytes::from(serde_json::to_vec(value).unwrap_or_default()))
}

fn of_body(fault: &BodyFault) -> Fault {
    let value = serde_json::from_str::<Value>(&fault.value).ok();
    let value = value.as_ref().and_then(Value::as_str).unwrap_or(&fault.value);
    Fault::field(fault.field, value, fault.bound.clone())
}

fn of_open(error: &OpenError) -> Fault {
    let reason = match error {
        OpenError::Unavailable(_) => Reason::LedgerUnavailable,
        OpenError::Recovery(_) => Reason::RecoveryRequired,
        _ => Reason::DefinitionConflict,
    };
    // A ledger's cause names addresses: those are for the log.
    let text = match error {
        OpenError::Refused(text) => text.clone(),
        _ => "the ledger is needed, and can't be used".to_owned(),
    };
    Fault::new(reason, text)
}
