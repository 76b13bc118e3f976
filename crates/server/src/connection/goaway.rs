//! How a server asks its peers to reconnect elsewhere, as it drains or as a connection reaches its maximal age: `connection: close`
//! over HTTP/1, GOAWAY over HTTP/2.
//!
//! An idle HTTP/1 connection is not closed for that. A request may be on its way, and its caller could not know whether
//! it was processed. The next response carries `connection: close` instead. GOAWAY needs no such care,
//! since it names the last stream that was processed.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use http::{HeaderValue, Response, header};
use hyper::service::Service;
use tokio::time::Instant;

use crate::{
    connection::graceful_close::now,
    shutdown::phase::{Phase, PhaseWatch},
};

/// The phase from which the peers of a listener are asked to leave. A listener that closes in `Closing` starts in
/// `Draining`, while load balancers notice the drain.
pub(crate) fn goaway_phase(closes: Phase) -> Phase {
    if closes == Phase::Closing { Phase::Draining } else { closes }
}

/// Service that adds `connection: close` to HTTP/1 responses from a given phase or time on.
pub(crate) struct ConnectionClose<S> {
    service: S,
    phases: PhaseWatch,
    closes_from: Phase,
    closes_at: Instant,
}

impl<S> ConnectionClose<S> {
    pub(crate) fn new(service: S, phases: PhaseWatch, (closes_from, closes_at): (Phase, Instant)) -> Self {
        Self { service, phases, closes_from, closes_at }
    }
}

impl<R, B, S> Service<R> for ConnectionClose<S>
where
    S: Service<R, Response = Response<B>, Error = Infallible>,
    S::Future: Unpin,
{
    type Response = Response<B>;
    type Error = Infallible;
    type Future = ConnectionCloseFuture<S::Future>;

    fn call(&self, request: R) -> Self::Future {
        ConnectionCloseFuture {
            answer: self.service.call(request),
            is_last: self.phases.has_reached(self.closes_from) || now() >= self.closes_at,
        }
    }
}

/// Future of a response that may be the last one of its connection.
pub(crate) struct ConnectionCloseFuture<F> {
    answer: F,
    is_last: bool,
}

impl<B, F> Future for ConnectionCloseFuture<F>
where
    F: Future<Output = Result<Response<B>, Infallible>> + Unpin,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = Pin::new(&mut self.answer).poll(cx);
        let is_last = self.is_last;
        answer.map(|Ok(mut answer)| {
            if is_last {
                answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Ok(answer)
        })
    }
}
