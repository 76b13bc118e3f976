//! The ranges of tickets, kept under the mutex: which tickets each opened block got, and which number each names.

use std::{collections::VecDeque, time::Instant};

use super::ticket_counter::{CLOSED, MissedDraw, TicketCounter};
use crate::expiring_block::ExpiringBlock;

/// How many closed ranges are remembered for callers that were overtaken between their load and the mutex.
///
/// A caller that is stalled for more openings than this loses its number, which is counted as discarded.
const PAST_MAX: usize = 16;

/// What a missed draw turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// Its tickets never named a number.
    Nothing,
    /// The caller was overtaken; these numbers belong to it.
    Owned(ExpiringBlock),
    /// The range is no longer remembered: at most this many numbers are lost.
    Forgotten(u64),
}

#[derive(Debug, Clone, Copy)]
struct Range {
    base: u64,
    block: ExpiringBlock,
}

impl Range {
    fn end(&self) -> u64 {
        self.base + self.block.numbers.count()
    }

    /// The numbers that a draw of `count` tickets from `ticket` on took of this range.
    fn claimed(&self, miss: MissedDraw) -> Option<ExpiringBlock> {
        let from = miss.ticket.checked_sub(self.base)?;
        let (_, rest) = self.block.split_at(from);
        rest?.split_at(miss.count).0
    }
}

/// Opens and closes the ticket counter, and remembers its ranges.
#[derive(Debug, Default)]
pub(crate) struct TicketRanges {
    open: Option<Range>,
    /// Above every ticket dealt below [`CLOSED`], and at or above the end of every range.
    next_base: u64,
    /// Numbers issued from ranges that are closed.
    issued_closed: u64,
    past: VecDeque<Range>,
    /// Ranges below this ticket are forgotten.
    forgotten_below: u64,
}

impl TicketRanges {
    /// When the open range expires, if it does.
    pub(crate) fn expires_at(&self) -> Option<Instant> {
        self.open.and_then(|range| range.block.expires_at)
    }

    /// Opens a block to all callers. The counter must be closed.
    pub(crate) fn open(&mut self, tickets: &TicketCounter, block: ExpiringBlock) {
        debug_assert!(self.open.is_none(), "a range is open already");
        debug_assert!(
            self.next_base < CLOSED - block.numbers.count(),
            "tickets are used up after 2^63 numbers"
        );
        tickets.open(self.next_base, block.numbers);
        self.open = Some(Range { base: self.next_base, block });
    }

    /// Closes the counter; returns what was left of the open range.
    pub(crate) fn close(&mut self, tickets: &TicketCounter) -> Option<ExpiringBlock> {
        let stopped_at = tickets.close();
        let range = self.open.take()?;
        let issued = stopped_at.min(range.end()) - range.base;
        self.next_base = stopped_at.max(range.end());
        self.issued_closed += issued;
        let (head, rest) = range.block.split_at(issued);
        if let Some(block) = head {
            self.remember(Range { base: range.base, block });
        }
        rest
    }

    /// At most `count` numbers of the open range, drawn like any caller's.
    pub(crate) fn draw(&self, tickets: &TicketCounter, count: u64) -> Option<ExpiringBlock> {
        let expires_at = self.open?.block.expires_at;
        let numbers = tickets.draw_many(count).ok()?;
        Some(ExpiringBlock { numbers, expires_at })
    }

    /// What the tickets of a missed draw name. To be asked once for each miss.
    pub(crate) fn resolve(&self, miss: MissedDraw) -> Resolved {
        if miss.ticket >= CLOSED {
            return Resolved::Nothing;
        }
        match self.open.iter().chain(&self.past).find_map(|range| range.claimed(miss)) {
            Some(block) => Resolved::Owned(block),
            None if miss.ticket < self.forgotten_below => Resolved::Forgotten(miss.count),
            None => Resolved::Nothing,
        }
    }

