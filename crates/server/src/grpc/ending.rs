//! The answers of the services beside the numbers: they end when the server closes, since a watcher of health would stay
//! for ever, and their errors carry a reason, as every error of this door does.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use sequent_engine::Reason;
use tonic::{Status, body::Body};

use super::dress;
use crate::{
    fault::Fault,
    phase::{Phase, Phases},
    standing::Place,
};

/// A body that ends with `UNAVAILABLE` when the server closes while there is nothing to send.
pub(crate) struct Ending {
    body: Body,
    closing: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// Among what stands open, for as long as this does.
    _place: Place,
}

impl Ending {
    pub(crate) fn new(body: Body, phases: Phases, place: Place) -> Self {
        Self { body, closing: Some(Box::pin(phases.reach(Phase::Closing))), _place: place }
    }
}

impl http_body::Body for Ending {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Some(closing) = self.closing.as_mut() else { return Poll::Ready(None) };
        let closing = closing.as_mut().poll(cx);
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if frame.is_ready() || closing.is_pending() {
            return frame.map_ok(dress::dressed_end);
        }
        self.closing = None;
        let fault = Fault::new(Reason::Draining, "this server is stopping");
        Poll::Ready(Some(Ok(Frame::trailers(dress::trailers(&fault.into_status())))))
    }

    fn is_end_stream(&self) -> bool {
        self.closing.is_none() || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
