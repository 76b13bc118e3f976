//! Waits that survive a fork: a forked child starts its own.

use std::{
    future::poll_fn,
    mem,
    task::{Context, Poll, ready},
};

use sequent_core::BoxFuture;

use crate::{client::fork_detection::ForkGuard, error::Error, sequence::Sequence};

/// A wait, or none.
///
/// It belongs to the process that started it. A forked child must not poll it, since the response is the parent's. It
/// must not drop it either, since that takes locks which the parent may have held during the fork.
pub(crate) struct ForkSafeWait<'a, T>(Option<StartedWait<'a, T>>);

struct StartedWait<'a, T> {
    fork_guard: ForkGuard,
    work: Option<BoxFuture<'a, Result<T, Error>>>,
}

impl<T> Drop for StartedWait<'_, T> {
    fn drop(&mut self) {
        if self.fork_guard.is_forked_child() {
            mem::forget(self.work.take());
        }
    }
}

impl<'a, T> ForkSafeWait<'a, T> {
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    #[inline]
    pub(crate) fn has_started(&self) -> bool {
        self.0.is_some()
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn begin(&mut self, sequence: &Sequence, work: BoxFuture<'a, Result<T, Error>>) {
        self.0 = Some(StartedWait { fork_guard: sequence.fork_guard.clone(), work: Some(work) });
    }

    /// Discards the wait.
    #[cold]
    #[inline(never)]
    pub(crate) fn discard(&mut self) {
        self.0 = None;
    }

    /// Polls the wait, and discards it with its outcome.
    #[cold]
    #[inline(never)]
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<T, Error>> {
        let Some(work) = self.0.as_mut().and_then(|started| started.work.as_mut()) else {
            return Poll::Pending;
        };
        let outcome = ready!(work.as_mut().poll(cx));
        self.0 = None;
        Poll::Ready(outcome)
    }
}

/// A call that waits. In a forked child it starts again, with the child's handle.
pub(crate) fn fork_safe_call<'a, T: 'a>(
    mut sequence: &'a Sequence,
    begin: impl Fn(&'a Sequence) -> BoxFuture<'a, Result<T, Error>> + Send,
) -> impl Future<Output = Result<T, Error>> + Send {
    let mut waiting = ForkSafeWait::none();
    poll_fn(move |cx| {
        if sequence.is_forked_child() {
            waiting.discard();
            sequence = sequence.in_this_process();
        }
        if !waiting.has_started() {
            waiting.begin(sequence, begin(sequence));
        }
        waiting.poll(cx)
    })
}
