//! Service of one connection of the admin listener: its caller is checked before the routes.

use std::{convert::Infallible, pin::Pin, sync::Arc};

use axum::{Router, body::Body, response::IntoResponse};
use http::{Request, Response};
use hyper::{body::Incoming, service::Service};
use hyper_util::service::TowerToHyperService;

use crate::{
    auth::{ConnectionAuth, routes::Need},
    limits::pending_quota::ConnectionShare,
};

/// Service of one connection.
pub(crate) struct AdminService {
    routes: TowerToHyperService<Router>,
    auth: Arc<ConnectionAuth>,
    share: Arc<ConnectionShare>,
}

impl AdminService {
    pub(crate) fn new(
        routes: TowerToHyperService<Router>,
        auth: Arc<ConnectionAuth>,
        share: Arc<ConnectionShare>,
    ) -> Self {
        Self { routes, auth, share }
    }
}

impl Service<Request<Incoming>> for AdminService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        let need = Need::of_admin(request.method(), request.uri().path());
        match self.auth.caller(need, request.headers()) {
            Ok(caller) => {
                request.extensions_mut().insert(caller);
                request.extensions_mut().insert(Arc::clone(&self.share));
                Box::pin(self.routes.call(request))
            }
            Err(error) => Box::pin(std::future::ready(Ok(error.into_response()))),
        }
    }
}
