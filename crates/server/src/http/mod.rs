//! HTTP/JSON server: numbers, definitions, previews, parsing and `/openapi.json`.
//!
//! [`fast_path`] is tried first. Every other request goes to the axum [`router`].

mod api;
mod definitions;
mod extract;
mod fast_path;
mod json;
mod next;
mod number_json;
mod responses;
mod router;

use std::{convert::Infallible, sync::Arc};

use axum::{Router, response::IntoResponse};
use http::{Request, Response};
use hyper::{body::Incoming, service::Service};
use hyper_util::service::TowerToHyperService;

use crate::{
    auth::{ConnectionAuth, routes::Need},
    http::{
        api::Api,
        fast_path::{ResponseBody, ResponseFuture},
    },
    limits::pending_quota::ConnectionShare,
    service::{NumberService, request_id},
};

/// HTTP server: makes a service per connection.
pub(crate) struct HttpServer {
    api: Arc<Api>,
    routes: TowerToHyperService<Router>,
}

/// HTTP service of one connection.
pub(crate) struct HttpService {
    api: Arc<Api>,
    routes: TowerToHyperService<Router>,
    share: Arc<ConnectionShare>,
    auth: Arc<ConnectionAuth>,
}

impl HttpServer {
    pub(crate) fn new(service: NumberService) -> Self {
        let api = Arc::new(Api::new(service));
        Self { routes: TowerToHyperService::new(router::router(Arc::clone(&api))), api }
    }

    /// The service of a new connection.
    pub(crate) fn connection_service(
        &self,
        share: Arc<ConnectionShare>,
        auth: Arc<ConnectionAuth>,
    ) -> HttpService {
        HttpService { api: Arc::clone(&self.api), routes: self.routes.clone(), share, auth }
    }
}

impl Service<Request<Incoming>> for HttpService {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn call(&self, mut request: Request<Incoming>) -> ResponseFuture {
        if let Some(response) = fast_path::next(&self.api, &self.auth, &request) {
            return ResponseFuture::Ready(Some(response));
        }
        match self.auth.caller(Need::of_http(request.method(), request.uri().path()), request.headers()) {
            Ok(caller) => drop(request.extensions_mut().insert(caller)),
            Err(error) => {
                let mut response = self.api.next_metrics.refused(error).into_response();
                request_id::mark_failed(request.headers(), response.headers_mut());
                return ResponseFuture::Refused(Some(response));
            }
        }
        request.extensions_mut().insert(Arc::clone(&self.share));
        ResponseFuture::Routed(Box::pin(self.routes.call(request)))
    }
}
