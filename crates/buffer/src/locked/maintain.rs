//! Maintenance on behalf of the reservoir's owner: close, expire, trim, statistics.

use std::time::Duration;

use sequent_core::Block;

use super::Locked;
use crate::{
    discard_reason::{CHUNK_REVOKED, EXPIRED, TRIMMED},
    error::TakeError,
    expiring_block::ExpiringBlock,
    stats::Stats,
};

impl Locked<'_> {
    /// Closes the reservoir: waiters fail, and what is left is discarded.
    pub(crate) fn close(mut self, reason: &'static str) {
        if !self.state.closed {
            self.state.closed = true;
            self.close_range();
            let count = self.state.blocks.shrink(0);
            self.discard(count, reason);
            self.shared.tickets.revoke_chunks();
            while let Some(waker) = self.state.waiters.answer_first(Err(TakeError::Closed)) {
                self.wakers.push(waker);
            }
        }
        self.finish();
    }

    /// Discards expired numbers, those of the open range included.
    pub(crate) fn expire(&mut self) {
        if self.state.ranges.expires_at().is_some_and(|expires_at| expires_at <= self.now) {
            self.close_range();
        }
        let count = self.state.blocks.expire(self.now);
        if count > 0 || self.state.lent_expires_at.is_some_and(|expires_at| expires_at <= self.now) {
            self.state.lent_expires_at = None;
            self.shared.tickets.revoke_chunks();
        }
        self.discard(count, EXPIRED);
    }

    /// Discards expired numbers, and refills only if something has been taken within `active_within`.
    pub(crate) fn expire_and_refill_if_active(mut self, active_within: Duration) {
        self.expire();
        if self.observe() < active_within {
            return self.finish();
        }
        self.open_range();
        self.unlock();
    }

    /// Forgets all numbers without reporting them: another process goes on with them.
    pub(crate) fn forget_all(mut self) {
        self.close_range();
        self.state.blocks.shrink(0);
        self.shared.tickets.revoke_chunks();
        self.unlock();
    }

    /// Puts back the numbers of a caller that only waited until they were held.
    pub(crate) fn restore(mut self, blocks: Vec<ExpiringBlock>) {
        self.put_back(blocks);
        self.finish();
    }

    /// If nothing has been taken for a while, drops all but `keep` blocks and frees memory. Returns the idle time.
    pub(crate) fn trim(mut self, keep: usize) -> Duration {
        let idle = self.observe();
        if idle >= self.shared.context.config.reserve {
            let count = self.state.blocks.shrink(keep);
            self.discard(count, TRIMMED);
            self.state.ranges.forget_past();
            self.state.waiters.shrink();
        }
        self.unlock();
        idle
    }

    /// Takes back the rest of a local handle's chunk. It is discarded if its expiry is unknown.
    pub(crate) fn return_chunk(mut self, chunk: Block, version: u64) {
        // If the reservoir ran empty meanwhile, only this still tells that the chunk's range expires.
        let lent_expires = self.state.lent_expires_at.is_some();
        let expires =
            lent_expires || self.state.blocks.has_expiring() || self.state.ranges.expires_at().is_some();
        if expires || version != self.shared.tickets.chunk_version() {
            self.state.counts.returned += chunk.count();
            self.discard(chunk.count(), CHUNK_REVOKED);
        } else {
            self.put_back(vec![chunk.into()]);
        }
        self.finish();
    }

    pub(crate) fn stats(mut self) -> Stats {
        let idle = self.observe();
        let Self { shared, state, .. } = &self;
        let (reserve, counts) = (state.held(&shared.tickets), &state.counts);
        let (rate_short, rate_long) = state.policy.rates();
        Stats {
            reserve,
            at_risk: reserve + shared.tickets.lent(),
            issued: state.issued(&shared.tickets),
            discarded: counts.discarded,
            refills: counts.refills,
            refills_failed: counts.refills_failed,
            waits: counts.waits,
            waiting: state.waiters.len(),
            rate_short,
            rate_long,
            refill_last: state.policy.last_refill(),
            idle,
            refilling: state.refilling,
            last_error: counts.last_error.clone(),
        }
    }
}
