//! One number, as a hand-written future: an `async fn` here halves the rate of a thread.
//!
//! Its shape is what the rate of the hot path hangs on (measured, see `benches/RESULTS.md`): every store between two
//! draws delays the next one, so a ready future writes two words and has no field to drop; and what the cold path
//! returns fits two registers, so that the hot path's result never passes through memory.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Instant,
};

use crate::{error::TakeError, gate::Miss, inner::Inner, queue::Answer, wait::Place};

/// One number: ready at the first poll unless the reservoir is dry. Nothing is taken before it is polled.
///
/// Dropped while it waits, it passes its turn on; a number already dealt to it goes to the next caller.
#[derive(Debug)]
#[must_use = "nothing is taken before it is polled"]
pub struct Next<'a> {
    inner: &'a Inner,
    state: State,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// Not polled yet, or done: how long it may wait.
    New(Option<Instant>),
    /// The reservoir was dry.
    Waiting(Place),
}

/// Two registers: a box, where the error itself would need memory.
type Outcome = Poll<Result<u64, Box<TakeError>>>;

impl<'a> Next<'a> {
    #[inline]
    pub(crate) fn new(inner: &'a Inner, deadline: Option<Instant>) -> Self {
        Self { inner, state: State::New(deadline) }
    }

    #[inline]
    pub(crate) fn inner(&self) -> &'a Inner {
        self.inner
    }

    #[inline]
    pub(crate) fn is_new(&self) -> bool {
        matches!(self.state, State::New(_))
    }

    /// The first poll found nothing.
    #[cold]
    #[inline(never)]
    fn dry(&mut self, miss: Miss, cx: &mut Context<'_>) -> Outcome {
        let State::New(deadline) = self.state else { return self.wait(cx) };
        match Place::enter(self.inner, (1, Some(miss)), deadline, cx) {
            Ok(answer) => Poll::Ready(single(answer)),
            Err(place) => {
                self.state = State::Waiting(place);
                Poll::Pending
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn wait(&mut self, cx: &mut Context<'_>) -> Outcome {
        let State::Waiting(place) = self.state else { return Poll::Pending };
        let answer = std::task::ready!(place.poll(self.inner, cx));
        self.state = State::New(None);
        Poll::Ready(single(answer))
    }

    #[cold]
    #[inline(never)]
    fn leave(&mut self) {
        if let State::Waiting(place) = self.state {
            place.leave(self.inner);
        }
    }
}

impl Future for Next<'_> {
    type Output = Result<u64, TakeError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = if self.is_new() {
            match self.inner.gate.draw() {
                Ok(number) => return Poll::Ready(Ok(number)),
                Err(miss) => self.dry(miss, cx),
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

/// An answer to one that asked for one number holds one.
fn single(answer: Answer) -> Result<u64, Box<TakeError>> {
    answer
        .and_then(|lots| lots.first().map(|lot| lot.block.first()).ok_or(TakeError::Closed))
        .map_err(Box::new)
}
