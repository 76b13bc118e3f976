//! gRPC server: routes calls to `Sequences`, `Definitions`, health and reflection.

mod body;
mod definitions;
mod error_details;
mod fast_path;
mod message_framing;
mod precheck;
mod sequences;
mod stream_close;
mod timeout;

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header, request::Parts};
use http_body_util::Full;
use hyper::body::Incoming;
use sequent_engine::Ready;
use sequent_proto::v1::{
    FILE_DESCRIPTOR_SET, definitions_server::DefinitionsServer, sequences_server::SequencesServer,
};
use tonic::{Code, Status, body::Body, codegen::Service};
use tonic_health::{
    pb::{FILE_DESCRIPTOR_SET as HEALTH_DESCRIPTORS, health_server::HealthServer},
    server::{HealthReporter, HealthService},
};
use tonic_reflection::server::{Builder as Reflection, Error as ReflectionError};
use tracing::Instrument;

use crate::{
    error::ApiError,
    grpc::{
        body::{RequestBody, ResponseBody},
        definitions::Definitions,
        fast_path::{BoxedResponse, NextCall, ResponseFuture},
        message_framing::PREFIX,
        precheck::reject,
        sequences::{API_LABEL, Sequences},
        stream_close::ClosableBody,
    },
    limits::{BODY_MAX, body_reader::BodyReader, pending_quota::ConnectionShare},
    service::{NumberService, definitions::METHOD, request_id::RequestId},
    shutdown::phase::PhaseWatch,
    telemetry::request_metrics::RequestMetrics,
};

/// Full name of the service, as in health checks.
pub(crate) const SEQUENCES: &str = "sequent.v1.Sequences";

/// The only method with a fast path.
const NEXT: &str = "/sequent.v1.Sequences/Next";

const LEASE: &str = "/sequent.v1.Sequences/Lease";

/// Error text for an unknown method.
const METHODS: &str = "no such method: Next and Lease of sequent.v1.Sequences, Define, List, Show, Preview and Parse of \
                       sequent.v1.Definitions, grpc.health.v1 and grpc.reflection.v1 are served";

/// Health or reflection service behind a closure, since its own type can't be named in reasonable length.
type AuxiliaryService = Arc<dyn Fn(Request<RequestBody>) -> BoxedResponse + Send + Sync>;

/// gRPC server: makes a service per connection.
pub(crate) struct GrpcServer(Arc<Inner>);

/// gRPC service of one connection. Cheap to clone.
#[derive(Clone)]
pub(crate) struct GrpcService(Arc<ConnectionContext>);

struct ConnectionContext {
    server: Arc<Inner>,
    share: Arc<ConnectionShare>,
}

struct Inner {
    service: NumberService,
    next_metrics: RequestMetrics,
    definitions_metrics: RequestMetrics,
    phases: PhaseWatch,
    sequences: SequencesServer<Sequences>,
    definitions: DefinitionsServer<Definitions>,
    health: AuxiliaryService,
    reflection: AuxiliaryService,
    reflection_alpha: AuxiliaryService,
}

impl GrpcServer {
    pub(crate) fn new(
        service: NumberService,
        health: &HealthReporter,
        phases: PhaseWatch,
    ) -> Result<Self, ReflectionError> {
        let described = || {
            Reflection::configure()
                .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
                .register_encoded_file_descriptor_set(HEALTH_DESCRIPTORS)
        };
        let next_metrics = RequestMetrics::new(API_LABEL, "next");
        let definitions_metrics = RequestMetrics::without_numbers(API_LABEL, METHOD);
        let sequences = SequencesServer::new(Sequences::new(service.clone(), next_metrics.clone()));
        let definitions =
            DefinitionsServer::new(Definitions::new(service.clone(), definitions_metrics.clone()));
        Ok(Self(Arc::new(Inner {
            service,
            next_metrics,
            definitions_metrics,
            phases,
            sequences: sequences.max_decoding_message_size(BODY_MAX),
            definitions: definitions.max_decoding_message_size(BODY_MAX),
            health: auxiliary(
                HealthServer::new(HealthService::from_health_reporter(health.clone()))
                    .max_decoding_message_size(BODY_MAX),
            ),
            reflection: auxiliary(described().build_v1()?.max_decoding_message_size(BODY_MAX)),
            reflection_alpha: auxiliary(described().build_v1alpha()?.max_decoding_message_size(BODY_MAX)),
        })))
    }

    /// The service of a new connection.
    pub(crate) fn connection_service(&self, share: Arc<ConnectionShare>) -> GrpcService {
        GrpcService(Arc::new(ConnectionContext { server: Arc::clone(&self.0), share }))
    }
}

impl GrpcService {
    fn server(&self) -> &Inner {
        &self.0.server
    }

    /// Takes a number that is ready.
    fn next_ready(&self, name: &str) -> Option<Ready> {
        self.server().service.next_ready(name, &self.server().next_metrics)
    }

