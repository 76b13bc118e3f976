//! Handlers of definitions, previews and parsing.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
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
        api::Api,
        extract::{Name, RequestBody},
        json::{self, FieldValue},
        next::{instant, values},
        responses::object,
    },
    service::definitions::{self, DefinitionInput, NumberInput, PreviewInput, Target},
};

/// Response in JSON, or an error.
type JsonResult = Result<Response<Full<Bytes>>, ApiError>;

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
    definition: Option<DefinitionInput>,
    number: Option<NumberInput>,
    values: Option<FieldValue>,
    at: Option<String>,
}

/// Body of `POST /v1/parse`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ParseBody {
    sequence: Option<String>,
    definition: Option<DefinitionInput>,
    text: Option<String>,
}

/// `GET /v1/sequences?after=NAME`.
pub(super) async fn list(State(api): State<Arc<Api>>, RawQuery(query): RawQuery) -> JsonResult {
    let call = async {
        let after = after(&query.unwrap_or_default())?;
        let (sequences, more) = definitions::list(&api.service, &after).await?;
        let listed: Vec<SequenceJson<'_>> = sequences.iter().map(|summary| shown(summary, None)).collect();
        Ok(object(&serde_json::json!({ "sequences": listed, "more": more })))
    };
    api.counted(call).await
}

/// `GET /v1/sequences/{name}`.
pub(super) async fn show(State(api): State<Arc<Api>>, Name(name): Name) -> JsonResult {
    let call = async {
        let report = definitions::show(&api.service, ("name", &name)).await?;
        Ok(object(&shown(&report.summary, Some(&report.definition))))
    };
    api.counted(call).await
}

/// `PUT /v1/sequences/{name}`: defines the next version, or the version in the body.
pub(super) async fn define(State(api): State<Arc<Api>>, Name(name): Name, body: RequestBody) -> JsonResult {
    let call = async {
        let body = body.read().await?;
        let input = || json::read(&body, "a JSON object with a definition is expected");
        let defined = definitions::define(&api.service, ("name", &name), input).await?;
        Ok(object(&DefineJson {
            sequence: &defined.sequence,
            version: defined.version,
            already: defined.already,
            effective: defined.effective.as_deref(),
            definition: &defined.definition,
            capacity: defined.capacity,
            warnings: &defined.warnings,
        }))
    };
    api.counted(call).await
}

/// `POST /v1/preview`.
pub(super) async fn preview(State(api): State<Arc<Api>>, body: RequestBody) -> JsonResult {
    let call = async {
        let expected = "a JSON object with a sequence or a definition is expected";
        let asked: PreviewBody = json::read(&body.read().await?, expected)?;
        let with = asked.values.map_or_else(|| Ok(Values::new()), values)?;
        let by = Target::from_parts(asked.sequence, asked.definition)?;
        let at = asked.at.map(|at| instant(&at, &at)).transpose()?.unwrap_or_default();
        let input = PreviewInput { by, number: asked.number, with, at };
        Ok(object(&definitions::preview(&api.service, input).await?))
    };
    api.counted(call).await
}

/// `POST /v1/parse`.
pub(super) async fn parse(State(api): State<Arc<Api>>, body: RequestBody) -> JsonResult {
    let call = async {
        let expected = "a JSON object with a text, and a sequence or a definition is expected";
        let asked: ParseBody = json::read(&body.read().await?, expected)?;
        let by = Target::from_parts(asked.sequence, asked.definition)?;
        let text = asked.text.ok_or_else(|| ApiError::field("text", "missing", "a text is expected"))?;
        Ok(object(&definitions::parse(&api.service, by, &text).await?))
    };
    api.counted(call).await
}

/// The query parameter `after`: the list continues behind this name.
fn after(query: &str) -> Result<String, ApiError> {
    let mut after = String::new();
    for (field, value) in form_urlencoded::parse(query.as_bytes()) {
        if field != "after" {
            return Err(ApiError::field(
                field.into_owned(),
                &value,
                "no such field: after is known in a query",
            ));
        }
        after = value.into_owned();
    }
    Ok(after)
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
