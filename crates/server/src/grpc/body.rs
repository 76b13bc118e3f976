//! What comes in and goes out by gRPC: bodies that are on their way, and bodies that are ready.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use http_body::{Frame, SizeHint};
use tonic::{Status, body::Body};

use crate::{arriving::Arriving, fault::Fault};

/// A request's body for a service beside the numbers, in bounded time and room.
pub(crate) struct Begun(Arriving);

impl Begun {
    pub(crate) fn new(body: Arriving) -> Self {
        Self(body)
    }
}

impl http_body::Body for Begun {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        self.0.poll_piece(cx).map_ok(Frame::data).map_err(Fault::into_status)
    }
}

/// An answer's body.
pub(crate) enum Said {
    /// One message, then the end of a call that went well: nothing of it is looked up, boxed or encoded again.
    Ready(Option<Bytes>),
    /// Its trailers are on the way.
    Ended,
    /// Whatever the machinery made.
    Whole(Body),
}

impl http_body::Body for Said {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = match &mut *self {
            Self::Whole(body) => ready!(Pin::new(body).poll_frame(cx)),
            Self::Ended => None,
            Self::Ready(message) => {
                if let Some(message) = message.take() {
                    return Poll::Ready(Some(Ok(Frame::data(message))));
                }
                let mut trailers = HeaderMap::with_capacity(1);
                trailers.insert(Status::GRPC_STATUS, HeaderValue::from_static("0"));
                *self = Self::Ended;
                Some(Ok(Frame::trailers(trailers)))
            }
        };
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Ready(_) => false,
            Self::Ended => true,
            Self::Whole(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => body.size_hint(),
            Self::Ready(_) | Self::Ended => SizeHint::default(),
        }
    }
}
