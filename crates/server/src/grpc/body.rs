//! Request and response bodies of the gRPC server.

use std::{
    fmt::Display,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use tonic::Status;

use crate::{error::ApiError, grpc::message_framing::MessageFraming, limits::body_reader::BodyReader};

/// Request body of a health or reflection call, bounded in time and memory. A stream may be longer than the memory it
/// is granted, since each message is consumed once it is complete.
pub(crate) struct RequestBody<B = Incoming> {
    body: BodyReader<B>,
    message: MessageFraming,
}

impl<B> RequestBody<B> {
    pub(crate) fn new(body: BodyReader<B>) -> Self {
        Self { body, message: MessageFraming::default() }
    }
}

impl<B> http_body::Body for RequestBody<B>
where
    B: http_body::Body<Data = Bytes, Error: Display> + Unpin,
{
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let chunk = ready!(self.body.poll_chunk(cx));
        if let Some(Ok(chunk)) = &chunk {
            let held = self.message.push(chunk);
            self.body.retain(held);
        }
        Poll::Ready(chunk.map(|chunk| chunk.map(Frame::data).map_err(ApiError::into_status)))
    }
}

/// Response body.
pub(crate) enum ResponseBody {
    /// One encoded message, then trailers with status OK. Nothing of it is looked up, boxed or encoded again.
    Ready(Option<Bytes>),
    /// The trailers have been sent.
    Ended,
    /// A body from the router.
    Routed(Body),
}

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = match &mut *self {
            Self::Routed(body) => ready!(Pin::new(body).poll_frame(cx)),
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
            Self::Routed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Routed(body) => body.size_hint(),
            Self::Ready(_) | Self::Ended => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{BODIES_OF_ADDRESS_MAX, BODY_FREE, pending_quota::PendingQuota};
    use http_body_util::BodyExt;
    use std::convert::Infallible;

    /// Stream of large messages, each in two chunks, with one pending poll before the first.
    struct LongStream {
        waited: bool,
        chunks: usize,
    }

    const HALF: usize = 8192;

    impl http_body::Body for LongStream {
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
            self.chunks += 1;
            let rest = u32::try_from(2 * HALF - 5).unwrap().to_be_bytes();
            let chunk = match self.chunks % 2 {
                1 => [&[0], &rest[..], &PIECE[5..]].concat().into(),
                _ => Bytes::from_static(&PIECE),
            };
            Poll::Ready(Some(Ok(Frame::data(chunk))))
        }
    }

    #[tokio::test]
    async fn a_long_conversation_takes_no_room_from_others() {
        let pending = PendingQuota::default();
        let share = pending.connection_share(std::net::Ipv4Addr::LOCALHOST.into());
        let stream = LongStream { waited: false, chunks: 0 };
        let mut reader = RequestBody::new(BodyReader::new(
            "message",
            (None, stream),
            pending.connection_share(std::net::Ipv4Addr::LOCALHOST.into()),
        ));
        for chunk in 1..=4 * BODIES_OF_ADDRESS_MAX / HALF {
            reader.frame().await.unwrap().unwrap();
            // All memory except that of the incomplete message is left for others.
            let open = HALF * (chunk % 2);
            share.acquire().unwrap().reserve(BODY_FREE + BODIES_OF_ADDRESS_MAX - open).unwrap();
        }
    }
}
