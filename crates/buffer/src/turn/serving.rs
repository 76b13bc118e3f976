//! Turns on behalf of a caller: it gets its numbers, waits for them, or goes away.

use std::task::Waker;

use sequent_core::{Block, ErrorKind, SourceError};

use super::Turn;
use crate::{
    burnt::{AGED, STALLED},
    error::TakeError,
    gate::Miss,
    lot::Lot,
    queue::{Answer, WAITERS_MAX},
    stock,
    tickets::Claim,
    wait::{Found, Timer},
};

/// What a caller brings to a turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) want: u64,
    /// The draw that found nothing.
    pub(crate) miss: Option<Miss>,
    /// Where the caller waits; `None` where it does not.
    pub(crate) waker: Option<&'a Waker>,
}

/// What a caller takes away.
#[derive(Debug)]
pub(crate) enum Reply {
    Done(Answer),
    /// A place in the queue.
    Waiting(u64),
}

impl Turn<'_> {
    /// One number for a caller that does not wait.
    #[cold]
    pub(crate) fn single(self, miss: Miss) -> Option<u64> {
        match self.serve(Ask { want: 1, miss: Some(miss), waker: None }) {
            Reply::Done(Ok(lots)) => lots.first().map(|lot| lot.block.first()),
            Reply::Done(Err(_)) | Reply::Waiting(_) => None,
        }
    }

    /// Numbers that a caller drew without having loaded their range; nothing else is done for it.
    pub(crate) fn overtaken(mut self, miss: Miss) -> Option<Block> {
        let lot = self.resolve(Some(miss));
        self.release();
        lot.map(|lot| lot.block)
    }

    /// Serves a caller, or gives it a place in the queue.
    pub(crate) fn serve(mut self, ask: Ask<'_>) -> Reply {
        let mut mine: Vec<Lot> = Vec::with_capacity(1);
        mine.extend(self.resolve(ask.miss));
        let lacking = ask.want.saturating_sub(stock::count(&mine));
        if lacking > 0 && self.state.queue.is_empty() {
            self.expire();
            mine.extend(self.state.tickets.draw(&self.inner.gate, lacking));
        }
        if stock::count(&mine) == ask.want {
            self.finish();
            return Reply::Done(Ok(mine));
        }
        self.put_back(mine);
        let reply = self.deal(ask);
        self.finish();
        reply
    }

    fn deal(&mut self, ask: Ask<'_>) -> Reply {
        self.expire();
        let state = &mut **self.state;
        if state.closed {
            return Reply::Done(Err(TakeError::Closed));
        }
        if state.queue.is_empty() && state.stock.total() >= ask.want {
            state.tally.served += ask.want;
            return Reply::Done(Ok(state.stock.take(ask.want)));
        }
        let Some(waker) = ask.waker else {
            if !state.passed_by {
                state.passed_by = true;
                state.appetite.starve();
            }
            return Reply::Done(Err(TakeError::Deadline));
        };
        state.appetite.starve();
        state.tally.waits += 1;
        state.queue.join(ask.want, waker.clone()).map_or_else(crowded, Reply::Waiting)
    }

    /// The answer of a caller in the queue, if it has come. Where that has aged before anybody fetched it, the caller is
    /// back at its place, and is served again.
    pub(crate) fn look(mut self, id: u64, waker: &Waker) -> Found {
        let now = self.now;
        let Some(aged) = self.state.queue.call_back(id, now, waker) else {
            return self.state.queue.look(id, waker);
        };
        self.put_back(aged);
        if self.state.closed {
            drop(self.state.queue.answer(Err(TakeError::Closed)));
        }
        let found = self.state.queue.look(id, waker);
        self.finish();
        found
    }

    pub(crate) fn keep_timer(mut self, id: u64, timer: Timer) {
        self.state.queue.keep_timer(id, timer);
    }

    /// A caller leaves the queue: what was dealt to it is handed to the next.
    pub(crate) fn leave(mut self, id: u64) {
        if let Some(Ok(lots)) = self.state.queue.leave(id) {
            self.put_back(lots);
        }
        self.finish();
    }

    /// A caller's deadline has passed: it leaves, with its answer if that has come in the same instant.
    pub(crate) fn give_up(mut self, id: u64) -> Answer {
        let now = self.now;
        if let Some(aged) = self.state.queue.call_back(id, now, Waker::noop()) {
            self.put_back(aged);
        }
        let answer = self.state.queue.leave(id);
        self.finish();
        answer.unwrap_or(Err(TakeError::Deadline))
    }

    fn resolve(&mut self, miss: Option<Miss>) -> Option<Lot> {
        match self.state.tickets.resolve(miss?) {
            Claim::Void => None,
            Claim::Yours(lot) if lot.expired(self.now) => {
                self.state.tally.returned += lot.block.count();
                self.burn(lot.block.count(), AGED);
                None
            }
            Claim::Yours(lot) => Some(lot),
            Claim::Forgotten(count) => {
                self.burn(count, STALLED);
                None
            }
        }
    }
}

fn crowded() -> Reply {
    let text = format!("{WAITERS_MAX} callers wait already: no more are allowed");
    Reply::Done(Err(TakeError::Source(SourceError::new(ErrorKind::Contended, text))))
}
