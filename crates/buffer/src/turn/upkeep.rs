//! Turns on behalf of the reservoir's owner: close, expire, trim, look.

use std::time::Duration;

use sequent_core::Block;

use super::Turn;
use crate::{
    burnt::{AGED, CALLED_IN, TRIMMED},
    error::TakeError,
    lot::Lot,
    stats::Stats,
};

impl Turn<'_> {
    /// Nothing leaves any more: waiters fail, what is left is burnt.
    pub(crate) fn close(mut self, why: &'static str) {
        if !self.state.closed {
            self.state.closed = true;
            self.gather();
            let count = self.state.stock.shrink(0);
            self.burn(count, why);
            self.inner.gate.next_epoch();
            while let Some(waker) = self.state.queue.answer(Err(TakeError::Closed)) {
                self.wakers.push(waker);
            }
        }
        self.finish();
    }

    /// Drops what has aged, also out of the open range.
    pub(crate) fn expire(&mut self) {
        if self.state.tickets.until().is_some_and(|until| until <= self.now) {
            self.gather();
        }
        let count = self.state.stock.expire(self.now);
        if count > 0 || self.state.lent_until.is_some_and(|until| until <= self.now) {
            self.state.lent_until = None;
            self.inner.gate.next_epoch();
        }
        self.burn(count, AGED);
    }

    /// Drops what has aged; asks for more only where something has been taken within `busy`.
    pub(crate) fn age(mut self, busy: Duration) {
        self.expire();
        if self.observe() < busy {
            return self.finish();
        }
        self.open();
        self.release();
    }

    /// What is here belongs to another process now.
    pub(crate) fn disown(mut self) {
        self.gather();
        self.state.stock.shrink(0);
        self.inner.gate.next_epoch();
        self.release();
    }

    /// What was waited for was only to be there.
    pub(crate) fn restore(mut self, lots: Vec<Lot>) {
        self.put_back(lots);
        self.finish();
    }

    /// Drops all but a few blocks and the memory of what is past, if nothing has been taken for a while.
    pub(crate) fn trim(mut self, keep: usize) -> Duration {
        let idle = self.observe();
        if idle >= self.inner.setting.config.reserve {
            let count = self.state.stock.shrink(keep);
            self.burn(count, TRIMMED);
            self.state.tickets.forget();
            self.state.queue.shrink();
        }
        self.release();
        idle
    }

    /// A chunk comes back from a handle of its own; burnt where its age is not known.
    pub(crate) fn returned(mut self, block: Block, epoch: u64) {
        // Where the reservoir has run dry meanwhile, only this still tells that its range aged.
        let lent_ages = self.state.lent_until.is_some();
        let ages = lent_ages || self.state.stock.ages() || self.state.tickets.until().is_some();
        if ages || epoch != self.inner.gate.epoch() {
            self.state.tally.returned += block.count();
            self.burn(block.count(), CALLED_IN);
        } else {
            self.put_back(vec![block.into()]);
        }
        self.finish();
    }

    pub(crate) fn stats(mut self) -> Stats {
        let idle = self.observe();
        let Self { inner, state, .. } = &self;
        let (reserve, tally) = (state.held(&inner.gate), &state.tally);
        let (rate_short, rate_long) = state.appetite.rates();
        Stats {
            reserve,
            at_risk: reserve + inner.gate.lent(),
            dealt: state.dealt(&inner.gate),
            burnt: tally.burnt,
            refills: tally.refills,
            refills_failed: tally.refills_failed,
            waits: tally.waits,
            waiting: state.queue.len(),
            rate_short,
            rate_long,
            refill_last: state.appetite.refill(),
            idle,
            refilling: state.refilling,
            last_error: tally.last_error.clone(),
        }
    }
}
