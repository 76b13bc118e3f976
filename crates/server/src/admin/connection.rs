//! Service of one connection of the admin listener: its caller is checked before the routes.

use std::{convert::Infallible, pin::Pin, sync::Arc};

use axum::{Router, body::Body, response::IntoResponse};
use http::{Request, Response};
use hyper::{body::Incoming, service::Service};
use hyper_util::service::TowerToHyperService;

use crate::auth::{ConnectionAuth, routes::Need};

/// Service of one connection.
pub(crate) struct AdminService {
    routes: TowerToHyperService<Router>,
    auth: Arc<ConnectionAuth>,
}

impl AdminService {
    pub(crate) fn new(routes: TowerToHyperService<Router>, auth: Arc<ConnectionAuth>) -> Self {
        Self { routes, auth }
    }
}

impl Service<Request<Incoming>> for AdminService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        match self.auth.caller(Need::of_admin(request.uri().path()), request.headers()) {
            Ok(_) => Box::pin(self.routes.call(request)),
            Err(error) => Box::pin(std::future::ready(Ok(error.into_response()))),
        }
    }
}
