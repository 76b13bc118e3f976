//! A future dropped in the middle, as a caller that goes away leaves it.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

/// Polls `future` at most `polls` times, then drops it: `None` where it was not ready by then.
///
/// Between polls it is woken as usual, so that growing `polls` visits each await in turn.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use sequent_testkit::cut_short;
/// let twice = || async { tokio::task::yield_now().await; 5 };
/// assert_eq!(cut_short(1, twice()).await, None);
/// assert_eq!(cut_short(2, twice()).await, Some(5));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub async fn cut_short<F: Future>(polls: usize, future: F) -> Option<F::Output> {
    CutShort { future: Box::pin(future), left: polls }.await
}

struct CutShort<F> {
    future: Pin<Box<F>>,
    left: usize,
}

impl<F: Future> Future for CutShort<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.left -= 1;
        match self.future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if self.left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}
