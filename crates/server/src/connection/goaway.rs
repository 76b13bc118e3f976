//! Peers that are told to leave, while their server still serves.
//!
//! A connection that is closed as it lies idle may be closed under a request that is on its way, and its caller can't know whether
//! that was taken. So over HTTP/1 a draining server closes none: it says `connection: close` on its next answer. Over HTTP/2 it
//! sends GOAWAY, which says what was taken.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use http::{HeaderValue, Response, header};
use hyper::service::Service;

use crate::shutdown::phase::{Phase, PhaseWatch};

/// From when on the peers of a listener that closes at `closes` are told to leave: a door's while balancers are given time to notice
/// that it drains.
pub(crate) fn goaway_phase(closes: Phase) -> Phase {
    if closes == Phase::Closing { Phase::Draining } else { closes }
}

/// A service whose answers tell their HTTP/1 peer to leave, once that is so.
pub(crate) struct ConnectionClose<S> {
    service: S,
    phases: PhaseWatch,
    closes_from: Phase,
}

impl<S> ConnectionClose<S> {
    pub(crate) fn new(service: S, phases: PhaseWatch, closes_from: Phase) -> Self {
        Self { service, phases, closes_from }
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
            is_last: self.phases.has_reached(self.closes_from),
        }
    }
}

/// An answer that may be its connection's last.
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
