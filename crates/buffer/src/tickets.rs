//! The turn's side of the gate, kept under the mutex: which tickets each range began with, and what they name.

use std::{collections::VecDeque, time::Instant};

use crate::{
    gate::{CLOSED, Gate, Miss},
    lot::Lot,
};

/// How many past ranges are remembered for callers that were overtaken between their load and the mutex.
///
/// A caller would have to be stalled for this many turns to lose its number; it is counted then.
const PAST_MAX: usize = 16;

/// What a ticket turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// No number was ever behind it.
    Void,
    /// The caller was overtaken; these numbers are its own.
    Yours(Lot),
    /// So old that nobody remembers: at most so many numbers are burnt.
    Forgotten(u64),
}

#[derive(Debug, Clone, Copy)]
struct Range {
    base: u64,
    lot: Lot,
}

impl Range {
    fn end(&self) -> u64 {
        self.base + self.lot.block.count()
    }

    /// The numbers that a draw of `count` tickets from `ticket` on took of this range.
    fn claimed(&self, miss: Miss) -> Option<Lot> {
        let from = miss.ticket.checked_sub(self.base)?;
        let (_, rest) = self.lot.split_at(from);
        rest?.split_at(miss.count).0
    }
}

/// Opens and closes the gate, and remembers what it dealt.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    open: Option<Range>,
    /// Above every ticket dealt below [`CLOSED`], and no range's end is above it.
    next: u64,
    /// Numbers dealt from ranges that are closed.
    dealt: u64,
    past: VecDeque<Range>,
    /// Ranges below this ticket are forgotten.
    forgotten_below: u64,
}

impl Tickets {
    /// When the open range must have been used, if it ages.
    pub(crate) fn until(&self) -> Option<Instant> {
        self.open.and_then(|range| range.lot.until)
    }

    /// Opens a range to all callers. The gate must be closed.
    pub(crate) fn open(&mut self, gate: &Gate, lot: Lot) {
        debug_assert!(self.open.is_none(), "a range is open already");
        debug_assert!(self.next < CLOSED - lot.block.count(), "tickets are used up after 2^63 numbers");
        gate.open(self.next, lot.block);
        self.open = Some(Range { base: self.next, lot });
    }

    /// Closes the gate; returns what was left of the open range.
    pub(crate) fn close(&mut self, gate: &Gate) -> Option<Lot> {
        let word = gate.close();
        let range = self.open.take()?;
        let dealt = word.min(range.end()) - range.base;
        self.next = word.max(range.end());
        self.dealt += dealt;
        let (head, rest) = range.lot.split_at(dealt);
        if let Some(lot) = head {
            self.remember(Range { base: range.base, lot });
        }
        rest
    }

    /// At most `count` numbers of the open range, drawn like any caller's.
    pub(crate) fn draw(&self, gate: &Gate, count: u64) -> Option<Lot> {
        let until = self.open?.lot.until;
        let block = gate.draw_many(count).ok()?;
        Some(Lot { block, until })
    }

    /// What a missed draw is worth. Asked once for each miss.
    pub(crate) fn resolve(&self, miss: Miss) -> Claim {
        if miss.ticket >= CLOSED {
            return Claim::Void;
        }
        match self.open.iter().chain(&self.past).find_map(|range| range.claimed(miss)) {
            Some(lot) => Claim::Yours(lot),
            None if miss.ticket < self.forgotten_below => Claim::Forgotten(miss.count),
            None => Claim::Void,
        }
    }

    /// How many numbers have left through the gate.
    pub(crate) fn dealt(&self, gate: &Gate) -> u64 {
        self.dealt + self.open.map_or(0, |range| gate.word().min(range.end()) - range.base)
    }

    /// How many numbers of the open range are left.
    pub(crate) fn left(&self, gate: &Gate) -> u64 {
        self.open.map_or(0, |range| range.end().saturating_sub(gate.word()))
    }

    /// Gives back the memory of what is past.
    pub(crate) fn forget(&mut self) {
        self.past = VecDeque::new();
        self.forgotten_below = self.open.map_or(self.next, |range| range.base);
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
    fn lot(first: u64, step: u64, count: u64) -> Lot {
        Block::new(first, step, count).unwrap().into()
    }

    #[test]
    fn a_range_is_dealt_in_order_and_ends() {
        let (gate, mut tickets) = (Gate::new(), Tickets::default());
        assert!(gate.draw().is_err(), "closed at first");
        tickets.open(&gate, lot(10, 4, 3));
        let dealt: Vec<u64> = (0..3).map(|_| gate.draw().unwrap()).collect();
        assert_eq!(dealt, [10, 14, 18]);
        let miss = gate.draw().unwrap_err();
        assert_eq!(tickets.resolve(miss), Claim::Void);
        assert_eq!((tickets.dealt(&gate), tickets.left(&gate)), (3, 0));
        assert_eq!(tickets.close(&gate), None);
        tickets.open(&gate, lot(100, 1, 2));
        assert_eq!(tickets.resolve(miss), Claim::Void, "a spinning caller owns nothing of the next range");
        assert_eq!(gate.draw_many(9).unwrap(), lot(100, 1, 2).block);
        assert_eq!(tickets.dealt(&gate), 5);
    }

    #[test]
    fn what_an_overtaken_caller_drew_is_still_its_own() {
        let (gate, mut tickets) = (Gate::new(), Tickets::default());
        tickets.open(&gate, lot(1, 1, 4));
        // A caller that had loaded an older range drew tickets 1 and 2 of this one, and missed.
        assert_eq!(gate.draw(), Ok(1));
        let (ticket, count) = (gate.word(), 2);
        assert_eq!(gate.draw_many(2).unwrap(), lot(2, 1, 2).block);
        let miss = Miss { ticket, count };
        assert_eq!(tickets.resolve(miss), Claim::Yours(lot(2, 1, 2)), "while it is open");
        assert_eq!(tickets.close(&gate), Some(lot(4, 1, 1)));
        assert_eq!(tickets.resolve(miss), Claim::Yours(lot(2, 1, 2)), "and afterwards");
        for first in 0..PAST_MAX as u64 {
            tickets.open(&gate, lot(100 + first, 1, 1));
            gate.draw().unwrap();
            tickets.close(&gate);
        }
        assert_eq!(tickets.resolve(miss), Claim::Forgotten(2), "but not for ever");
    }

    #[test]
    fn a_draw_past_the_end_takes_what_is_there_and_nothing_of_what_follows() {
        let (gate, mut tickets) = (Gate::new(), Tickets::default());
        tickets.open(&gate, lot(5, 1, 3));
        assert_eq!(gate.draw_many(2).unwrap(), lot(5, 1, 2).block);
        assert_eq!(gate.draw_many(100).unwrap(), lot(7, 1, 1).block);
        tickets.close(&gate);
        tickets.open(&gate, lot(50, 1, 1000));
        assert_eq!(gate.draw(), Ok(50));
    }
}
