//! What comes in and goes out by gRPC: bodies that are on their way, and bodies that are ready.

use std::{
    fmt::Display,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use tonic::{Status, body::Body};

use crate::{grpc::message_framing::Message, limits::body_reader::Arriving, service::api_error::Fault};

/// A request's body for a service beside the numbers, in bounded time and room. A conversation may be longer than what
/// of it is ever held: each message is used as soon as it is whole.
pub(crate) struct Begun<B = Incoming> {
    body: Arriving<B>,
    message: Message,
}

impl<B> Begun<B> {
    pub(crate) fn new(body: Arriving<B>) -> Self {
        Self { body, message: Message::default() }
    }
}

impl<B> http_body::Body for Begun<B>
where
    B: http_body::Body<Data = Bytes, Error: Display> + Unpin,
{
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let piece = ready!(self.body.poll_piece(cx));
        if let Some(Ok(piece)) = &piece {
            let held = self.message.after(piece);
            self.body.keep(held);
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data).map_err(Fault::into_status)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{BODIES_MAX, BODY_FREE, pending_quota::Standing};
    use http_body_util::BodyExt;
    use std::convert::Infallible;

    /// Large messages, each in two pieces, and a wait before the first.
    struct Talk {
        waited: bool,
        pieces: usize,
    }

    const HALF: usize = 8192;

    impl http_body::Body for Talk {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            static PIECE: [u8; HALF] = [0; HALF];
            if !std::mem::replace(&mut self.waited, true) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            self.pieces += 1;
            let rest = u32::try_from(2 * HALF - 5).unwrap().to_be_bytes();
            let piece = match self.pieces % 2 {
                1 => [&[0], &rest[..], &PIECE[5..]].concat().into(),
                _ => Bytes::from_static(&PIECE),
            };
            Poll::Ready(Some(Ok(Frame::data(piece))))
        }
    }

    #[tokio::test]
    async fn a_long_conversation_takes_no_room_from_others() {
        let standing = Standing::default();
        let share = standing.share();
        let talk = Talk { waited: false, pieces: 0 };
        let mut talker = Begun::new(Arriving::new("message", (None, talk), standing.share()));
        for said in 1..=4 * BODIES_MAX / HALF {
            talker.frame().await.unwrap().unwrap();
            // What is left is room for all but the message that is not whole.
            let open = HALF * (said % 2);
            share.take().unwrap().hold(BODY_FREE + BODIES_MAX - open).unwrap();
        }
    }
}
