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

use crate::{
    grpc::error_details,
    limits::pending_quota::Place,
    service::api_error::Fault,
    shutdown::phase::{Phase, Phases},
};

/// A body that ends with `UNAVAILABLE` when the server closes while there is nothing to send.
pub(crate) struct Ending {
    body: Body,
    server: Server,
    /// Among what stands open, for as long as this does.
    _place: Place,
}

/// What a body knows of its server.
enum Server {
    /// It is open, until this is over.
    Open(Pin<Box<dyn Future<Output = ()> + Send>>),
    /// It closes: what was being waited for is over, and must not be waited for again.
    Closes,
    /// Nothing more is said to it: this body has ended.
    Left,
}

impl Ending {
    pub(crate) fn new(body: Body, phases: Phases, place: Place) -> Self {
        Self { body, server: Server::Open(Box::pin(phases.reach(Phase::Closing))), _place: place }
    }
}

impl http_body::Body for Ending {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if let Server::Open(closing) = &mut self.server
            && closing.as_mut().poll(cx).is_ready()
        {
            self.server = Server::Closes;
        }
        if matches!(self.server, Server::Left) {
            return Poll::Ready(None);
        }
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(frame, Poll::Ready(None)) {
            self.server = Server::Left;
        }
        if frame.is_ready() || matches!(self.server, Server::Open(_)) {
            return frame.map_ok(error_details::dressed_end);
        }
        self.server = Server::Left;
        let fault = Fault::new(Reason::Draining, "this server is stopping");
        Poll::Ready(Some(Ok(Frame::trailers(error_details::trailers(&fault.into_status())))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.server, Server::Left) || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::pending_quota::Standing;
    use http::HeaderMap;
    use http_body_util::BodyExt;
    use std::collections::VecDeque;

    /// Pieces that are there, then nothing for ever, or the end.
    struct Pieces(VecDeque<&'static [u8]>, Poll<()>);

    impl http_body::Body for Pieces {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
            match self.0.pop_front() {
                Some(piece) => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(piece))))),
                None => self.1.map(|()| None),
            }
        }
    }

    /// Which frames come of three pieces once the server closes: `data`, or the status of the trailers.
    async fn frames(then: Poll<()>) -> Vec<String> {
        let (sender, phases) = Phases::new();
        let body = Body::new(Pieces([&b"1"[..], b"2", b"3"].into(), then));
        let mut ending = Ending::new(body, phases, Standing::default().share().take().unwrap());
        sender.send_replace(Phase::Closing);
        let mut said = Vec::new();
        while let Some(frame) = ending.frame().await {
            let trailers = frame.unwrap().into_trailers();
            let status = |trailers: HeaderMap| trailers["grpc-status"].to_str().unwrap().to_owned();
            said.push(trailers.map_or("data".to_owned(), status));
        }
        assert!(http_body::Body::is_end_stream(&ending));
        assert!(ending.frame().await.is_none(), "asked once more");
        said
    }

    #[tokio::test]
    async fn what_there_is_to_send_goes_out_though_the_server_closes() {
        assert_eq!(frames(Poll::Ready(())).await, ["data"; 3]);
        assert_eq!(frames(Poll::Pending).await, ["data", "data", "data", "14"]);
    }
}
