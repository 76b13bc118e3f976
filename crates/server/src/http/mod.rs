//! HTTP/JSON server: numbers, definitions, previews, parsing and `/openapi.json`.
//!
//! [`fast_path`] is tried first. Every other request goes to the axum [`router`].

mod api;
mod definitions;
pub(crate) mod extract;
mod fast_path;
pub(crate) mod json;
pub(crate) mod next;
mod number_json;
pub(crate) mod own_site;
pub(crate) mod responses;
mod router;

use std::{convert::Infallible, sync::Arc};

use axum::{Router, response::IntoResponse};
use http::{Request, Response};
use hyper::{body::Incoming, service::Service};
use hyper_util::service::TowerToHyperService;

use crate::{
    admin::health,
    auth::{ConnectionAuth, routes::Need},
    http::{
        api::Api,
        fast_path::{ResponseBody, ResponseFuture},
        own_site::OwnSite,
    },
    limits::pending_quota::ConnectionShare,
    service::{NumberService, request_id},
    shutdown::phase::PhaseWatch,
};

/// HTTP server: makes a service per connection.
pub(crate) struct HttpServer {
    api: Arc<Api>,
    routes: TowerToHyperService<Router>,
    site: OwnSite,
}

/// HTTP service of one connection.
pub(crate) struct HttpService {
    server: Arc<HttpServer>,
    share: Arc<ConnectionShare>,
    auth: Arc<ConnectionAuth>,
}

impl HttpServer {
    pub(crate) fn new(service: NumberService, site: OwnSite, phases: PhaseWatch) -> Arc<Self> {
        let api = Arc::new(Api::new(service));
        let routes = router::router(Arc::clone(&api)).merge(health::router(phases));
        Arc::new(Self { routes: TowerToHyperService::new(routes), api, site })
    }

    /// The service of a new connection.
    pub(crate) fn connection_service(
        self: &Arc<Self>,
        share: Arc<ConnectionShare>,
        auth: Arc<ConnectionAuth>,
    ) -> HttpService {
        HttpService { server: Arc::clone(self), share, auth }
    }
}

impl Service<Request<Incoming>> for HttpService {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn call(&self, mut request: Request<Incoming>) -> ResponseFuture {
        let HttpServer { api, routes, site } = &*self.server;
        if let Some(error) = site.refusal(&request) {
            return ResponseFuture::refused(api.next_metrics.refused(error));
        }
        if let Some(response) = fast_path::next(api, &self.auth, &request) {
            return ResponseFuture::Ready(Some(response));
        }
        match self.auth.caller(Need::of_http(request.method(), request.uri().path()), request.headers()) {
            Ok(caller) => drop(request.extensions_mut().insert(caller)),
            Err(error) => {
                let mut response = api.next_metrics.refused(error).into_response();
                request_id::mark_failed(request.headers(), response.headers_mut());
                return ResponseFuture::Refused(Some(Box::new(response)));
            }
        }
        request.extensions_mut().insert(Arc::clone(&self.share));
        ResponseFuture::Routed(Box::pin(routes.call(request)))
    }
}
