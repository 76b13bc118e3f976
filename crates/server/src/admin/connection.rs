//! A request of one connection of the admin listener: its caller is checked before the routes.

use std::{convert::Infallible, pin::Pin, sync::Arc};

use axum::{Router, body::Body, response::IntoResponse};
use http::{Request, Response};
use hyper::{body::Incoming, service::Service};
use hyper_util::service::TowerToHyperService;

use crate::{
    auth::{ConnectionAuth, routes::Need},
    limits::pending_quota::ConnectionShare,
};

/// Future of a response.
type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

/// Sends a request to the routes, or refuses its caller.
pub(crate) fn route(
    routes: &TowerToHyperService<Router>,
    (share, auth): &(Arc<ConnectionShare>, Arc<ConnectionAuth>),
    mut request: Request<Incoming>,
) -> Answer {
    let need = Need::of_admin(request.method(), request.uri().path());
    match auth.caller(need, request.headers()) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            request.extensions_mut().insert(Arc::clone(share));
            Box::pin(routes.call(request))
        }
        Err(error) => Box::pin(std::future::ready(Ok(error.into_response()))),
    }
}
