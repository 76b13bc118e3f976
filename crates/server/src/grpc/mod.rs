//! The gRPC door: which service a path belongs to, and what every answer of it owes.

pub(crate) mod body;
pub(crate) mod definitions;
pub(crate) mod error_details;
pub(crate) mod fast_path;
pub(crate) mod message_framing;
pub(crate) mod precheck;
pub(crate) mod sequences;
pub(crate) mod stream_close;
pub(crate) mod timeout;

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
    grpc::{
        body::{Begun, Said},
        definitions::Definitions,
        fast_path::{Answer, Asked, Whole, next_codec::PREFIX},
        precheck::no_call,
        sequences::{DOOR, Sequences},
        stream_close::Ending,
    },
    limits::{BODY_MAX, body_reader::Arriving, pending_quota::Share},
    service::{Teller, api_error::Fault, definitions::METHOD, request_id::RequestId},
    shutdown::phase::Phases,
    telemetry::request_metrics::Meter,
};

/// The service's full name, as health is asked for it.
pub(crate) const SEQUENCES: &str = "sequent.v1.Sequences";

/// The one method that may go the short way.
const NEXT: &str = "/sequent.v1.Sequences/Next";

const LEASE: &str = "/sequent.v1.Sequences/Lease";

/// What an unknown method is told.
const METHODS: &str = "no such method: Next and Lease of sequent.v1.Sequences, Define, List, Show, Preview and Parse of \
                       sequent.v1.Definitions, grpc.health.v1 and grpc.reflection.v1 are served";

/// A service beside the numbers: its types are too long to be spelled.
type Side = Arc<dyn Fn(Request<Begun>) -> Whole + Send + Sync>;

/// The gRPC door.
pub(crate) struct GrpcDoor(Arc<Inner>);

/// The door as one connection has it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct GrpcLine(Arc<Line>);

struct Line {
    door: Arc<Inner>,
    share: Arc<Share>,
}

struct Inner {
    teller: Teller,
    next: Meter,
    defined: Meter,
    phases: Phases,
    sequences: SequencesServer<Sequences>,
    definitions: DefinitionsServer<Definitions>,
    health: Side,
    reflection: Side,
    reflection_alpha: Side,
}

impl GrpcDoor {
    pub(crate) fn new(
        teller: Teller,
        health: &HealthReporter,
        phases: Phases,
    ) -> Result<Self, ReflectionError> {
        let described = || {
            Reflection::configure()
                .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
                .register_encoded_file_descriptor_set(HEALTH_DESCRIPTORS)
        };
        let next = Meter::new(DOOR, "next");
        let defined = Meter::numberless(DOOR, METHOD);
        let sequences = SequencesServer::new(Sequences::new(teller.clone(), next.clone()));
        let definitions = DefinitionsServer::new(Definitions::new(teller.clone(), defined.clone()));
        Ok(Self(Arc::new(Inner {
            teller,
            next,
            defined,
            phases,
            sequences: sequences.max_decoding_message_size(BODY_MAX),
            definitions: definitions.max_decoding_message_size(BODY_MAX),
            health: side(
                HealthServer::new(HealthService::from_health_reporter(health.clone()))
                    .max_decoding_message_size(BODY_MAX),
            ),
            reflection: side(described().build_v1()?.max_decoding_message_size(BODY_MAX)),
            reflection_alpha: side(described().build_v1alpha()?.max_decoding_message_size(BODY_MAX)),
        })))
    }

    /// The door for one connection.
    pub(crate) fn line(&self, share: Arc<Share>) -> GrpcLine {
        GrpcLine(Arc::new(Line { door: Arc::clone(&self.0), share }))
    }
}

impl GrpcLine {
    fn door(&self) -> &Inner {
        &self.0.door
    }

    /// A number that is ready.
    fn next_ready(&self, name: &str) -> Option<Ready> {
        self.door().teller.next_ready(name, &self.door().next)
    }

    /// A call for numbers: whole before any method sees it, and dressed.
    fn numbers(&self, parts: Parts, body: (Option<Bytes>, Incoming)) -> Whole {
        let (line, body) = (self.clone(), Arriving::new("message", body, Arc::clone(&self.0.share)));
        let id = RequestId::of(&parts.headers);
        let span = id.span(&parts.headers);
        let answer = async move {
            let door = line.door();
            let whole = body.whole(PREFIX + BODY_MAX).await;
            let response = match whole.and_then(|body| door.checked(&parts, body)) {
                Ok(body) => {
                    let request = Request::from_parts(parts, Full::new(body));
                    error_details::dressed(door.sequences.clone().call(request).await?, &door.next)
                }
                Err(fault) => door.next.refused(fault).into_status().into_http(),
            };
            Ok::<_, Infallible>(response.map(Said::Whole))
        };
        signed(id, span, answer)
    }

