//! Handle of one thread.

use std::{
    fmt,
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll},
};

use sequent_buffer::Empty;

use crate::{
    error::Error,
    number::Number,
    sequence::{Sequence, fork_safe_wait::ForkSafeWait, next::no_number},
};

/// Handle of one thread, for the highest speed: most of its numbers need no shared memory.
///
/// It holds at most 1/64 of the lease. What is left of that is burnt when the handle is dropped.
pub struct Local {
    chunk: sequent_buffer::LocalHandle,
    sequence: Sequence,
}

impl Local {
    pub(crate) fn new(sequence: Sequence) -> Self {
        Self { chunk: sequence.reservoir.local(), sequence }
    }

    /// A number that is ready, or `None`. It never waits. Without a number, it starts a refill.
    #[inline]
    pub fn try_next(&mut self) -> Option<Number> {
        if self.sequence.is_forked_child() {
            self.sequence.in_this_process_if_started()?;
            self.switch_to_child();
        }
        match self.chunk.draw() {
            Ok(number) => Number::of(number),
            Err(empty) => self.single(empty),
        }
    }

    /// The next number, like [`Sequence::next`].
    #[inline]
    #[allow(clippy::should_implement_trait, reason = "not an iterator: it may fail, and goes on after that")]
    pub fn next(&mut self) -> LocalNext<'_> {
        LocalNext { local: self, waiting: ForkSafeWait::none() }
    }

    #[cold]
    #[inline(never)]
    fn single(&self, empty: Empty) -> Option<Number> {
        self.sequence.reservoir.resolve(empty).and_then(Number::of)
    }

    /// Replaces this handle by the child's own.
    #[cold]
    #[inline(never)]
    fn switch_to_child(&mut self) {
        *self = Self::new(self.sequence.in_this_process().clone());
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        if self.sequence.is_forked_child() {
            // The numbers belong to the parent, and so does the reservoir that would get them back.
            mem::forget(mem::replace(&mut self.chunk, self.sequence.reservoir.local()));
        }
    }
}

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").field("sequence", &self.sequence).finish_non_exhaustive()
    }
}

/// Future of one number of a [`Local`]. It is ready at the first poll unless the lease is used up. No number is taken
/// before the first poll.
#[must_use = "nothing is taken before it is polled"]
pub struct LocalNext<'a> {
    local: &'a mut Local,
    waiting: ForkSafeWait<'static, Number>,
}

impl Future for LocalNext<'_> {
    type Output = Result<Number, Error>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if this.local.sequence.is_forked_child() {
            this.switch_to_child();
        }
        if !this.waiting.has_started() {
            match this.local.chunk.draw() {
                Ok(number) => return Poll::Ready(Number::of(number).ok_or_else(no_number)),
                Err(empty) => {
                    let sequence = this.local.sequence.clone();
                    let wait = Box::pin(async move { sequence.wait(empty).await });
                    this.waiting.begin(&this.local.sequence, wait);
                }
            }
        }
        this.waiting.poll(cx)
    }
}

impl LocalNext<'_> {
    #[cold]
    #[inline(never)]
    fn switch_to_child(&mut self) {
        self.waiting.discard();
        self.local.switch_to_child();
    }
}

impl fmt::Debug for LocalNext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalNext").field("local", self.local).finish_non_exhaustive()
    }
}
