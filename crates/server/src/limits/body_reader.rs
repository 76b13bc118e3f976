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
        pending_quota::{Place, Share},
    },
    service::api_error::Fault,
};

/// A request's body, of which the first piece may have been read already. One that is whole when it is looked at costs
/// nothing here; one that has to be waited for has [`BODY_TIMEOUT`] and a place among those that stand open.
pub(crate) struct Arriving<B = Incoming> {
    /// What the door calls it.
    what: &'static str,
    first: Option<Bytes>,
    rest: B,
    /// What of it is held in memory: all that came, unless [`Arriving::keep`] says less.
    held: usize,
    share: Arc<Share>,
    wait: Option<Wait>,
}

struct Wait {
    until: Pin<Box<Sleep>>,
    place: Place,
}

impl<B> Arriving<B>
where
    B: Body<Data = Bytes, Error: Display> + Unpin,
{
    pub(crate) fn new(what: &'static str, (first, rest): (Option<Bytes>, B), share: Arc<Share>) -> Self {
        Self { what, first, rest, held: 0, share, wait: None }
    }

    /// Its next piece.
    pub(crate) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Fault>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(self.counted(first)));
        }
        loop {
            let frame = match Pin::new(&mut self.rest).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(Some(Err(error))) => {
                    let bound = format!("a whole {} is expected", self.what);
                    return Poll::Ready(Some(Err(Fault::field(self.what, &error.to_string(), bound))));
                }
                Poll::Ready(None) => {
                    self.wait = None;
                    return Poll::Ready(None);
                }
                Poll::Pending => return self.poll_late(cx).map(|fault| Some(Err(fault))),
            };
            // Trailers say nothing that a door asks for.
            if let Ok(piece) = frame.into_data() {
                return Poll::Ready(Some(self.counted(piece)));
            }
        }
    }

    /// All of it, if it has no more bytes than that.
    pub(crate) async fn whole(mut self, most: usize) -> Result<Bytes, Fault> {
        let mut whole = BytesMut::new();
        while let Some(piece) = poll_fn(|cx| self.poll_piece(cx)).await {
            whole.extend_from_slice(&piece?);
            if whole.len() > most {
                return Err(self.too_large(&format!("over {most} bytes"), most));
            }
        }
        Ok(whole.freeze())
    }

    /// The fault of a body that is larger than it may be.
    pub(crate) fn too_large(&self, found: &str, most: usize) -> Fault {
        let fault = Fault::field(self.what, found, format!("at most {most} bytes are allowed"));
        fault.with_status(StatusCode::PAYLOAD_TOO_LARGE)
    }

    fn counted(&mut self, piece: Bytes) -> Result<Bytes, Fault> {
        self.held += piece.len();
        if let Some(wait) = &mut self.wait {
            wait.place.hold(self.held)?;
        }
        Ok(piece)
    }

    /// So much of what came is still held; the rest has been used.
    pub(crate) fn keep(&mut self, held: usize) {
        self.held = self.held.min(held);
        if let Some(wait) = &mut self.wait {
            wait.place.keep(self.held);
        }
    }

    /// Nothing is there: it has its time, counted from the first such look.
    fn poll_late(&mut self, cx: &mut Context<'_>) -> Poll<Fault> {
        let wait = match &mut self.wait {
            Some(wait) => wait,
            none => {
                let begun = self.share.take().and_then(|mut place| place.hold(self.held).map(|()| place));
                match begun {
                    Ok(place) => none.insert(Wait { until: Box::pin(sleep(BODY_TIMEOUT)), place }),
                    Err(fault) => return Poll::Ready(fault),
                }
            }
        };
        wait.until.as_mut().poll(cx).map(|()| {
            let text = format!("the {} did not arrive within {BODY_TIMEOUT:?}", self.what);
            Fault::new(Reason::DeadlineExceeded, text).with_status(StatusCode::REQUEST_TIMEOUT)
        })
    }
}
