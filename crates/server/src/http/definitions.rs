//! HTTP handlers of definitions, previews and parsing.

use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use sequent_engine::{
    Capacity, Values,
    report::{SequenceSummary, WaitingReport},
};
use serde::{Deserialize, Serialize};

use crate::{
    error::ApiError,
    http::{
        json_object::{ParsedValue, StrictObject},
        params, responses,
        routes::decoded,
    },
    service::{
        NumberService,
        definitions::{self, DefinitionInput, NumberInput, PreviewInput, Target},
    },
};

/// A sequence in a response.
#[derive(Serialize)]
struct SequenceJson<'a> {
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

/// Response to a definition.
#[derive(Serialize)]
struct DefineJson<'a> {
    sequence: &'a str,
    version: u32,
    already: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    effective: Option<&'a str>,
    definition: &'a str,
    capacity: Capacity,
    warnings: &'a [String],
}

/// Body of `POST /v1/preview`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PreviewBody {
    sequence: Option<String>,
    definition: Option<StrictObject<DefinitionInput>>,
    number: Option<NumberInput>,
    values: Option<ParsedValue>,
    at: Option<String>,
}

/// Body of `POST /v1/parse`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ParseBody {
    sequence: Option<String>,
    definition: Option<StrictObject<DefinitionInput>>,
    text: Option<String>,
}

/// `GET /v1/sequences?after=NAME`.
pub(super) async fn list(service: &NumberService, query: &str) -> Result<Response<Full<Bytes>>, ApiError> {
    let (sequences, more) = definitions::list(service, &after(query)?).await?;
    let listed: Vec<SequenceJson<'_>> = sequences.iter().map(|summary| shown(summary, None)).collect();
    Ok(json(&serde_json::json!({ "sequences": listed, "more": more })))
}

/// `GET /v1/sequences/{name}`.
pub(super) async fn show(service: &NumberService, name: &str) -> Result<Response<Full<Bytes>>, ApiError> {
    let report = definitions::show(service, ("name", name)).await?;
    Ok(json(&shown(&report.summary, Some(&report.definition))))
}

/// `PUT /v1/sequences/{name}`: defines the next version, or the version in the body.
pub(super) async fn define(
    service: &NumberService,
    name: &str,
    body: &[u8],
) -> Result<Response<Full<Bytes>>, ApiError> {
    let input = || read(body, "a JSON object with a definition is expected");
    let defined = definitions::define(service, ("name", name), input).await?;
    let (sequence, definition) = (&*defined.sequence, &*defined.definition);
    let (version, already, capacity) = (defined.version, defined.already, defined.capacity);
    let (effective, warnings) = (defined.effective.as_deref(), &*defined.warnings);
    Ok(json(&DefineJson { sequence, version, already, effective, definition, capacity, warnings }))
}

/// `POST /v1/preview`.
pub(super) async fn preview(service: &NumberService, body: &[u8]) -> Result<Response<Full<Bytes>>, ApiError> {
    let asked: PreviewBody = read(body, "a JSON object with a sequence or a definition is expected")?;
    let with = asked.values.as_ref().map_or_else(|| Ok(Values::new()), params::values)?;
    let by = Target::from_parts(asked.sequence, asked.definition.map(|StrictObject(input)| input))?;
    if asked.at.as_deref() == Some("") {
        return Err(params::no_instant(""));
    }
    let input = PreviewInput { by, number: asked.number, with, at: asked.at.unwrap_or_default() };
    let preview = definitions::preview(service, input).await?;
    Ok(json(&preview))
}

/// `POST /v1/parse`.
pub(super) async fn parse(service: &NumberService, body: &[u8]) -> Result<Response<Full<Bytes>>, ApiError> {
    let asked: ParseBody =
        read(body, "a JSON object with a text, and a sequence or a definition is expected")?;
    let by = Target::from_parts(asked.sequence, asked.definition.map(|StrictObject(input)| input))?;
    let text = asked.text.ok_or_else(|| ApiError::field("text", "missing", "a text is expected"))?;
    Ok(json(&definitions::parse(service, by, &text).await?))
}

/// The query parameter `after`: the list continues behind this name.
fn after(query: &str) -> Result<String, ApiError> {
    let mut after = String::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=').map(|(key, value)| (key, decoded(value))) {
            Some(("after", Some(name))) => after = name,
            _ => return Err(ApiError::field("query", pair, "after=NAME is known")),
        }
    }
    Ok(after)
}

fn read<'a, T: Deserialize<'a>>(body: &'a [u8], bound: &'static str) -> Result<T, ApiError> {
    let read = serde_json::from_slice(body).map(|StrictObject(read)| read);
    read.map_err(|error| ApiError::field("body", &error.to_string(), bound))
}

fn shown<'a>(summary: &'a SequenceSummary, definition: Option<&'a str>) -> SequenceJson<'a> {
    SequenceJson {
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
