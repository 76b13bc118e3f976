//! Fast path of gRPC `Next`: one number that is ready, for a request that is complete at its first poll.
//!
//! The path is measured (`benches/RESULTS.md`). A call that it does not take goes to the router with what was read
//! of it.

pub(crate) mod next_codec;

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::Bytes;
use http::{Request, Response, header, request::Parts};
use http_body::Body as _;
use hyper::body::Incoming;
use tonic::metadata::GRPC_CONTENT_TYPE;

use crate::{
    grpc::{
        body::ResponseBody,
        connection::{BoxedResponse, Connection},
        timeout,
    },
    service::request_id,
};

/// Future of a response. It is boxed only if the first poll yields no number.
#[allow(clippy::large_enum_variant, reason = "boxing the call is what this saves: one is alive a stream")]
pub(crate) enum ResponseFuture {
    /// A call of `Next` that was not polled yet.
    Next(Option<NextCall>),
    /// A call in the router.
    Boxed(BoxedResponse),
}

/// A call of `Next` as hyper delivered it.
pub(crate) struct NextCall {
    pub(super) connection: Arc<Connection>,
    pub(super) parts: Parts,
    pub(super) body: Incoming,
}

impl NextCall {
    /// The response, if the request is complete, asks for one plain number, and a number is ready. Otherwise the call
    /// continues in the router with the chunk that was read.
    fn answer(mut self, cx: &mut Context<'_>) -> Result<Response<ResponseBody>, BoxedResponse> {
        let mut first = None;
        if let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut self.body).poll_frame(cx) {
            first = frame.into_data().ok();
        }
        if let Some(bytes) = first.as_ref().filter(|_| self.body.is_end_stream())
            && let Some(answer) = self.ready(bytes)
        {
            return Ok(answer);
        }
        let Self { connection, parts, body } = self;
        Err(connection.route(Request::from_parts(parts, body), first))
    }

    fn ready(&self, bytes: &Bytes) -> Option<Response<ResponseBody>> {
        let name = next_codec::parse_single(bytes)?;
        // A valid timeout does not matter here, since a number is ready. The slow path reports an invalid one.
        if !timeout::is_well_formed(&self.parts.headers) {
            return None;
        }
        let Connection { api, auth, .. } = &*self.connection;
        let take = || api.service.next_ready(name, &api.next_metrics);
        let ready = auth.ready(&self.parts.headers, name, take)?;
        let mut response = Response::new(ResponseBody::Ready(Some(next_codec::encode(name, ready))));
        response.headers_mut().insert(header::CONTENT_TYPE, GRPC_CONTENT_TYPE);
        request_id::echo(request_id::from_headers(&self.parts.headers), response.headers_mut());
        Some(response)
    }
}

impl ResponseFuture {
    /// A response that is known already.
    pub(crate) fn ready(response: Response<Body>) -> Self {
        Self::Boxed(Box::pin(std::future::ready(Ok(response.map(ResponseBody::Routed)))))
    }
}

impl Future for ResponseFuture {
    type Output = Result<Response<ResponseBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Self::Next(call) = &mut *self
            && let Some(call) = call.take()
        {
            match call.answer(cx) {
                Ok(response) => return Poll::Ready(Ok(response)),
                Err(whole) => *self = Self::Boxed(whole),
            }
        }
        match &mut *self {
            Self::Boxed(answer) => answer.as_mut().poll(cx),
            // Polled again after it was ready, which hyper does not do.
            Self::Next(_) => Poll::Pending,
        }
    }
}