    /// Calls `Sequences` or `Definitions` with a complete body, whose first chunk may have been read already.
    fn call_with_message(&self, parts: Parts, body: (Option<Bytes>, Incoming)) -> BoxedResponse {
        let (service, body) = (self.clone(), BodyReader::new("message", body, Arc::clone(&self.0.share)));
        let id = RequestId::from_headers_or_generate(&parts.headers);
        let span = id.span(&parts.headers);
        let answer = async move {
            let server = service.server();
            let whole = body.read_all(PREFIX + BODY_MAX).await;
            if Definitions::has(parts.uri.path()) {
                return call(server.definitions.clone(), &server.definitions_metrics, parts, whole).await;
            }
            let whole = whole.and_then(|body| server.check_count(&parts, body));
            call(server.sequences.clone(), &server.next_metrics, parts, whole).await
        };
        Box::pin(async move {
            let mut response = answer.instrument(span).await?;
            let failed = response.headers().contains_key(Status::GRPC_STATUS);
            id.add_to(response.headers_mut(), failed);
            Ok(response.map(ResponseBody::Tonic))
        })
    }

    /// Calls the health or reflection service. Its streams end when the server closes; otherwise a health watch would
    /// delay the shutdown.
    fn call_auxiliary(&self, service: &AuxiliaryService, request: Request<Incoming>) -> ResponseFuture {
        let share = &self.0.share;
        let permit = match share.acquire() {
            Ok(permit) => permit,
            Err(error) => return ResponseFuture::ready(error.into_status().into_http()),
        };
        let request =
            request.map(|body| RequestBody::new(BodyReader::new("message", (None, body), Arc::clone(share))));
        let (answer, phases) = (service(request), self.server().phases.clone());
        ResponseFuture::Boxed(Box::pin(async move {
            let (parts, body) = answer.await?.into_parts();
            Ok(match body {
                ResponseBody::Tonic(body) => {
                    error_details::auxiliary_with_details(Response::from_parts(parts, body))
                        .map(|body| ResponseBody::Tonic(Body::new(ClosableBody::new(body, phases, permit))))
                }
                ready => Response::from_parts(parts, ready),
            })
        }))
    }
}

impl Inner {
    /// The body of a call of `Sequences`, unless the Protobuf library would misread its count.
    fn check_count(&self, parts: &Parts, body: Bytes) -> Result<Bytes, ApiError> {
        let Some(count) = fast_path::next_codec::count_beyond_u32(&body) else { return Ok(body) };
        let is_lease = parts.uri.path() == LEASE;
        let bound = if is_lease { self.service.lease_bound() } else { self.service.next_bound() };
        Err(ApiError::field("count", &count.to_string(), bound))
    }
}

impl hyper::service::Service<Request<Incoming>> for GrpcService {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn call(&self, request: Request<Incoming>) -> ResponseFuture {
        let server = self.server();
        if let Some((status, error)) = reject(&request) {
            let mut response = server.next_metrics.refused(error).into_status().into_http();
            *response.status_mut() = status;
            if status == StatusCode::METHOD_NOT_ALLOWED {
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
            }
            return ResponseFuture::ready(response);
        }
        match request.uri().path() {
            NEXT => {
                let ((parts, body), service) = (request.into_parts(), self.clone());
                ResponseFuture::Next(Some(NextCall { service, parts, body }))
            }
            "/grpc.health.v1.Health/Check" | "/grpc.health.v1.Health/Watch" => {
                self.call_auxiliary(&server.health, request)
            }
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo" => {
                self.call_auxiliary(&server.reflection, request)
            }
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo" => {
                self.call_auxiliary(&server.reflection_alpha, request)
            }
            path if path == LEASE || Definitions::has(path) => {
                let (parts, body) = request.into_parts();
                ResponseFuture::Boxed(self.call_with_message(parts, (None, body)))
            }
            path => {
                let error = server.next_metrics.refused(ApiError::field("path", path, METHODS));
                ResponseFuture::ready(error.into_status_of(Code::Unimplemented).into_http())
            }
        }
    }
}

/// Calls a service of tonic, and adds details to errors that tonic makes.
async fn call<S>(
    mut service: S,
    metrics: &RequestMetrics,
    parts: Parts,
    whole: Result<Bytes, ApiError>,
) -> Result<Response<Body>, Infallible>
where
    S: Service<Request<Full<Bytes>>, Response = Response<Body>, Error = Infallible>,
{
    Ok(match whole {
        Ok(body) => {
            let response = service.call(Request::from_parts(parts, Full::new(body))).await?;
            error_details::with_details(response, metrics)
        }
        Err(error) => metrics.refused(error).into_status().into_http(),
    })
}

fn auxiliary<S>(service: S) -> AuxiliaryService
where
    S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
{
    Arc::new(move |request| {
        let answer = service.clone().call(request);
        Box::pin(async move { Ok(answer.await?.map(ResponseBody::Tonic)) })
    })
}
