//! Routes of the gRPC API: services of tonic, behind the layers that bound their requests.

use std::{convert::Infallible, sync::Arc};

use axum::{
    Extension, Router,
    body::Body,
    extract::{Request, State},
    http::Uri,
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use sequent_proto::v1::{
    FILE_DESCRIPTOR_SET, definitions_server::DefinitionsServer, sequences_server::SequencesServer,
};
use tonic::{Code, codegen::Service, server::NamedService};
use tonic_health::{
    pb::{FILE_DESCRIPTOR_SET as HEALTH_DESCRIPTORS, health_server::HealthServer},
    server::{HealthReporter, HealthService},
};
use tonic_reflection::server::{Builder as Reflection, Error as ReflectionError};

use crate::{
    error::ApiError,
    grpc::{
        api::Api,
        body::RequestBody,
        definitions::Definitions,
        error_details::{auxiliary_with_details, with_details},
        message_framing::PREFIX,
        sequences::Sequences,
        stream_close::ClosableBody,
    },
    limits::{BODY_MAX, body_reader::BodyReader, pending_quota::ConnectionShare},
    service::request_id::identify,
};

/// Error text for an unknown method.
const METHODS: &str = "no such method: Next and Lease of sequent.v1.Sequences, Define, List, Show, Preview and Parse of \
                       sequent.v1.Definitions, grpc.health.v1 and grpc.reflection.v1 are served";

/// The chunk of a body that the fast path has read. An extension of the request.
#[derive(Clone)]
pub(super) struct FirstChunk(pub(super) Bytes);

/// Routes of everything but the fast path.
pub(super) fn router(api: Arc<Api>, health: &HealthReporter) -> Result<Router, ReflectionError> {
    let sequences = SequencesServer::new(Sequences::new(api.service.clone(), api.next_metrics.clone()));
    let definitions =
        DefinitionsServer::new(Definitions::new(api.service.clone(), api.definitions_metrics.clone()));
    let messages = methods(sequences.max_decoding_message_size(BODY_MAX), &["Next", "Lease"])
        .merge(methods(
            definitions.max_decoding_message_size(BODY_MAX),
            &["Define", "List", "Show", "Preview", "Parse"],
        ))
        .layer(from_fn_with_state(Arc::clone(&api), whole_message));
    let health = HealthServer::new(HealthService::from_health_reporter(health.clone()));
    let reflection = || {
        Reflection::configure()
            .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(HEALTH_DESCRIPTORS)
    };
    let (v1, v1alpha) = (reflection().build_v1()?, reflection().build_v1alpha()?);
    let streams = methods(health.max_decoding_message_size(BODY_MAX), &["Check", "Watch"])
        .merge(methods(v1.max_decoding_message_size(BODY_MAX), &["ServerReflectionInfo"]))
        .merge(methods(v1alpha.max_decoding_message_size(BODY_MAX), &["ServerReflectionInfo"]))
        .layer(from_fn_with_state(Arc::clone(&api), stream));
    Ok(messages.merge(streams).fallback(unknown).layer(from_fn(identify)).with_state(api))
}

/// Routes of the methods of a service. Any other method is unknown, also to a service that would answer it.
#[allow(clippy::needless_pass_by_value, reason = "callers make it for this")]
fn methods<S>(service: S, names: &[&str]) -> Router<Arc<Api>>
where
    S: Service<Request, Error = Infallible> + NamedService + Clone + Send + Sync + 'static,
    S::Response: IntoResponse,
    S::Future: Send + 'static,
{
    let path = |name: &&str| format!("/{}/{name}", S::NAME);
    names.iter().map(path).fold(Router::new(), |router, path| router.route_service(&path, service.clone()))
}

async fn unknown(State(api): State<Arc<Api>>, uri: Uri) -> Response {
    let error = api.next_metrics.refused(ApiError::field("path", uri.path(), METHODS));
    error.into_status_of(Code::Unimplemented).into_http()
}

/// Layer of `Sequences` and `Definitions`: reads the message as a whole, and adds details to errors that tonic makes.
async fn whole_message(
    State(api): State<Arc<Api>>,
    Extension(share): Extension<Arc<ConnectionShare>>,
    first: Option<Extension<FirstChunk>>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let (path, first) = (parts.uri.path(), first.map(|Extension(FirstChunk(first))| first));
    let metrics = api.metrics(path);
    let reader = BodyReader::new("message", (first, body), share).with_head(&parts.headers);
    let whole = reader.read_all(PREFIX + BODY_MAX).await;
    match whole.and_then(|body| api.check_count(path, body)) {
        Ok(body) => with_details(next.run(Request::from_parts(parts, Body::from(body))).await, metrics),
        Err(error) => metrics.refused(error).into_status().into_http(),
    }
}

/// Layer of health and reflection: bounds the request in time and memory. The response ends when the server closes;
/// otherwise a health watch would delay the shutdown.
async fn stream(
    State(api): State<Arc<Api>>,
    Extension(share): Extension<Arc<ConnectionShare>>,
    request: Request,
    next: Next,
) -> Response {
    let permit = match share.acquire() {
        Ok(permit) => permit,
        Err(error) => return error.into_status().into_http(),
    };
    let (parts, body) = request.into_parts();
    let reader = BodyReader::new("message", (None, body), share).with_head(&parts.headers);
    let request = Request::from_parts(parts, Body::new(RequestBody::new(reader)));
    let response = auxiliary_with_details(next.run(request).await);
    response.map(|body| Body::new(ClosableBody::new(body, api.phases.clone(), permit)))
}
