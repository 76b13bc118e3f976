//! What the calls of one connection share: the state, the routes, and the connection's part of the pending quota.

use std::{convert::Infallible, pin::Pin, sync::Arc};

use axum::Router;
use bytes::Bytes;
use http::{Request, Response};
use hyper::{body::Incoming, service::Service};
use hyper_util::service::TowerToHyperService;

use crate::{
    grpc::{api::Api, body::ResponseBody, router::FirstChunk},
    limits::pending_quota::ConnectionShare,
    tls::peer::PeerCertificate,
};

/// Future of a response from the router.
pub(super) type BoxedResponse =
    Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Infallible>> + Send>>;

/// One connection.
pub(super) struct Connection {
    pub(super) api: Arc<Api>,
    pub(super) routes: TowerToHyperService<Router>,
    pub(super) share: Arc<ConnectionShare>,
    pub(super) peer: Option<Arc<PeerCertificate>>,
}

impl Connection {
    /// Sends a call to the router, with the chunk of its body that was read already.
    pub(super) fn route(&self, mut request: Request<Incoming>, first: Option<Bytes>) -> BoxedResponse {
        request.extensions_mut().insert(Arc::clone(&self.share));
        if let Some(peer) = &self.peer {
            request.extensions_mut().insert(Arc::clone(peer));
        }
        if let Some(first) = first {
            request.extensions_mut().insert(FirstChunk(first));
        }
        let answer = self.routes.call(request);
        Box::pin(async move { Ok(answer.await?.map(ResponseBody::Routed)) })
    }
}
