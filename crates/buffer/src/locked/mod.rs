//! The slow path: everything that is done under the mutex, from closing the open range to opening the next.

pub(crate) mod block_queue;
mod maintain;
pub(crate) mod refill;
pub(crate) mod serve;
pub(crate) mod state;
pub(crate) mod waiters;

use std::{
    sync::MutexGuard,
    task::Waker,
    time::{Duration, Instant},
};

use sequent_core::Event;

use self::state::State;
use crate::{
    discard_reason::{EXPIRED, RETURNED_AFTER_CLOSE},
    expiring_block::ExpiringBlock,
    shared::Shared,
};

/// An open range is at most the reserve divided by this, so that consumption is observed in time.
const RANGE_DIVISOR: u64 = 8;

/// But a range has at least this many numbers, so that the slow path costs each of them little.
const RANGE_MIN: u64 = 1024;

/// The largest chunk of a local handle.
const CHUNK_MAX: u64 = 4096;

/// A chunk is at most the reserve divided by this.
const CHUNK_DIVISOR: u64 = 64;

/// The mutex, held. Wakers and events wait until it is released.
pub(crate) struct Locked<'a> {
    shared: &'a Shared,
    state: MutexGuard<'a, Box<State>>,
    now: Instant,
    wakers: Vec<Waker>,
    discarded: Vec<(u64, &'static str)>,
}

impl<'a> Locked<'a> {
    pub(crate) fn lock(shared: &'a Shared) -> Self {
        let now = shared.context.env.clock.now();
        let state = shared.lock();
        Self { shared, state, now, wakers: Vec::new(), discarded: Vec::new() }
    }

    /// Puts numbers that had left, and that nobody has used, back to the front. Expired ones are discarded.
    fn put_back(&mut self, blocks: Vec<ExpiringBlock>) {
        self.close_range();
        for block in blocks.into_iter().rev() {
            self.state.counts.returned += block.numbers.count();
            if self.state.closed {
                self.discard(block.numbers.count(), RETURNED_AFTER_CLOSE);
            } else if block.is_expired(self.now) {
                self.discard(block.numbers.count(), EXPIRED);
            } else {
                self.state.blocks.push_front(block);
            }
        }
    }

    fn discard(&mut self, count: u64, reason: &'static str) {
        if count > 0 {
            self.state.counts.discarded += count;
            self.discarded.push((count, reason));
        }
    }

    /// Releases the mutex, then wakes callers and emits events.
    fn unlock(self) {
        let Self { shared, state, wakers, discarded, .. } = self;
        drop(state);
        for waker in wakers {
            waker.wake();
        }
        for (count, why) in discarded {
            shared.context.env.events.emit(Event::Dropped { slot: None, count, why });
        }
    }

    fn serve_waiters(&mut self) {
        if self.state.waiters.is_empty() {
            return;
        }
        self.close_range();
        self.expire();
        let state = &mut **self.state;
        while !state.waiters.is_empty() && state.waiters.first_want() <= state.blocks.total() {
            let want = state.waiters.first_want();
            let blocks = state.blocks.take(want);
            state.counts.issued_locked += want;
            self.wakers.extend(state.waiters.answer_first(Ok(blocks)));
        }
    }

    /// Reports consumption to the refill policy; returns how long nothing was consumed.
    fn observe(&mut self) -> Duration {
        let issued = self.state.issued(&self.shared.tickets);
        self.state.policy.observe(self.now, issued);
        self.state.policy.idle(self.now)
    }

    /// Closes the open range. The rest of it becomes the first block of the queue again.
    fn close_range(&mut self) {
        let state = &mut **self.state;
        state.lent_expires_at = state.lent_expires_at.into_iter().chain(state.ranges.expires_at()).min();
        if let Some(block) = state.ranges.close(&self.shared.tickets) {
            state.blocks.push_front(block);
        }
    }

    /// Opens the next range, unless somebody waits or the open range has numbers left.
    fn open_range(&mut self) {
        if self.state.closed
            || !self.state.waiters.is_empty()
            || self.state.ranges.left(&self.shared.tickets) > 0
        {
            return;
        }
        self.close_range();
        let state = &mut **self.state;
        let held = state.blocks.total();
        let config = self.shared.context.effective_config();
        let low = state.policy.low_watermark(self.now, self.shared.source.0.remaining(), &config);
        // The range ends where the next refill is due: its end leads to the slow path, which starts the refill.
        let until_low = if held > low { held - low } else { held };
        let max = until_low.min((held / RANGE_DIVISOR).max(RANGE_MIN));
        if let Some(block) = state.blocks.pop(max) {
            self.shared.tickets.set_chunk_size((held / CHUNK_DIVISOR).clamp(1, CHUNK_MAX));
            state.ranges.open(&self.shared.tickets, block);
        }
    }
}
