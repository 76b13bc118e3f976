//! A body that ends when the server closes: a watcher of health would stay for ever.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use http_body::{Frame, SizeHint};
use tonic::{Code, Status, body::Body};

use crate::phase::{Phase, Phases};

/// A body that ends with `UNAVAILABLE` when the server closes while there is nothing to send.
pub(crate) struct Ending {
    body: Body,
    closing: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Ending {
    pub(crate) fn new(body: Body, phases: Phases) -> Self {
        Self { body, closing: Some(Box::pin(phases.reach(Phase::Closing))) }
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
            return frame;
        }
        self.closing = None;
        let mut trailers = HeaderMap::new();
        trailers.insert(Status::GRPC_STATUS, HeaderValue::from(Code::Unavailable as i32));
        trailers.insert(Status::GRPC_MESSAGE, HeaderValue::from_static("this server is stopping"));
        Poll::Ready(Some(Ok(Frame::trailers(trailers))))
    }

    fn is_end_stream(&self) -> bool {
        self.closing.is_none() || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
