//! A request's body on its way: whole within its time and its size, or refused.

use std::{
    fmt::Display,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http_body::Body;
use hyper::body::Incoming;
use sequent_engine::Reason;
use tokio::time::{Sleep, sleep};

use crate::{
    limits::{
        BODY_TIMEOUT,
        pending_quota::{ConnectionShare, PendingPermit},
    },
    service::api_error::ApiError,
};

/// A request's body, of which the first piece may have been read already. One that is whole when it is looked at costs
/// nothing here; one that has to be waited for has [`BODY_TIMEOUT`] and a place among those that stand open.
pub(crate) struct BodyReader<B = Incoming> {
    /// What the door calls it.
    what: &'static str,
    first: Option<Bytes>,
    rest: B,
    /// What of it is held in memory: all that came, unless [`BodyReader::keep`] says less.
    held: usize,
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
        Self { what, first, rest, held: 0, share, wait: None }
    }

    /// Its next piece.
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
            // Trailers say nothing that a door asks for.
            if let Ok(chunk) = frame.into_data() {
                return Poll::Ready(Some(self.count_chunk(chunk)));
            }
        }
    }

    /// All of it, if it has no more bytes than that.
    pub(crate) async fn read_all(mut self, most: usize) -> Result<Bytes, ApiError> {
        let mut whole = BytesMut::new();
        while let Some(chunk) = poll_fn(|cx| self.poll_chunk(cx)).await {
            whole.extend_from_slice(&chunk?);
            if whole.len() > most {
                return Err(self.too_large(&format!("over {most} bytes"), most));
            }
        }
        Ok(whole.freeze())
    }

    /// The fault of a body that is larger than it may be.
    pub(crate) fn too_large(&self, found: &str, most: usize) -> ApiError {
        let error = ApiError::field(self.what, found, format!("at most {most} bytes are allowed"));
        error.with_status(StatusCode::PAYLOAD_TOO_LARGE)
    }

    fn count_chunk(&mut self, chunk: Bytes) -> Result<Bytes, ApiError> {
        self.held += chunk.len();
        if let Some(wait) = &mut self.wait {
            wait.permit.reserve(self.held)?;
        }
        Ok(chunk)
    }

    /// So much of what came is still held; the rest has been used.
    pub(crate) fn retain(&mut self, held: usize) {
        self.held = self.held.min(held);
        if let Some(wait) = &mut self.wait {
            wait.permit.shrink_to(self.held);
        }
    }

    /// Nothing is there: it has its time, counted from the first such look.
    fn poll_timeout(&mut self, cx: &mut Context<'_>) -> Poll<ApiError> {
        let wait = match &mut self.wait {
            Some(wait) => wait,
            none => {
                let begun =
                    self.share.acquire().and_then(|mut permit| permit.reserve(self.held).map(|()| permit));
                match begun {
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
