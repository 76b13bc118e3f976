//! The gRPC door: which service a path belongs to, and what every answer of it owes.

mod dress;
mod ending;
mod sequences;
mod timeout;

use std::{convert::Infallible, future::Future, pin::Pin, sync::Arc};

use http::{Request, Response};
use hyper::body::Incoming;
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
    phase::Phases,
    teller::Teller,
};
use ending::Ending;
use sequences::Sequences;

/// The service's full name, as health is asked for it.
pub(crate) const SEQUENCES: &str = "sequent.v1.Sequences";

type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

/// A service beside the numbers: its types are too long to be spelled.
type Side = Arc<dyn Fn(Request<Incoming>) -> Answer + Send + Sync>;

/// The gRPC door. Cheap to clone.
#[derive(Clone)]
pub(crate) struct GrpcDoor {
    teller: Teller,
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
        let sequences = SequencesServer::new(Sequences::new(teller.clone()));
        Ok(Self {
            teller,
            phases,
            sequences: sequences.max_decoding_message_size(BODY_MAX),
            health: side(
                HealthServer::new(HealthService::from_health_reporter(health.clone()))
                    .max_decoding_message_size(BODY_MAX),
            ),
            reflection: side(described().build_v1()?.max_decoding_message_size(BODY_MAX)),
            reflection_alpha: side(described().build_v1alpha()?.max_decoding_message_size(BODY_MAX)),
        })
    }

    /// A call for numbers: whole, dressed, and in bounded time even if its message never arrives.
    fn numbers(&self, request: Request<Incoming>) -> Answer {
        let answer = self.sequences.clone().call(request);
        let limit = self.teller.deadline() + BODY_TIMEOUT;
        Box::pin(async move {
            Ok(match tokio::time::timeout(limit, answer).await {
                Ok(Ok(response)) => dress::dressed(response),
                Err(_) => Fault::late("that request").into_status().into_http(),
            })
        })
    }

    /// A service beside the numbers, whose streams would otherwise keep a closing server waiting.
    fn beside(&self, service: &Side, request: Request<Incoming>) -> Answer {
        let (answer, phases) = (service(request), self.phases.clone());
        Box::pin(async move { Ok(answer.await?.map(|body| Body::new(Ending::new(body, phases)))) })
    }
}

impl hyper::service::Service<Request<Incoming>> for GrpcDoor {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn call(&self, request: Request<Incoming>) -> Answer {
        match request.uri().path().split('/').nth(1) {
            Some(SEQUENCES) => self.numbers(request),
            Some("grpc.health.v1.Health") => self.beside(&self.health, request),
            Some("grpc.reflection.v1.ServerReflection") => self.beside(&self.reflection, request),
            Some("grpc.reflection.v1alpha.ServerReflection") => self.beside(&self.reflection_alpha, request),
            _ => Box::pin(std::future::ready(Ok(dress::dressed(unknown(request.uri().path()))))),
        }
    }
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
    Arc::new(move |request| Box::pin(service.clone().call(request)))
}
