//! Handlers of definitions, previews and parsing.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{RawQuery, State},
};
use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use sequent_engine::Values;
use serde::Deserialize;

use crate::{
    auth::Caller,
    error::ApiError,
    http::{
        api::Api,
        extract::{Name, RequestBody},
        json::{self, FieldValue},
        next::{instant, values},
        responses::object,
    },
    limits::pending_quota::ConnectionShare,
    service::{
        definition_input::{DefinitionInput, NumberInput},
        definitions::{self, Call, PreviewInput, Target},
    },
};

/// Share of the connection in what all of them have.
type Share = Extension<Arc<ConnectionShare>>;

/// Response in JSON, or an error.
type JsonResult = Result<Response<Full<Bytes>>, ApiError>;

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
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Caller>,
    Extension(share): Share,
    RawQuery(query): RawQuery,
) -> JsonResult {
    let call = async {
        let after = after(&query.unwrap_or_default())?;
        Ok(object(&definitions::list(of(&api, &caller, &share), &after)?))
    };
    api.counted(&caller, call).await
}

/// `GET /v1/sequences/{name}`.
pub(super) async fn show(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Caller>,
    Extension(share): Share,
    Name(name): Name,
) -> JsonResult {
    let call = async { Ok(object(&definitions::show(of(&api, &caller, &share), ("name", &name)).await?)) };
    api.counted(&caller, call).await
}

/// `PUT /v1/sequences/{name}`: defines the next version, or the version in the body.
pub(super) async fn define(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Caller>,
    Extension(share): Share,
    Name(name): Name,
    body: RequestBody,
) -> JsonResult {
    let call = async {
        let body = body.read().await?;
        let input = || json::read(&body, "a JSON object with a definition is expected");
        let defined = definitions::define(of(&api, &caller, &share), ("name", &name), input).await?;
        Ok(object(&defined))
    };
    api.counted(&caller, call).await
}

/// `POST /v1/preview`.
pub(super) async fn preview(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Caller>,
    Extension(share): Share,
    body: RequestBody,
) -> JsonResult {
    let call = async {
        let expected = "a JSON object with a sequence or a definition is expected";
        let asked: PreviewBody = json::read(&body.read().await?, expected)?;
        let with = asked.values.map_or_else(|| Ok(Values::new()), values)?;
        let by = Target::from_parts(asked.sequence, asked.definition)?;
        let at = asked.at.map(|at| instant(&at, &at)).transpose()?.unwrap_or_default();
        let input = PreviewInput { by, number: asked.number, with, at };
        Ok(object(&definitions::preview(of(&api, &caller, &share), input).await?))
    };
    api.counted(&caller, call).await
}

/// `POST /v1/parse`.
pub(super) async fn parse(
    State(api): State<Arc<Api>>,
    Extension(caller): Extension<Caller>,
    Extension(share): Share,
    body: RequestBody,
) -> JsonResult {
    let call = async {
        let expected = "a JSON object with a text, and a sequence or a definition is expected";
        let asked: ParseBody = json::read(&body.read().await?, expected)?;
        let by = Target::from_parts(asked.sequence, asked.definition)?;
        let text = asked.text.ok_or_else(|| ApiError::field("text", "missing", "a text is expected"))?;
        Ok(object(&definitions::parse(of(&api, &caller, &share), by, &text).await?))
    };
    api.counted(&caller, call).await
}

/// A call of definitions.
fn of<'a>(api: &'a Api, caller: &'a Caller, share: &'a Arc<ConnectionShare>) -> Call<'a> {
    Call { service: &api.service, caller, share }
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
