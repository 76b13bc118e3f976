//! The future of one number. It is written by hand: an `async fn` here halves the rate of a thread.
//!
//! Its shape decides the rate of the fast path (measured, see `benches/RESULTS.md`), since every store between two
//! draws delays the next one. A ready future writes two words and has no field to drop. The slow path returns a value
//! that fits two registers, so that the result of the fast path never passes through memory.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Instant,
};

use super::take::WaiterId;
use crate::{
    error::TakeError, fast_path::ticket_counter::MissedDraw, locked::waiters::Answer, shared::Shared,
};

/// One number, ready at the first poll unless the reservoir is empty. Nothing is taken before the first poll.
///
/// A future that is dropped while it waits leaves the queue. A number already assigned to it goes to the next caller.
#[derive(Debug)]
#[must_use = "nothing is taken before it is polled"]
pub struct Next<'a> {
    shared: &'a Shared,
    state: State,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// Not polled yet, or done; with the deadline.
    New(Option<Instant>),
    /// The reservoir was empty.
    Waiting(WaiterId),
}

/// Two registers: the error is boxed, since the error itself would be returned through memory.
type Outcome = Poll<Result<u64, Box<TakeError>>>;

impl<'a> Next<'a> {
    #[inline]
    pub(crate) fn new(shared: &'a Shared, deadline: Option<Instant>) -> Self {
        Self { shared, state: State::New(deadline) }
    }

    #[inline]
    pub(crate) fn shared(&self) -> &'a Shared {
        self.shared
    }

    #[inline]
    pub(crate) fn is_new(&self) -> bool {
        matches!(self.state, State::New(_))
    }

    /// The first poll found nothing.
    #[cold]
    #[inline(never)]
    fn enqueue(&mut self, miss: MissedDraw, cx: &mut Context<'_>) -> Outcome {
        let State::New(deadline) = self.state else { return self.wait(cx) };
        match WaiterId::enqueue(self.shared, (1, Some(miss)), deadline, cx) {
            Ok(answer) => Poll::Ready(single(answer)),
            Err(waiting) => {
                self.state = State::Waiting(waiting);
                Poll::Pending
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn wait(&mut self, cx: &mut Context<'_>) -> Outcome {
        let State::Waiting(waiting) = self.state else { return Poll::Pending };
        let answer = std::task::ready!(waiting.poll(self.shared, cx));
        self.state = State::New(None);
        Poll::Ready(single(answer))
    }

    #[cold]
    #[inline(never)]
    fn leave(&mut self) {
        if let State::Waiting(waiting) = self.state {
            waiting.leave(self.shared);
        }
    }
}

impl Future for Next<'_> {
    type Output = Result<u64, TakeError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = if self.is_new() {
            match self.shared.tickets.draw() {
                Ok(number) => return Poll::Ready(Ok(number)),
                Err(miss) => self.enqueue(miss, cx),
            }
        } else {
            self.wait(cx)
        };
        outcome.map_err(|error| *error)
    }
}

impl Drop for Next<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.is_new() {
            self.leave();
        }
    }
}

/// The number of an answer to a request for one.
fn single(answer: Answer) -> Result<u64, Box<TakeError>> {
    answer
        .and_then(|blocks| blocks.first().map(|block| block.numbers.first()).ok_or(TakeError::Closed))
        .map_err(Box::new)
}
