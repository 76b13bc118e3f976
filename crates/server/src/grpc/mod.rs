//! gRPC server: `Sequences`, `Definitions`, health and reflection.
//!
//! [`fast_path`] is tried first for `Next`. Every other call goes through the axum [`router`] to a service of tonic.

mod api;
mod body;
mod connection;
mod definitions;
mod error_details;
mod fast_path;
mod message_framing;
mod precheck;
mod router;
mod sequences;
mod stream_close;
mod timeout;

use std::{convert::Infallible, sync::Arc};

use axum::Router;
use http::{HeaderValue, Request, Response, StatusCode, header};
use hyper::{body::Incoming, service::Service};
use hyper_util::service::TowerToHyperService;
use tonic_health::server::HealthReporter;
use tonic_reflection::server::Error as ReflectionError;

use crate::{
    grpc::{
        api::{Api, NEXT},
        body::ResponseBody,
        connection::Connection,
        fast_path::{NextCall, ResponseFuture},
        precheck::reject,
    },
    limits::pending_quota::ConnectionShare,
    service::NumberService,
    shutdown::phase::PhaseWatch,
    tls::peer::PeerCertificate,
};

/// Full name of the service, as in health checks.
pub(crate) const SEQUENCES: &str = "sequent.v1.Sequences";

/// gRPC server: makes a service per connection.
pub(crate) struct GrpcServer {
    api: Arc<Api>,
    routes: TowerToHyperService<Router>,
}

/// gRPC service of one connection.
pub(crate) struct GrpcService(Arc<Connection>);

impl GrpcServer {
    pub(crate) fn new(
        service: NumberService,
        health: &HealthReporter,
        phases: PhaseWatch,
    ) -> Result<Self, ReflectionError> {
        let api = Arc::new(Api::new(service, phases));
        let routes = TowerToHyperService::new(router::router(Arc::clone(&api), health)?);
        Ok(Self { api, routes })
    }

    /// The service of a new connection, whose peer may have presented a certificate.
    pub(crate) fn connection_service(
        &self,
        share: Arc<ConnectionShare>,
        peer: Option<Arc<PeerCertificate>>,
    ) -> GrpcService {
        let (api, routes) = (Arc::clone(&self.api), self.routes.clone());
        GrpcService(Arc::new(Connection { api, routes, share, peer }))
    }
}

impl Service<Request<Incoming>> for GrpcService {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn call(&self, request: Request<Incoming>) -> ResponseFuture {
        if let Some((status, error)) = reject(&request) {
            let mut response = self.0.api.next_metrics.refused(error).into_status().into_http();
            *response.status_mut() = status;
            if status == StatusCode::METHOD_NOT_ALLOWED {
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
            }
            return ResponseFuture::ready(response);
        }
        if request.uri().path() == NEXT {
            let ((parts, body), connection) = (request.into_parts(), Arc::clone(&self.0));
            return ResponseFuture::Next(Some(NextCall { connection, parts, body }));
        }
        ResponseFuture::Boxed(self.0.route(request, None))
    }
}
