//! A turn: everything that is done under the mutex, from closing the gate to opening it again.

mod filling;
mod serving;
mod upkeep;

use std::{
    sync::MutexGuard,
    task::Waker,
    time::{Duration, Instant},
};

use sequent_core::Event;

use crate::{
    burnt::{AGED, BACK_TOO_LATE},
    inner::{Inner, State},
    lot::Lot,
    refill,
};

pub(crate) use filling::cut_off;
pub(crate) use serving::{Ask, Reply};

/// An open range is at most this part of the reserve, so that consumption is seen in time.
const RANGE_PARTS: u64 = 8;

/// But at least so many numbers, so that a turn costs each of them little.
const RANGE_MIN: u64 = 1024;

/// The largest chunk that a handle of its own carves, and the part of the reserve that it may be.
const CHUNK_MAX: u64 = 4096;
const CHUNK_PARTS: u64 = 64;

/// More blocks than this are not added to ahead of demand: their memory would outweigh the numbers in them.
const STOCK_BLOCKS_MAX: usize = 4096;

/// The mutex in hand. What it says to the outside (wakers, events) waits until the mutex is released.
pub(crate) struct Turn<'a> {
    inner: &'a Inner,
    state: MutexGuard<'a, Box<State>>,
    now: Instant,
    wakers: Vec<Waker>,
    burnt: Vec<(u64, &'static str)>,
}

impl<'a> Turn<'a> {
    pub(crate) fn begin(inner: &'a Inner) -> Self {
        let now = inner.setting.env.clock.now();
        let state = inner.lock();
        Self { inner, state, now, wakers: Vec::new(), burnt: Vec::new() }
    }

    /// Numbers that had left, and that nobody has used, go back to the front; what has aged meanwhile does not.
    fn put_back(&mut self, lots: Vec<Lot>) {
        self.gather();
        for lot in lots.into_iter().rev() {
            self.state.tally.returned += lot.block.count();
            if self.state.closed {
                self.burn(lot.block.count(), BACK_TOO_LATE);
            } else if lot.expired(self.now) {
                self.burn(lot.block.count(), AGED);
            } else {
                self.state.stock.push_front(lot);
            }
        }
    }

    fn burn(&mut self, count: u64, why: &'static str) {
        if count > 0 {
            self.state.tally.burnt += count;
            self.burnt.push((count, why));
        }
    }

    /// Ends the turn, and starts a refill in a task of its own where one is due.
    pub(crate) fn finish(self) {
        let inner = self.inner;
        if let Some(want) = self.settle()
            && let Some(me) = inner.me.upgrade()
        {
            (inner.setting.spawn)(Box::pin(refill::run(me, want)));
        }
    }

    /// Serves the queue, decides on a refill, opens the gate.
    fn settle(mut self) -> Option<u64> {
        self.serve_queue();
        let refill = self.hunger();
        self.open();
        self.release();
        refill
    }

    /// Ends the turn: outside the mutex, wakes and reports.
    fn release(self) {
        let Self { inner, state, wakers, burnt, .. } = self;
        drop(state);
        for waker in wakers {
            waker.wake();
        }
        for (count, why) in burnt {
            inner.setting.env.events.emit(Event::Dropped { slot: None, count, why });
        }
    }

    fn serve_queue(&mut self) {
        if self.state.queue.is_empty() {
            return;
        }
        self.gather();
        self.expire();
        let state = &mut **self.state;
        while !state.queue.is_empty() && state.queue.first_wants() <= state.stock.total() {
            let want = state.queue.first_wants();
            let lots = state.stock.take(want);
            state.tally.served += want;
            self.wakers.extend(state.queue.answer(Ok(lots)));
        }
    }

    /// Shows the appetite what has been consumed; returns for how long nothing was.
    fn observe(&mut self) -> Duration {
        let dealt = self.state.dealt(&self.inner.gate);
        self.state.appetite.observe(self.now, dealt);
        self.state.appetite.idle(self.now)
    }

    /// How much to ask for now, where no refill is out.
    fn hunger(&mut self) -> Option<u64> {
        self.observe();
        let Self { inner, state, now, .. } = self;
        if state.refilling || state.closed {
            return None;
        }
        let needs = state.needs(inner);
        let want = state.appetite.ask(*now, needs, &inner.setting.in_force());
        let crowded = state.stock.blocks() >= STOCK_BLOCKS_MAX && needs.waiting <= needs.held;
        if want == 0 || crowded {
            return None;
        }
        state.refilling = true;
        Some(want)
    }

    /// Closes the gate; what was left of the open range is the first of the stock again.
    fn gather(&mut self) {
        let state = &mut **self.state;
        state.lent_until = state.lent_until.into_iter().chain(state.tickets.until()).min();
        if let Some(lot) = state.tickets.close(&self.inner.gate) {
            state.stock.push_front(lot);
        }
    }

    /// Opens the next range, where nobody waits and none is open with numbers left.
    fn open(&mut self) {
        if self.state.closed || !self.state.queue.is_empty() || self.state.tickets.left(&self.inner.gate) > 0
        {
            return;
        }
        self.gather();
        let state = &mut **self.state;
        let held = state.stock.total();
        let config = self.inner.setting.in_force();
        let mark = state.appetite.mark(self.now, self.inner.source.0.remaining(), &config);
        // The range ends where the next refill is due, so that its end is noticed without a look from the hot path.
        let until_mark = if held > mark { held - mark } else { held };
        let most = until_mark.min((held / RANGE_PARTS).max(RANGE_MIN));
        if let Some(lot) = state.stock.pop(most) {
            self.inner.gate.set_chunk((held / CHUNK_PARTS).clamp(1, CHUNK_MAX));
            state.tickets.open(&self.inner.gate, lot);
        }
    }
}
