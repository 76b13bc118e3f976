//! Definitions by HTTP, in JSON.

use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use sequent_engine::{
    Capacity, Values,
    report::{SequenceSummary, WaitingReport},
};
use serde::{Deserialize, Serialize};

use crate::{
    http::{
        json_object::{Object, Written},
        params, responses,
        routes::decoded,
    },
    service::{
        Teller,
        api_error::Fault,
        definitions::{self, Named, Number, Trial, Wanted},
    },
};

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
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    waiting: &'a [WaitingReport],
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<&'a str>,
}

/// What became of a definition.
#[derive(Serialize)]
struct Defined<'a> {
    sequence: &'a str,
    version: u32,
    already: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    effective: Option<&'a str>,
    definition: &'a str,
    capacity: Capacity,
    warnings: &'a [String],
}

/// `POST /v1/preview` as a caller writes it.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Previewed {
    sequence: Option<String>,
    definition: Option<Object<Wanted>>,
    number: Option<Number>,
    values: Option<Written>,
    at: Option<String>,
}

/// `POST /v1/parse` as a caller writes it.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Parsed {
    sequence: Option<String>,
    definition: Option<Object<Wanted>>,
    text: Option<String>,
}

/// `GET /v1/sequences?after=NAME`.
pub(super) async fn list(teller: &Teller, query: &str) -> Result<Response<Full<Bytes>>, Fault> {
    let (sequences, more) = definitions::list(teller, &after(query)?).await?;
    let listed: Vec<Shown<'_>> = sequences.iter().map(|summary| shown(summary, None)).collect();
    Ok(json(&serde_json::json!({ "sequences": listed, "more": more })))
}

/// `GET /v1/sequences/{name}`.
pub(super) async fn show(teller: &Teller, name: &str) -> Result<Response<Full<Bytes>>, Fault> {
    let report = definitions::show(teller, ("name", name)).await?;
    Ok(json(&shown(&report.summary, Some(&report.definition))))
}

/// `PUT /v1/sequences/{name}`: its next version, or the one that the body names.
pub(super) async fn define(teller: &Teller, name: &str, body: &[u8]) -> Result<Response<Full<Bytes>>, Fault> {
    let wanted = || read(body, "a JSON object with a definition is expected");
    let defined = definitions::define(teller, ("name", name), wanted).await?;
    let (sequence, definition) = (&*defined.sequence, &*defined.definition);
    let (version, already, capacity) = (defined.version, defined.already, defined.capacity);
    let (effective, warnings) = (defined.effective.as_deref(), &*defined.warnings);
    Ok(json(&Defined { sequence, version, already, effective, definition, capacity, warnings }))
}

/// `POST /v1/preview`.
pub(super) async fn preview(teller: &Teller, body: &[u8]) -> Result<Response<Full<Bytes>>, Fault> {
    let asked: Previewed = read(body, "a JSON object with a sequence or a definition is expected")?;
    let with = asked.values.as_ref().map_or_else(|| Ok(Values::new()), params::values)?;
    let by = Named::one_of(asked.sequence, asked.definition.map(|Object(wanted)| wanted))?;
    if asked.at.as_deref() == Some("") {
        return Err(params::no_instant(""));
    }
    let trial = Trial { by, number: asked.number, with, at: asked.at.unwrap_or_default() };
    let preview = definitions::preview(teller, trial).await?;
    Ok(json(&preview))
}

/// `POST /v1/parse`.
pub(super) async fn parse(teller: &Teller, body: &[u8]) -> Result<Response<Full<Bytes>>, Fault> {
    let asked: Parsed = read(body, "a JSON object with a text, and a sequence or a definition is expected")?;
    let by = Named::one_of(asked.sequence, asked.definition.map(|Object(wanted)| wanted))?;
    let text = asked.text.ok_or_else(|| Fault::field("text", "missing", "a text is expected"))?;
    Ok(json(&definitions::parse(teller, by, &text).await?))
}

/// The name after which a list goes on.
fn after(query: &str) -> Result<String, Fault> {
    let mut after = String::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=').map(|(key, value)| (key, decoded(value))) {
            Some(("after", Some(name))) => after = name,
            _ => return Err(Fault::field("query", pair, "after=NAME is known")),
        }
    }
    Ok(after)
}

fn read<'a, T: Deserialize<'a>>(body: &'a [u8], bound: &'static str) -> Result<T, Fault> {
    let read = serde_json::from_slice(body).map(|Object(read)| read);
    read.map_err(|error| Fault::field("body", &error.to_string(), bound))
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
        waiting: &summary.waiting,
        definition,
    }
}

fn json(value: &impl Serialize) -> Response<Full<Bytes>> {
    responses::json(Bytes::from(serde_json::to_vec(value).unwrap_or_default()))
}
