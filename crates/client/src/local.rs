//! A handle for one thread.

use std::{
    fmt,
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll},
};

use sequent_buffer::Dry;
use sequent_core::BoxFuture;

use crate::{error::Error, next::no_number, number::Number, sequence::Sequence};

/// A handle of its own, for the last factor of speed: most of its numbers touch nothing that other threads touch.
///
/// It holds at most 1/64 of the lease; what is left of that is burnt when the handle is dropped.
pub struct Local {
    chunk: sequent_buffer::Local,
    sequence: Sequence,
}

impl Local {
    pub(crate) fn new(sequence: Sequence) -> Self {
        Self { chunk: sequence.reservoir().local(), sequence }
    }

    /// A number that is ready, or `None`: never waits. Finding nothing, it sends for more.
    #[inline]
    pub fn try_next(&mut self) -> Option<Number> {
        match self.draw() {
            Ok(number) => Number::of(number),
            Err(dry) => self.single(dry),
        }
    }

    /// A number, as [`Sequence::next`] gives it.
    #[inline]
    #[allow(clippy::should_implement_trait, reason = "not an iterator: it may fail, and goes on after that")]
    pub fn next(&mut self) -> LocalNext<'_> {
        LocalNext { local: self, waiting: None }
    }

    #[inline]
    fn draw(&mut self) -> Result<u64, Dry> {
        if self.sequence.is_left() {
            self.leave();
        }
        self.chunk.draw()
    }

    #[cold]
    #[inline(never)]
    fn single(&self, dry: Dry) -> Option<Number> {
        self.sequence.reservoir().settle(dry).and_then(Number::of)
    }

    /// In a forked child: what this handle holds is the parent's, and so is the place where it would be given back.
    #[cold]
    #[inline(never)]
    fn leave(&mut self) {
        let child = Self::new(self.sequence.here().clone());
        mem::forget(mem::replace(self, child));
    }
}

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").field("sequence", &self.sequence).finish_non_exhaustive()
    }
}

/// One number of a [`Local`]: ready at the first poll unless the lease is dry. Nothing is taken before it is polled.
#[must_use = "nothing is taken before it is polled"]
pub struct LocalNext<'a> {
    local: &'a mut Local,
    waiting: Option<BoxFuture<'static, Result<Number, Error>>>,
}

impl LocalNext<'_> {
    #[cold]
    #[inline(never)]
    fn begin(&mut self, dry: Dry) {
        let sequence = self.local.sequence.clone();
        self.waiting = Some(Box::pin(async move { sequence.wait(dry).await }));
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

impl Future for LocalNext<'_> {
    type Output = Result<Number, Error>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.waiting.is_some() && self.local.sequence.is_left() {
            // The parent's wait: not even to be dropped here, as in `Next`.
            std::mem::forget(self.waiting.take());
        }
        if self.waiting.is_none() {
            match self.local.draw() {
                Ok(number) => return Poll::Ready(Number::of(number).ok_or_else(no_number)),
                Err(dry) => self.begin(dry),
            }
        }
        self.wait(cx)
    }
}

impl fmt::Debug for LocalNext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalNext").field("local", self.local).finish_non_exhaustive()
    }
}
