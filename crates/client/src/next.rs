//! One number, as a hand-written future: ready at the first poll unless the lease is dry.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use sequent_buffer::Dry;
use sequent_core::BoxFuture;

use crate::{
    error::{Error, PROTOCOL},
    number::Number,
    sequence::Sequence,
};

/// One number of a [`Sequence`]. Nothing is taken before it is polled; dropped while it waits, it takes nothing.
#[must_use = "nothing is taken before it is polled"]
pub struct Next<'a> {
    sequence: &'a Sequence,
    waiting: Option<BoxFuture<'a, Result<Number, Error>>>,
}

impl<'a> Next<'a> {
    #[inline]
    pub(crate) fn new(sequence: &'a Sequence) -> Self {
        Self { sequence, waiting: None }
    }

    #[cold]
    #[inline(never)]
    fn begin(&mut self, dry: Dry) {
        self.waiting = Some(Box::pin(self.sequence.wait(dry)));
    }

    /// This is a child of the process that made it: what it waits for is the parent's, and must not even be dropped here,
    /// since that takes a lock which the parent may have held.
    #[cold]
    #[inline(never)]
    fn leave(&mut self) {
        std::mem::forget(self.waiting.take());
        self.sequence = self.sequence.here();
    }

    #[cold]
    #[inline(never)]
    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<Result<Number, Error>> {
        let Some(waiting) = &mut self.waiting else { return Poll::Pending };
        let outcome = std::task::ready!(waiting.as_mut().poll(cx));
        self.waiting = None;
        Poll::Ready(outcome)
    }
}

/// No block holds such a number.
#[cold]
pub(crate) fn no_number() -> Error {
    Error::new(PROTOCOL, "a number that is none")
}

impl Future for Next<'_> {
    type Output = Result<Number, Error>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // Here and not where it was made: a fork may lie in between.
        if self.sequence.is_left() {
            self.leave();
        }
        if self.waiting.is_none() {
            match self.sequence.draw() {
                Ok(number) => return Poll::Ready(Number::of(number).ok_or_else(no_number)),
                Err(dry) => self.begin(dry),
            }
        }
        self.wait(cx)
    }
}

impl fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("sequence", self.sequence).finish_non_exhaustive()
    }
}
