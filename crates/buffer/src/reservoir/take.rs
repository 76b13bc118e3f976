//! The future of `count` numbers, and a caller's entry in the queue of waiters.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Instant,
};

use tokio::time::sleep_until;

use crate::{
    fast_path::ticket_counter::MissedDraw,
    locked::{
        Locked,
        serve::{TakeReply, TakeRequest},
        waiters::{Answer, Timer, WaiterPoll},
    },
    shared::Shared,
};

/// A waiting caller, by its id in the queue. An id needs no drop, so a future that never waits has nothing to drop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaiterId(u64);

impl WaiterId {
    /// The answer, if it is there at once; otherwise the caller is queued.
    pub(crate) fn enqueue(
        shared: &Shared,
        (want, miss): (u64, Option<MissedDraw>),
        deadline: Option<Instant>,
        cx: &mut Context<'_>,
    ) -> Result<Answer, Self> {
        let timer = |deadline: Instant| Box::pin(sleep_until(deadline.into()));
        let request = TakeRequest { want, miss, waker: Some(cx.waker()) };
        let waiting = match Locked::lock(shared).serve(request) {
            TakeReply::Done(answer) => return Ok(answer),
            TakeReply::Waiting(id) => Self(id),
        };
        match waiting.wait(shared, deadline.map(timer), cx) {
            Poll::Ready(answer) => Ok(answer),
            Poll::Pending => Err(waiting),
        }
    }

    pub(crate) fn poll(self, shared: &Shared, cx: &mut Context<'_>) -> Poll<Answer> {
        match Locked::lock(shared).poll_waiter(self.0, cx.waker()) {
            WaiterPoll::Answered(answer) => Poll::Ready(answer),
            WaiterPoll::Waiting(timer) => self.wait(shared, timer, cx),
        }
    }

    /// Leaves the queue. An answer that was not fetched goes to the next caller.
    pub(crate) fn leave(self, shared: &Shared) {
        Locked::lock(shared).remove_waiter(self.0);
    }

    fn wait(self, shared: &Shared, timer: Option<Timer>, cx: &mut Context<'_>) -> Poll<Answer> {
        let Some(mut timer) = timer else { return Poll::Pending };
        if timer.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Locked::lock(shared).time_out(self.0));
        }
        Locked::lock(shared).keep_timer(self.0, timer);
        Poll::Pending
    }
}

/// `count` numbers or none. Dropped while it waits, it leaves the queue.
#[derive(Debug)]
pub(crate) struct Take<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) count: u64,
    /// The draw that found nothing, if one was tried.
    pub(crate) miss: Option<MissedDraw>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) waiting: Option<WaiterId>,
}

impl Future for Take<'_> {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answer> {
        let Some(waiting) = self.waiting else {
            let request = (self.count, self.miss.take());
            return match WaiterId::enqueue(self.shared, request, self.deadline, cx) {
                Ok(answer) => Poll::Ready(answer),
                Err(waiting) => {
                    self.waiting = Some(waiting);
                    Poll::Pending
                }
            };
        };
        let answer = std::task::ready!(waiting.poll(self.shared, cx));
        self.waiting = None;
        Poll::Ready(answer)
    }
}

impl Drop for Take<'_> {
    fn drop(&mut self) {
        if let Some(waiting) = self.waiting {
            waiting.leave(self.shared);
        }
    }
}
