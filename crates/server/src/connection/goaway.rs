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

use crate::shutdown::phase::Phase;

/// The phase from which the peers of a listener are asked to leave. A listener that closes in `Closing` starts in
/// `Draining`, while load balancers notice the drain.
pub(crate) fn goaway_phase(closes: Phase) -> Phase {
    if closes == Phase::Closing { Phase::Draining } else { closes }
}

/// Future of an HTTP/1 response. The last one of its connection has `connection: close`.
pub(crate) struct ConnectionClose<F> {
    pub(crate) answer: F,
    pub(crate) is_last: bool,
}

impl<B, F> Future for ConnectionClose<F>
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
