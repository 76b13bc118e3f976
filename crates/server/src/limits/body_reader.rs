//! Reader of request bodies, within the limits on size and time.

use std::{
    fmt::Display,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use http_body::Body;
use hyper::body::Incoming;
use sequent_engine::Reason;
use tokio::time::{Sleep, sleep};

use crate::{
    error::ApiError,
    limits::{
        BODY_TIMEOUT, HEADER_LINE_BYTES,
        pending_quota::{ConnectionShare, PendingPermit},
    },
};

/// Request body whose first chunk may have been read already. A body that is complete at its first poll costs nothing
/// here. Any other has [`BODY_TIMEOUT`] to arrive, and needs a permit of the pending quota.
pub(crate) struct BodyReader<B = Incoming> {
    /// Name of the body in errors.
    what: &'static str,
    first: Option<Bytes>,
    rest: B,
    /// Bytes held in memory: everything that was received, unless [`BodyReader::retain`] lowered it.
    held: usize,
    /// Bytes of the headers, which are held as long.
    head: usize,
    share: Arc<ConnectionShare>,
    wait: Option<PendingRead>,
}

struct PendingRead {
    until: Pin<Box<Sleep>>,
    permit: PendingPermit,
}

impl<B> BodyReader<B>
where
    B: Body<Data = Bytes, Error: Display> + Unpin,
{
    pub(crate) fn new(
        what: &'static str,
        (first, rest): (Option<Bytes>, B),
        share: Arc<ConnectionShare>,
    ) -> Self {
        Self { what, first, rest, held: 0, head: 0, share, wait: None }
    }

    /// The same for a request whose headers are held while its body arrives.
    pub(crate) fn with_head(self, headers: &HeaderMap) -> Self {
        let text = |(name, value): (&http::HeaderName, &http::HeaderValue)| name.as_str().len() + value.len();
        let head = headers.capacity() * HEADER_LINE_BYTES + headers.iter().map(text).sum::<usize>();
        Self { head, ..self }
    }

    /// Polls the next chunk.
    pub(crate) fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, ApiError>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(self.count_chunk(first)));
        }
        loop {
            let frame = match Pin::new(&mut self.rest).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(Some(Err(error))) => {
                    let bound = format!("a whole {} is expected", self.what);
                    return Poll::Ready(Some(Err(ApiError::field(self.what, &error.to_string(), bound))));
                }
                Poll::Ready(None) => {
                    self.wait = None;
                    return Poll::Ready(None);
                }
                Poll::Pending => return self.poll_timeout(cx).map(|error| Some(Err(error))),
            };
            // Trailers carry nothing that a handler reads.
            if let Ok(chunk) = frame.into_data() {
                return Poll::Ready(Some(self.count_chunk(chunk)));
            }
        }
    }

    /// Reads the whole body, at most `most` bytes. A body that announces more is refused unread.
    pub(crate) async fn read_all(mut self, most: usize) -> Result<Bytes, ApiError> {
        let announced = self.rest.size_hint().lower();
        if announced > most as u64 {
            return Err(self.too_large(&format!("{announced} bytes"), most));
        }
        let mut whole = BytesMut::new();
        while let Some(chunk) = poll_fn(|cx| self.poll_chunk(cx)).await {
            whole.extend_from_slice(&chunk?);
            if whole.len() > most {
                return Err(self.too_large(&format!("over {most} bytes"), most));
            }
        }
        Ok(whole.freeze())
    }

    /// Error of a body that is too large.
    fn too_large(&self, found: &str, most: usize) -> ApiError {
        let error = ApiError::field(self.what, found, format!("at most {most} bytes are allowed"));
        error.with_status(StatusCode::PAYLOAD_TOO_LARGE)
    }

    fn count_chunk(&mut self, chunk: Bytes) -> Result<Bytes, ApiError> {
        self.held += chunk.len();
        if let Some(wait) = &mut self.wait {
            wait.permit.reserve(self.head + self.held)?;
        }
        Ok(chunk)
    }

    /// Lowers the number of bytes held, after the rest was consumed.
    pub(crate) fn retain(&mut self, held: usize) {
        self.held = self.held.min(held);
        if let Some(wait) = &mut self.wait {
            wait.permit.shrink_to(self.head + self.held);
        }
    }

    /// Polls the time limit. It starts with the first poll that finds nothing.
    fn poll_timeout(&mut self, cx: &mut Context<'_>) -> Poll<ApiError> {
        let wait = match &mut self.wait {
            Some(wait) => wait,
            none => {
                let size = self.head + self.held;
                let pending =
                    self.share.acquire().and_then(|mut permit| permit.reserve(size).map(|()| permit));
                match pending {
                    Ok(permit) => none.insert(PendingRead { until: Box::pin(sleep(BODY_TIMEOUT)), permit }),
                    Err(error) => return Poll::Ready(error),
                }
            }
        };
        wait.until.as_mut().poll(cx).map(|()| {
            let text = format!("the {} did not arrive within {BODY_TIMEOUT:?}", self.what);
            ApiError::new(Reason::DeadlineExceeded, text).with_status(StatusCode::REQUEST_TIMEOUT)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{BODIES_OF_ADDRESS_MAX, HEADER_LINES_MAX, pending_quota::PendingQuota};
    use http::{HeaderName, HeaderValue};
    use http_body::Frame;
    use std::{convert::Infallible, task::Waker};

    /// A body that never comes.
    struct Silent;

    impl Body for Silent {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Pending
        }
    }

    #[tokio::test]
    async fn headers_that_wait_for_a_body_take_room() {
        let share = PendingQuota::default().connection_share(std::net::Ipv4Addr::LOCALHOST.into());
        let named = |at: usize| HeaderName::try_from(format!("h{at}")).unwrap();
        let headers: HeaderMap =
            (0..HEADER_LINES_MAX).map(|at| (named(at), HeaderValue::from_static(""))).collect();
        let mut waiting = Vec::new();
        let refused = loop {
            let reader = BodyReader::new("message", (None, Silent), Arc::clone(&share)).with_head(&headers);
            waiting.push(reader);
            let mut cx = Context::from_waker(Waker::noop());
            if let Poll::Ready(answer) = waiting.last_mut().unwrap().poll_chunk(&mut cx) {
                break answer.unwrap().unwrap_err();
            }
        };
        assert_eq!(refused.reason(), Reason::QuotaExceeded);
        let room = HEADER_LINES_MAX * HEADER_LINE_BYTES * waiting.len();
        assert!(room < 2 * BODIES_OF_ADDRESS_MAX, "{} requests wait", waiting.len());
    }
}
