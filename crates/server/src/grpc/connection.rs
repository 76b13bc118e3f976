//! What the calls of one connection share: the state, the routes, and the connection's part of the pending quota.

use std::{convert::Infallible, future::ready, pin::Pin, sync::Arc};

use axum::Router;
use bytes::Bytes;
use http::{Extensions, Request, Response};
use hyper::{body::Incoming, service::Service};
use hyper_util::service::TowerToHyperService;
use sequent_engine::Reason;
use tonic::Status;

use crate::{
    auth::{Caller, ConnectionAuth, NotAuthenticated, routes::Need},
    error::ApiError,
    grpc::{api::Api, body::ResponseBody, router::FirstChunk},
    limits::pending_quota::ConnectionShare,
    service::request_id,
};

/// Future of a response from the router.
pub(super) type BoxedResponse =
    Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Infallible>> + Send>>;

/// One connection.
pub(super) struct Connection {
    pub(super) api: Arc<Api>,
    pub(super) routes: TowerToHyperService<Router>,
    pub(super) share: Arc<ConnectionShare>,
    pub(super) auth: Arc<ConnectionAuth>,
}

impl Connection {
    /// Sends a call to the router, with the chunk of its body that was read already; or refuses its caller.
    pub(super) fn route(&self, mut request: Request<Incoming>, first: Option<Bytes>) -> BoxedResponse {
        match self.auth.caller(Need::of_grpc(request.uri().path()), request.headers()) {
            Ok(caller) => drop(request.extensions_mut().insert(caller)),
            Err(error) => {
                let mut response = self.api.next_metrics.refused(error).into_status().into_http();
                request_id::mark_failed(request.headers(), response.headers_mut());
                return Box::pin(ready(Ok(response.map(ResponseBody::Routed))));
            }
        }
        request.extensions_mut().insert(Arc::clone(&self.share));
        if let Some(first) = first {
            request.extensions_mut().insert(FirstChunk(first));
        }
        let answer = self.routes.call(request);
        Box::pin(async move { Ok(answer.await?.map(ResponseBody::Routed)) })
    }
}

/// The caller of a call in the router.
#[allow(clippy::result_large_err, reason = "the methods of tonic return it")]
pub(super) fn caller(extensions: &Extensions) -> Result<&Caller, Status> {
    extensions.get().ok_or_else(|| ApiError::from(NotAuthenticated::Missing).into_status())
}

/// Its connection's part of the pending quota.
#[allow(clippy::result_large_err, reason = "the methods of tonic return it")]
pub(super) fn share(extensions: &Extensions) -> Result<&Arc<ConnectionShare>, Status> {
    // The router adds it to each call. Without one, the call would have no bound.
    let lost = || ApiError::new(Reason::Draining, "this connection is ending").into_status();
    extensions.get().ok_or_else(lost)
}