    /// How many numbers were issued by tickets.
    pub(crate) fn issued(&self, tickets: &TicketCounter) -> u64 {
        self.issued_closed + self.open.map_or(0, |range| tickets.next_ticket().min(range.end()) - range.base)
    }

    /// How many numbers of the open range are left.
    pub(crate) fn left(&self, tickets: &TicketCounter) -> u64 {
        self.open.map_or(0, |range| range.end().saturating_sub(tickets.next_ticket()))
    }

    /// Frees the memory of closed ranges.
    pub(crate) fn forget_past(&mut self) {
        self.past = VecDeque::new();
        self.forgotten_below = self.open.map_or(self.next_base, |range| range.base);
    }

    fn remember(&mut self, range: Range) {
        if self.past.len() >= PAST_MAX
            && let Some(oldest) = self.past.pop_back()
        {
            self.forgotten_below = oldest.end();
        }
        self.past.push_front(range);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use sequent_core::Block;

    #[allow(clippy::unwrap_used, reason = "a test's own constant")]
    fn block(first: u64, step: u64, count: u64) -> ExpiringBlock {
        Block::new(first, step, count).unwrap().into()
    }

    #[test]
    fn a_range_is_issued_in_order_and_ends() {
        let (tickets, mut ranges) = (TicketCounter::new(), TicketRanges::default());
        assert!(tickets.draw().is_err(), "closed at first");
        ranges.open(&tickets, block(10, 4, 3));
        let issued: Vec<u64> = (0..3).map(|_| tickets.draw().unwrap()).collect();
        assert_eq!(issued, [10, 14, 18]);
        let miss = tickets.draw().unwrap_err();
        assert_eq!(ranges.resolve(miss), Resolved::Nothing);
        assert_eq!((ranges.issued(&tickets), ranges.left(&tickets)), (3, 0));
        assert_eq!(ranges.close(&tickets), None);
        ranges.open(&tickets, block(100, 1, 2));
        assert_eq!(
            ranges.resolve(miss),
            Resolved::Nothing,
            "a spinning caller owns nothing of the next range"
        );
        assert_eq!(tickets.draw_many(9).unwrap(), block(100, 1, 2).numbers);
        assert_eq!(ranges.issued(&tickets), 5);
    }

    #[test]
    fn an_overtaken_caller_still_owns_its_numbers() {
        let (tickets, mut ranges) = (TicketCounter::new(), TicketRanges::default());
        ranges.open(&tickets, block(1, 1, 4));
        // A caller that had loaded an older range drew tickets 1 and 2 of this one, and missed.
        assert_eq!(tickets.draw(), Ok(1));
        let (ticket, count) = (tickets.next_ticket(), 2);
        assert_eq!(tickets.draw_many(2).unwrap(), block(2, 1, 2).numbers);
        let miss = MissedDraw { ticket, count };
        assert_eq!(ranges.resolve(miss), Resolved::Owned(block(2, 1, 2)), "while it is open");
        assert_eq!(ranges.close(&tickets), Some(block(4, 1, 1)));
        assert_eq!(ranges.resolve(miss), Resolved::Owned(block(2, 1, 2)), "and afterwards");
        for first in 0..PAST_MAX as u64 {
            ranges.open(&tickets, block(100 + first, 1, 1));
            tickets.draw().unwrap();
            ranges.close(&tickets);
        }
        assert_eq!(ranges.resolve(miss), Resolved::Forgotten(2), "only the last ranges are remembered");
    }

    #[test]
    fn a_draw_past_the_end_takes_the_rest_and_nothing_of_the_next_range() {
        let (tickets, mut ranges) = (TicketCounter::new(), TicketRanges::default());
        ranges.open(&tickets, block(5, 1, 3));
        assert_eq!(tickets.draw_many(2).unwrap(), block(5, 1, 2).numbers);
        assert_eq!(tickets.draw_many(100).unwrap(), block(7, 1, 1).numbers);
        ranges.close(&tickets);
        ranges.open(&tickets, block(50, 1, 1000));
        assert_eq!(tickets.draw(), Ok(50));
    }
}
