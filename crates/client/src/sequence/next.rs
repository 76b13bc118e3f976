//! Future of one number, written by hand: ready at the first poll unless the lease is used up.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use crate::{
    error::{Error, PROTOCOL},
    number::Number,
    sequence::{Sequence, fork_safe_wait::ForkSafeWait},
};

/// Future of one number of a [`Sequence`]. No number is taken before the first poll. Dropped while it waits, it takes
/// none.
#[must_use = "nothing is taken before it is polled"]
pub struct Next<'a> {
    sequence: &'a Sequence,
    waiting: ForkSafeWait<'a, Number>,
}

impl<'a> Next<'a> {
    #[inline]
    pub(crate) fn new(sequence: &'a Sequence) -> Self {
        Self { sequence, waiting: ForkSafeWait::none() }
    }

    #[cold]
    #[inline(never)]
    fn switch_to_child(&mut self) {
        self.waiting.discard();
        self.sequence = self.sequence.in_this_process();
    }
}

/// Blocks hold no such number.
#[cold]
pub(crate) fn no_number() -> Error {
    Error::new(PROTOCOL, "a number that is none")
}

impl Future for Next<'_> {
    type Output = Result<Number, Error>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // Checked at each poll, since a fork may happen after the future was made.
        if self.sequence.is_forked_child() {
            self.switch_to_child();
        }
        if !self.waiting.has_started() {
            match self.sequence.reservoir.draw() {
                Ok(number) => return Poll::Ready(Number::of(number).ok_or_else(no_number)),
                Err(empty) => {
                    let sequence = self.sequence;
                    self.waiting.begin(sequence, Box::pin(sequence.wait(empty)));
                }
            }
        }
        self.waiting.poll(cx)
    }
}

impl fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("sequence", self.sequence).finish_non_exhaustive()
    }
}
