//! Responses of health and reflection: they end when the server closes, and their errors carry a reason.
//!
//! Without this, a health watch would keep its connection open for ever.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use sequent_engine::Reason;

use crate::{
    error::ApiError,
    grpc::error_details,
    limits::pending_quota::PendingPermit,
    shutdown::phase::{Phase, PhaseWatch},
};

/// Body that ends with `UNAVAILABLE` if the server closes while no frame is ready.
pub(crate) struct ClosableBody {
    body: Body,
    /// Ends when the server closes. `None` once it has ended, since it must not be polled again.
    open: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    is_finished: bool,
    /// Permit of a long call, held as long as the body.
    _permit: PendingPermit,
}

impl ClosableBody {
    pub(crate) fn new(body: Body, phases: PhaseWatch, permit: PendingPermit) -> Self {
        let open = phases.wait_until(Phase::Closing);
        Self { body, open: Some(Box::pin(open)), is_finished: false, _permit: permit }
    }
}

impl http_body::Body for ClosableBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Some(open) = &mut self.open
            && open.as_mut().poll(cx).is_ready()
        {
            self.open = None;
        }
        if self.is_finished {
            return Poll::Ready(None);
        }
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        self.is_finished = matches!(frame, Poll::Ready(None));
        if frame.is_ready() || self.open.is_some() {
            return frame.map_ok(error_details::trailers_with_details);
        }
        self.is_finished = true;
        let error = ApiError::new(Reason::Draining, "this server is stopping");
        Poll::Ready(Some(Ok(Frame::trailers(error_details::trailers(&error.into_status())))))
    }

    fn is_end_stream(&self) -> bool {
        self.is_finished || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::pending_quota::PendingQuota;
    use http::HeaderMap;
    use http_body_util::BodyExt;
    use std::collections::VecDeque;
    use tonic::Status;

    /// Ready chunks, then pending for ever or the end.
    struct Chunks(VecDeque<&'static [u8]>, Poll<()>);

    impl http_body::Body for Chunks {
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

    /// Frames of a body of three chunks after the server closes: `data`, or the status in the trailers.
    async fn frames(then: Poll<()>) -> Vec<String> {
        let (sender, phases) = PhaseWatch::new();
        let body = Body::new(Chunks([&b"1"[..], b"2", b"3"].into(), then));
        let mut body_under_test = ClosableBody::new(
            body,
            phases,
            PendingQuota::default().connection_share(std::net::Ipv4Addr::LOCALHOST.into()).acquire().unwrap(),
        );
        sender.send_replace(Phase::Closing);
        let mut seen = Vec::new();
        while let Some(frame) = body_under_test.frame().await {
            let trailers = frame.unwrap().into_trailers();
            let status = |trailers: HeaderMap| trailers["grpc-status"].to_str().unwrap().to_owned();
            seen.push(trailers.map_or("data".to_owned(), status));
        }
        assert!(http_body::Body::is_end_stream(&body_under_test));
        assert!(body_under_test.frame().await.is_none(), "asked once more");
        seen
    }

    #[tokio::test]
    async fn what_there_is_to_send_goes_out_though_the_server_closes() {
        assert_eq!(frames(Poll::Ready(())).await, ["data"; 3]);
        assert_eq!(frames(Poll::Pending).await, ["data", "data", "data", "14"]);
    }
}
