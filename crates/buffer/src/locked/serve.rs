//! The slow path of a caller: it gets its numbers, waits for them, or leaves.

use std::task::Waker;

use sequent_core::{Block, ErrorKind, SourceError};

use super::{
    Locked, block_queue,
    waiters::{Answer, Timer, WAITERS_MAX, WaiterPoll},
};
use crate::{
    discard_reason::{CALLER_STALLED, EXPIRED},
    error::TakeError,
    expiring_block::ExpiringBlock,
    fast_path::{ticket_counter::MissedDraw, ticket_ranges::Resolved},
};

/// A caller's request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TakeRequest<'a> {
    pub(crate) want: u64,
    /// The draw that found nothing.
    pub(crate) miss: Option<MissedDraw>,
    /// Wakes the caller; `None` if it does not wait.
    pub(crate) waker: Option<&'a Waker>,
}

/// The reply to a [`TakeRequest`].
#[derive(Debug)]
pub(crate) enum TakeReply {
    Done(Answer),
    /// The caller waits under this id.
    Waiting(u64),
}

impl Locked<'_> {
    /// One number for a caller that does not wait.
    #[cold]
    pub(crate) fn take_one(self, miss: MissedDraw) -> Option<u64> {
        match self.serve(TakeRequest { want: 1, miss: Some(miss), waker: None }) {
            TakeReply::Done(Ok(blocks)) => blocks.first().map(|block| block.numbers.first()),
            TakeReply::Done(Err(_)) | TakeReply::Waiting(_) => None,
        }
    }

    /// Only the numbers that an overtaken caller owns; nothing else is done for it.
    pub(crate) fn take_overtaken(mut self, miss: MissedDraw) -> Option<Block> {
        let block = self.resolve(Some(miss));
        self.unlock();
        block.map(|block| block.numbers)
    }

    /// Serves a caller, or queues it.
    pub(crate) fn serve(mut self, request: TakeRequest<'_>) -> TakeReply {
        let mut taken: Vec<ExpiringBlock> = Vec::with_capacity(1);
        taken.extend(self.resolve(request.miss));
        let missing = request.want.saturating_sub(block_queue::count(&taken));
        if missing > 0 && self.state.waiters.is_empty() {
            self.expire();
            taken.extend(self.state.ranges.draw(&self.shared.tickets, missing));
        }
        if block_queue::count(&taken) == request.want {
            self.finish();
            return TakeReply::Done(Ok(taken));
        }
        self.put_back(taken);
        let reply = self.take_queued_or_wait(request);
        self.finish();
        reply
    }

    fn take_queued_or_wait(&mut self, request: TakeRequest<'_>) -> TakeReply {
        self.expire();
        let state = &mut **self.state;
        if state.closed {
            return TakeReply::Done(Err(TakeError::Closed));
        }
        if state.waiters.is_empty() && state.blocks.total() >= request.want {
            state.counts.issued_locked += request.want;
            return TakeReply::Done(Ok(state.blocks.take(request.want)));
        }
        let Some(waker) = request.waker else {
            if !state.try_failed {
                state.try_failed = true;
                state.policy.ran_empty();
            }
            return TakeReply::Done(Err(TakeError::Deadline));
        };
        state.policy.ran_empty();
        state.counts.waits += 1;
        state.waiters.push(request.want, waker.clone()).map_or_else(too_many_waiters, TakeReply::Waiting)
    }

    /// The answer of a waiting caller, if it has come.
    ///
    /// If the answer expired before the caller fetched it, the caller is back at its position and is served again.
    pub(crate) fn poll_waiter(mut self, id: u64, waker: &Waker) -> WaiterPoll {
        let now = self.now;
        let Some(expired) = self.state.waiters.requeue_if_expired(id, now, waker) else {
            return self.state.waiters.poll(id, waker);
        };
        self.put_back(expired);
        if self.state.closed {
            drop(self.state.waiters.answer_first(Err(TakeError::Closed)));
        }
        let found = self.state.waiters.poll(id, waker);
        self.finish();
        found
    }

    pub(crate) fn keep_timer(mut self, id: u64, timer: Timer) {
        self.state.waiters.keep_timer(id, timer);
    }

    /// A caller stops waiting. An answer that it has not fetched goes to the next caller.
    pub(crate) fn remove_waiter(mut self, id: u64) {
        if let Some(Ok(blocks)) = self.state.waiters.remove(id) {
            self.put_back(blocks);
        }
        self.finish();
    }

    /// A caller's deadline has passed. It still gets an answer that came at the same instant.
    pub(crate) fn time_out(mut self, id: u64) -> Answer {
        let now = self.now;
        if let Some(expired) = self.state.waiters.requeue_if_expired(id, now, Waker::noop()) {
            self.put_back(expired);
        }
        let answer = self.state.waiters.remove(id);
        self.finish();
        answer.unwrap_or(Err(TakeError::Deadline))
    }

    fn resolve(&mut self, miss: Option<MissedDraw>) -> Option<ExpiringBlock> {
        match self.state.ranges.resolve(miss?) {
            Resolved::Nothing => None,
            Resolved::Owned(block) if block.is_expired(self.now) => {
                self.state.counts.returned += block.numbers.count();
                self.discard(block.numbers.count(), EXPIRED);
                None
            }
            Resolved::Owned(block) => Some(block),
            Resolved::Forgotten(count) => {
                self.discard(count, CALLER_STALLED);
                None
            }
        }
    }
}

fn too_many_waiters() -> TakeReply {
    let text = format!("{WAITERS_MAX} callers wait already: no more are allowed");
    TakeReply::Done(Err(TakeError::Source(SourceError::new(ErrorKind::Contended, text))))
}
