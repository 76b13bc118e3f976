//! Answers that a peer does not take. A socket that is written to without trouble says nothing of them: HTTP/2 lets a
//! peer grant a stream no room, and keep the answer waiting in this server's memory while it answers every ping.

use std::{
    convert::Infallible,
    io::IoSlice,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Buf;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use hyper::{body::Incoming, service::Service};
use tokio::time::sleep;

use crate::bounds::{UNREAD_TURN, UNREAD_TURNS};

/// A counter for the turn that runs, one for each that an answer may last, one for the turn that is looked at.
const COUNTERS: usize = UNREAD_TURNS + 2;

/// The answers of one connection that its peer has not taken, by the turn in which they were made: no list, no lock, no
/// instant an answer. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unread(Arc<Turns>);

#[derive(Debug, Default)]
struct Turns {
    now: AtomicUsize,
    made: [AtomicUsize; COUNTERS],
}

impl Unread {
    /// Ends when the peer has left an answer for [`UNREAD_TURNS`] whole turns.
    pub(crate) async fn overdue(self) {
        loop {
            sleep(UNREAD_TURN).await;
            let now = self.0.now.load(Ordering::Relaxed);
            // The turn of which none may be left, as (now - UNREAD_TURNS) modulo the counters.
            let old = &self.0.made[(now + COUNTERS - UNREAD_TURNS) % COUNTERS];
            if old.load(Ordering::Relaxed) > 0 {
                return;
            }
            self.0.now.store((now + 1) % COUNTERS, Ordering::Relaxed);
        }
    }

    fn hold<D>(&self, data: D) -> Held<D> {
        let turn = self.0.now.load(Ordering::Relaxed);
        self.0.made[turn].fetch_add(1, Ordering::Relaxed);
        Held { data, turn, of: self.clone() }
    }
}

/// A piece of an answer: whoever writes it drops it once it is written.
pub(crate) struct Held<D> {
    data: D,
    turn: usize,
    of: Unread,
}

impl<D> Drop for Held<D> {
    fn drop(&mut self) {
        self.of.0.made[self.turn].fetch_sub(1, Ordering::Relaxed);
    }
}

impl<D: Buf> Buf for Held<D> {
    fn remaining(&self) -> usize {
        self.data.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.data.chunk()
    }

    fn chunks_vectored<'a>(&'a self, into: &mut [IoSlice<'a>]) -> usize {
        self.data.chunks_vectored(into)
    }

    fn advance(&mut self, count: usize) {
        self.data.advance(count);
    }
}

/// An answer's body whose pieces are counted; with it, a service whose answers are, and such an answer on its way.
pub(crate) struct Counted<T> {
    inner: T,
    unread: Unread,
}

impl<T> Counted<T> {
    pub(crate) fn new(inner: T, unread: Unread) -> Self {
        Self { inner, unread }
    }
}

impl<S, B> Service<Request<Incoming>> for Counted<S>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S::Future: Unpin,
{
    type Response = Response<Counted<B>>;
    type Error = Infallible;
    type Future = Counted<S::Future>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        Counted::new(self.inner.call(request), self.unread.clone())
    }
}

impl<F, B> Future for Counted<F>
where
    F: Future<Output = Result<Response<B>, Infallible>> + Unpin,
{
    type Output = Result<Response<Counted<B>>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = Pin::new(&mut self.inner).poll(cx);
        answer.map_ok(|response| response.map(|body| Counted::new(body, self.unread.clone())))
    }
}

impl<B: Body + Unpin> Body for Counted<B> {
    type Data = Held<B::Data>;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, B::Error>>> {
        let frame = Pin::new(&mut self.inner).poll_frame(cx);
        frame.map_ok(|frame| frame.map_data(|data| self.unread.hold(data)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use tokio::time::Instant;

    #[allow(clippy::cast_possible_truncation, reason = "a few")]
    const TURNS: u32 = UNREAD_TURNS as u32;

    #[tokio::test(start_paused = true)]
    #[allow(clippy::disallowed_methods, reason = "paused time, in a test")]
    async fn an_answer_that_is_left_is_overdue_and_others_are_not() {
        let unread = Unread::default();
        let watch = tokio::spawn(unread.clone().overdue());
        // Many that are taken late, but in time.
        for _ in 0..50 {
            let held = unread.hold(Bytes::from_static(b"1"));
            sleep(UNREAD_TURN).await;
            drop(held);
        }
        // So that the turn is not about to end.
        sleep(UNREAD_TURN / 10).await;
        assert!(!watch.is_finished());
        let (left, began) = (unread.hold(Bytes::from_static(b"2")), Instant::now());
        watch.await.unwrap();
        let (least, most) = (UNREAD_TURN * TURNS, UNREAD_TURN * (TURNS + 1) + UNREAD_TURN / 10);
        let lasted = began.elapsed();
        assert!((least..most).contains(&lasted), "{lasted:?}");
        drop(left);
        assert!(unread.0.made.iter().all(|made| made.load(Ordering::Relaxed) == 0));
    }
}
