//! The gRPC door: which service a path belongs to, and what every answer of it owes.

mod body;
mod dress;
mod ending;
mod quick;
mod sequences;
mod timeout;
mod wire;

use std::{convert::Infallible, sync::Arc};

use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use sequent_engine::Ready;
use sequent_proto::v1::{FILE_DESCRIPTOR_SET, sequences_server::SequencesServer};
use tonic::{Status, body::Body, codegen::Service};
use tonic_health::{
    pb::{FILE_DESCRIPTOR_SET as HEALTH_DESCRIPTORS, health_server::HealthServer},
    server::{HealthReporter, HealthService},
};
use tonic_reflection::server::{Builder as Reflection, Error as ReflectionError};

use crate::{
    bounds::{BODY_MAX, BODY_TIMEOUT},
    fault::Fault,
    meter::Meter,
    phase::Phases,
    teller::Teller,
};
use body::{Begun, Said};
use ending::Ending;
use quick::{Answer, Asked, Whole};
use sequences::{DOOR, Sequences};

/// The service's full name, as health is asked for it.
pub(crate) const SEQUENCES: &str = "sequent.v1.Sequences";

/// The one method that may go the short way.
const NEXT: &str = "/sequent.v1.Sequences/Next";

/// A service beside the numbers: its types are too long to be spelled.
type Side = Arc<dyn Fn(Request<Incoming>) -> Whole + Send + Sync>;

/// The gRPC door. Cheap to clone.
#[derive(Clone)]
pub(crate) struct GrpcDoor(Arc<Inner>);

struct Inner {
    teller: Teller,
    next: Meter,
    phases: Phases,
    sequences: SequencesServer<Sequences>,
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
        let sequences = SequencesServer::new(Sequences::new(teller.clone(), next.clone()));
        Ok(Self(Arc::new(Inner {
            teller,
            next,
            phases,
            sequences: sequences.max_decoding_message_size(BODY_MAX),
            health: side(
                HealthServer::new(HealthService::from_health_reporter(health.clone()))
                    .max_decoding_message_size(BODY_MAX),
            ),
            reflection: side(described().build_v1()?.max_decoding_message_size(BODY_MAX)),
            reflection_alpha: side(described().build_v1alpha()?.max_decoding_message_size(BODY_MAX)),
        })))
    }

    /// A number that is ready.
    fn next_ready(&self, name: &str) -> Option<Ready> {
        self.0.teller.next_ready(name, &self.0.next)
    }

    /// A call for numbers: whole, dressed, and in bounded time even if its message never arrives.
    fn numbers(&self, request: Request<Begun>) -> Whole {
        let answer = self.0.sequences.clone().call(request);
        let (limit, door) = (self.0.teller.deadline() + BODY_TIMEOUT, self.clone());
        Box::pin(async move {
            let response = match tokio::time::timeout(limit, answer).await {
                Ok(Ok(response)) => dress::dressed(response, &door.0.next),
                Err(_) => door.0.next.refused(Fault::late("that request")).into_status().into_http(),
            };
            Ok(response.map(Said::Whole))
        })
    }

    /// A service beside the numbers, whose streams would otherwise keep a closing server waiting.
    fn beside(&self, service: &Side, request: Request<Incoming>) -> Answer {
        let (answer, phases) = (service(request), self.0.phases.clone());
        let ending = |body: Said| match body {
            Said::Whole(body) => Said::Whole(Body::new(Ending::new(body, phases))),
            ready => ready,
        };
        Answer::Whole(Box::pin(async move { Ok(answer.await?.map(ending)) }))
    }
}

impl hyper::service::Service<Request<Incoming>> for GrpcDoor {
    type Response = Response<Said>;
    type Error = Infallible;
    type Future = Answer;

    fn call(&self, request: Request<Incoming>) -> Answer {
        let path = request.uri().path();
        if let Some((status, fault)) = no_call(&request) {
            let mut response = self.0.next.refused(fault).into_status().into_http();
            *response.status_mut() = status;
            if status == StatusCode::METHOD_NOT_ALLOWED {
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
            }
            return Answer::at_once(response);
        }
        if path == NEXT {
            let ((parts, body), door) = (request.into_parts(), self.clone());
            return Answer::Next(Some(Asked { door, parts, body }));
        }
        match path.split('/').nth(1) {
            Some(SEQUENCES) => {
                let (parts, body) = request.into_parts();
                Answer::Whole(self.numbers(Request::from_parts(parts, Begun::new(None, body))))
            }
            Some("grpc.health.v1.Health") => self.beside(&self.0.health, request),
            Some("grpc.reflection.v1.ServerReflection") => self.beside(&self.0.reflection, request),
            Some("grpc.reflection.v1alpha.ServerReflection") => {
                self.beside(&self.0.reflection_alpha, request)
            }
            _ => Answer::at_once(dress::dressed(unknown(path), &self.0.next)),
        }
    }
}

/// What is no call at all, with the status that the protocol has for it: a cache may answer a GET again, with the same
/// number.
fn no_call(request: &Request<Incoming>) -> Option<(StatusCode, Fault)> {
    if request.method() != Method::POST {
        let fault = Fault::field("method", request.method().as_str(), "POST is allowed");
        return Some((StatusCode::METHOD_NOT_ALLOWED, fault));
    }
    let kind = request.headers().get(header::CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    if !kind.starts_with(b"application/grpc") {
        let kind = String::from_utf8_lossy(kind);
        let fault = Fault::field("content-type", &kind, "application/grpc is expected");
        return Some((StatusCode::UNSUPPORTED_MEDIA_TYPE, fault));
    }
    None
}

fn unknown(path: &str) -> Response<Body> {
    Status::unimplemented(format!("path is {path:?}: no such method")).into_http()
}

fn side<S>(service: S) -> Side
where
    S: Service<Request<Incoming>, Response = Response<Body>, Error = Infallible>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
{
    Arc::new(move |request| {
        let answer = service.clone().call(request);
        Box::pin(async move { Ok(answer.await?.map(Said::Whole)) })
    })
}
