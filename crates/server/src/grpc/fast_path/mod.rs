//! The short way of `Next`: one number, ready, of a request that is whole at its first poll.

pub(crate) mod next_codec;

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Response, header, request::Parts};
use http_body::Body as _;
use hyper::body::Incoming;
use tonic::{body::Body, metadata::GRPC_CONTENT_TYPE};

use crate::{
    grpc::{GrpcService, body::ResponseBody, timeout},
    service::request_id,
};

/// An answer on its way.
pub(crate) type BoxedResponse =
    Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Infallible>> + Send>>;

/// An answer on its way: without a box where it can be had at the first poll.
#[allow(clippy::large_enum_variant, reason = "boxing the call is what this saves: one is alive a stream")]
pub(crate) enum ResponseFuture {
    /// A call of `Next` that nobody has looked at yet.
    Next(Option<NextCall>),
    /// The ordinary way.
    Boxed(BoxedResponse),
}

/// A call of `Next` as it came.
pub(crate) struct NextCall {
    pub(crate) service: GrpcService,
    pub(crate) parts: Parts,
    pub(crate) body: Incoming,
}

impl NextCall {
    /// The answer, if the request is whole, asks for one number and nothing else, and a number is ready. Otherwise the
    /// ordinary way, with what was read of it.
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
        let Self { service, parts, body } = self;
        Err(service.call_sequences(parts, (first, body)))
    }

    fn ready(&self, bytes: &Bytes) -> Option<Response<ResponseBody>> {
        let name = next_codec::parse_single(bytes)?;
        // Whoever waits a while gets what is ready; whoever says so wrongly is told on the ordinary way.
        if !timeout::is_well_formed(&self.parts.headers) {
            return None;
        }
        let ready = self.service.next_ready(name)?;
        let mut response = Response::new(ResponseBody::Ready(Some(next_codec::encode(name, ready))));
        response.headers_mut().insert(header::CONTENT_TYPE, GRPC_CONTENT_TYPE);
        request_id::echo(request_id::from_headers(&self.parts.headers), response.headers_mut());
        Some(response)
    }
}

impl ResponseFuture {
    /// An answer that is known already.
    pub(crate) fn ready(response: Response<Body>) -> Self {
        Self::Boxed(Box::pin(std::future::ready(Ok(response.map(ResponseBody::Tonic)))))
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
            // Polled again after its answer, which nobody does.
            Self::Next(_) => Poll::Pending,
        }
    }
}
