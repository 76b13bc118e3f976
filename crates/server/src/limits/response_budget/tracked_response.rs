//! Responses that count as unread until their peer has taken them.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use http::Response;
use http_body::{Body, Frame, SizeHint};

use crate::limits::response_budget::unread::{ConnectionUnread, TrackedChunk};

/// Wrapper that counts the chunks of a response. It wraps the future of the response, and its body.
pub(crate) struct TrackUnread<T> {
    inner: T,
    unread: ConnectionUnread,
}

impl<T> TrackUnread<T> {
    pub(crate) fn new(inner: T, unread: ConnectionUnread) -> Self {
        Self { inner, unread }
    }
}

impl<F, B> Future for TrackUnread<F>
where
    F: Future<Output = Result<Response<B>, Infallible>> + Unpin,
{
    type Output = Result<Response<TrackUnread<B>>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = Pin::new(&mut self.inner).poll(cx);
        answer.map_ok(|response| response.map(|body| TrackUnread::new(body, self.unread.clone())))
    }
}

impl<B: Body + Unpin> Body for TrackUnread<B> {
    type Data = TrackedChunk<B::Data>;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, B::Error>>> {
        let frame = Pin::new(&mut self.inner).poll_frame(cx);
        frame.map_ok(|frame| frame.map_data(|data| self.unread.track(data)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
