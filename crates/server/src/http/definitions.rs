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
use serde::{Deserialize, Serialize};

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

/// What each call has: the state, its caller, and the share of its connection in what all of them have.
type Asked = (State<Arc<Api>>, Extension<Caller>, Extension<Arc<ConnectionShare>>);

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
pub(super) async fn list(asked: Asked, RawQuery(query): RawQuery) -> JsonResult {
    let listed = async { definitions::list(call(&asked), &after(&query.unwrap_or_default())?) };
    answered(&asked, listed).await
}

/// `GET /v1/sequences/{name}`.
pub(super) async fn show(asked: Asked, Name(name): Name) -> JsonResult {
    answered(&asked, definitions::show(call(&asked), ("name", &name))).await
}

/// `PUT /v1/sequences/{name}`: defines the next version, or the version in the body.
pub(super) async fn define(asked: Asked, Name(name): Name, body: RequestBody) -> JsonResult {
    let defined = async {
        let body = body.read().await?;
        let input = || json::read(&body, "a JSON object with a definition is expected");
        definitions::define(call(&asked), ("name", &name), input).await
    };
    answered(&asked, defined).await
}

/// `POST /v1/preview`.
pub(super) async fn preview(asked: Asked, body: RequestBody) -> JsonResult {
    let previewed = async {
        let expected = "a JSON object with a sequence or a definition is expected";
        let PreviewBody { sequence, definition, number, values: with, at } =
            json::read(&body.read().await?, expected)?;
        let with = with.map_or_else(|| Ok(Values::new()), values)?;
        let by = Target::from_parts(sequence, definition)?;
        let at = at.map(|at| instant(&at, &at)).transpose()?.unwrap_or_default();
        definitions::preview(call(&asked), PreviewInput { by, number, with, at }).await
    };
    answered(&asked, previewed).await
}

/// `POST /v1/parse`.
pub(super) async fn parse(asked: Asked, body: RequestBody) -> JsonResult {
    let parsed = async {
        let expected = "a JSON object with a text, and a sequence or a definition is expected";
        let ParseBody { sequence, definition, text } = json::read(&body.read().await?, expected)?;
        let by = Target::from_parts(sequence, definition)?;
        let text = text.ok_or_else(|| ApiError::field("text", "missing", "a text is expected"))?;
        definitions::parse(call(&asked), by, &text).await
    };
    answered(&asked, parsed).await
}

fn call((State(api), Extension(caller), Extension(share)): &Asked) -> Call<'_> {
    Call { service: &api.service, caller, share }
}

/// Runs a call, and counts its outcome.
async fn answered<T: Serialize>(
    (State(api), Extension(caller), _): &Asked,
    call: impl Future<Output = Result<T, ApiError>>,
) -> JsonResult {
    let outcome = api.service.counted(&api.definitions_metrics, call).await;
    caller.count(outcome.as_ref().err().map(ApiError::reason), 0);
    Ok(object(&outcome?))
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
