//! The state that only a holder of the mutex touches.

use std::time::Instant;

use sequent_core::SourceError;

use super::{block_queue::BlockQueue, waiters::WaiterQueue};
use crate::{
    fast_path::{ticket_counter::TicketCounter, ticket_ranges::TicketRanges},
    refill_policy::{Demand, RefillPolicy},
};

/// Everything but the ticket counter. The counter is opened and closed only by a holder of this.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) ranges: TicketRanges,
    pub(crate) blocks: BlockQueue,
    pub(crate) waiters: WaiterQueue,
    pub(crate) policy: RefillPolicy,
    pub(crate) counts: Counts,
    /// When the chunks that local handles may have taken from closed ranges begin to expire.
    pub(crate) lent_expires_at: Option<Instant>,
    /// One refill is in flight.
    pub(crate) refilling: bool,
    /// A caller that does not wait found nothing since the last refill.
    pub(crate) try_failed: bool,
    pub(crate) closed: bool,
}

/// Counts since the reservoir was created.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Numbers issued under the mutex.
    pub(crate) issued_locked: u64,
    /// Numbers that had left and came back.
    pub(crate) returned: u64,
    pub(crate) discarded: u64,
    pub(crate) refills: u64,
    pub(crate) refills_failed: u64,
    pub(crate) waits: u64,
    pub(crate) last_error: Option<SourceError>,
}

impl State {
    /// Numbers ready.
    pub(crate) fn held(&self, tickets: &TicketCounter) -> u64 {
        self.blocks.total() + self.ranges.left(tickets)
    }

    /// Numbers issued and not returned.
    pub(crate) fn issued(&self, tickets: &TicketCounter) -> u64 {
        (self.ranges.issued(tickets) + self.counts.issued_locked).saturating_sub(self.counts.returned)
    }

    /// What callers want, bounded by `at_risk_max` except for the first waiter.
    pub(crate) fn demand(&self, tickets: &TicketCounter, at_risk_max: u64, remaining: Option<u64>) -> Demand {
        let max = self.waiters.first_want().max(at_risk_max);
        Demand {
            held: self.held(tickets),
            lent: tickets.lent(),
            waiting: self.waiters.wanted().min(max).max(u64::from(self.try_failed)),
            remaining,
        }
    }
}