    /// A call for a definition, in the same way.
    fn defined(&self, parts: Parts, body: Incoming) -> Whole {
        let (line, body) = (self.clone(), Arriving::new("message", (None, body), Arc::clone(&self.0.share)));
        let id = RequestId::of(&parts.headers);
        let span = id.span(&parts.headers);
        let answer = async move {
            let door = line.door();
            let response = match body.whole(PREFIX + BODY_MAX).await {
                Ok(body) => {
                    let request = Request::from_parts(parts, Full::new(body));
                    error_details::dressed(door.definitions.clone().call(request).await?, &door.defined)
                }
                Err(fault) => door.defined.refused(fault).into_status().into_http(),
            };
            Ok::<_, Infallible>(response.map(Said::Whole))
        };
        signed(id, span, answer)
    }

    /// A service beside the numbers, whose streams would otherwise keep a closing server waiting.
    fn beside(&self, service: &Side, request: Request<Incoming>) -> Answer {
        let share = &self.0.share;
        let place = match share.take() {
            Ok(place) => place,
            Err(fault) => return Answer::at_once(fault.into_status().into_http()),
        };
        let request =
            request.map(|body| Begun::new(Arriving::new("message", (None, body), Arc::clone(share))));
        let (answer, phases) = (service(request), self.door().phases.clone());
        Answer::Whole(Box::pin(async move {
            let (parts, body) = answer.await?.into_parts();
            Ok(match body {
                Said::Whole(body) => error_details::dressed_aside(Response::from_parts(parts, body))
                    .map(|body| Said::Whole(Body::new(Ending::new(body, phases, place)))),
                ready => Response::from_parts(parts, ready),
            })
        }))
    }
}

impl Inner {
    /// The body of a call for numbers, unless the library would misread its count.
    fn checked(&self, parts: &Parts, body: Bytes) -> Result<Bytes, Fault> {
        let Some(count) = fast_path::next_codec::count_beyond(&body) else { return Ok(body) };
        let is_lease = parts.uri.path() == LEASE;
        let bound = if is_lease { self.teller.lease_bound() } else { self.teller.next_bound() };
        Err(Fault::field("count", &count.to_string(), bound))
    }
}

impl hyper::service::Service<Request<Incoming>> for GrpcLine {
    type Response = Response<Said>;
    type Error = Infallible;
    type Future = Answer;

    fn call(&self, request: Request<Incoming>) -> Answer {
        let door = self.door();
        if let Some((status, fault)) = no_call(&request) {
            let mut response = door.next.refused(fault).into_status().into_http();
            *response.status_mut() = status;
            if status == StatusCode::METHOD_NOT_ALLOWED {
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
            }
            return Answer::at_once(response);
        }
        match request.uri().path() {
            NEXT => {
                let ((parts, body), line) = (request.into_parts(), self.clone());
                Answer::Next(Some(Asked { line, parts, body }))
            }
            LEASE => {
                let (parts, body) = request.into_parts();
                Answer::Whole(self.numbers(parts, (None, body)))
            }
            "/grpc.health.v1.Health/Check" | "/grpc.health.v1.Health/Watch" => {
                self.beside(&door.health, request)
            }
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo" => {
                self.beside(&door.reflection, request)
            }
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo" => {
                self.beside(&door.reflection_alpha, request)
            }
            path if Definitions::has(path) => {
                let (parts, body) = request.into_parts();
                Answer::Whole(self.defined(parts, body))
            }
            path => {
                let fault = door.next.refused(Fault::field("path", path, METHODS));
                Answer::at_once(fault.into_status_of(Code::Unimplemented).into_http())
            }
        }
    }
}

/// An answer that bears the call's name.
fn signed(
    id: RequestId,
    span: tracing::Span,
    answer: impl Future<Output = Result<Response<Said>, Infallible>> + Send + 'static,
) -> Whole {
    Box::pin(async move {
        let mut response = answer.instrument(span).await?;
        let failed = response.headers().contains_key(Status::GRPC_STATUS);
        id.sign(response.headers_mut(), failed);
        Ok(response)
    })
}

fn side<S>(service: S) -> Side
where
    S: Service<Request<Begun>, Response = Response<Body>, Error = Infallible>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
{
    Arc::new(move |request| {
        let answer = service.clone().call(request);
        Box::pin(async move { Ok(answer.await?.map(Said::Whole)) })
    })
}
