//! One number, as a hand-written future: an `async fn` here halves the rate of a thread.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Instant,
};

use crate::{error::TakeError, gate::Miss, inner::Inner, queue::Answer, wait::Wait};

/// One number: ready at the first poll unless the reservoir is dry. Nothing is taken before it is polled.
///
/// Dropped while it waits, it passes its turn on; a number already dealt to it goes to the next caller.
#[derive(Debug)]
#[must_use = "nothing is taken before it is polled"]
pub struct Next<'a> {
    inner: &'a Inner,
    deadline: Option<Instant>,
    wait: Option<Box<Wait<'a>>>,
}

impl<'a> Next<'a> {
    #[inline]
    pub(crate) fn inner(&self) -> &'a Inner {
        self.inner
    }

    #[inline]
    pub(crate) fn waits(&self) -> bool {
        self.wait.is_some()
    }

    #[inline]
    pub(crate) fn new(inner: &'a Inner, deadline: Option<Instant>) -> Self {
        Self { inner, deadline, wait: None }
    }

    #[cold]
    fn dry(&mut self, miss: Miss, cx: &mut Context<'_>) -> Poll<Result<u64, TakeError>> {
        match Wait::begin(self.inner, 1, Some(miss), self.deadline, cx) {
            Ok(answer) => Poll::Ready(single(answer)),
            Err(wait) => {
                self.wait = Some(Box::new(wait));
                Poll::Pending
            }
        }
    }

    #[cold]
    fn waiting(&mut self, cx: &mut Context<'_>) -> Poll<Result<u64, TakeError>> {
        let Some(wait) = &mut self.wait else { return Poll::Pending };
        let answer = std::task::ready!(wait.poll(cx));
        self.wait = None;
        Poll::Ready(single(answer))
    }
}

impl Future for Next<'_> {
    type Output = Result<u64, TakeError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.wait.is_some() {
            return self.waiting(cx);
        }
        match self.inner.gate.draw() {
            Ok(number) => Poll::Ready(Ok(number)),
            Err(miss) => self.dry(miss, cx),
        }
    }
}

/// The number of an answer to one that asked for one.
pub(crate) fn single(answer: Answer) -> Result<u64, TakeError> {
    answer.and_then(|lots| lots.first().map(|lot| lot.block.first()).ok_or(TakeError::Closed))
}
