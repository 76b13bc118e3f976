//! Blocks that wait their turn, first in, first out; some of them age.

use std::{collections::VecDeque, time::Instant};

use sequent_core::Blocks;

use crate::lot::Lot;

/// The blocks behind the open range.
#[derive(Debug, Default)]
pub(crate) struct Stock {
    lots: VecDeque<Lot>,
    total: u64,
    aging: usize,
}

impl Stock {
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Whether any of it ages.
    pub(crate) fn ages(&self) -> bool {
        self.aging > 0
    }

    /// How many blocks wait.
    pub(crate) fn blocks(&self) -> usize {
        self.lots.len()
    }

    pub(crate) fn push_back(&mut self, lot: Lot) {
        self.count_in(&lot);
        self.lots.push_back(lot);
    }

    pub(crate) fn push_front(&mut self, lot: Lot) {
        self.count_in(&lot);
        self.lots.push_front(lot);
    }

    /// At most `count` numbers of the first block.
    pub(crate) fn pop(&mut self, count: u64) -> Option<Lot> {
        let lot = self.lots.pop_front()?;
        self.count_out(&lot);
        let (head, rest) = lot.split_at(count);
        if let Some(rest) = rest {
            self.push_front(rest);
        }
        head
    }

    /// Exactly `count` numbers, which must be there.
    pub(crate) fn take(&mut self, count: u64) -> Vec<Lot> {
        debug_assert!(count <= self.total);
        let (mut taken, mut lacking) = (Vec::with_capacity(1), count);
        while lacking > 0
            && let Some(lot) = self.pop(lacking)
        {
            lacking -= lot.block.count();
            taken.push(lot);
        }
        taken
    }

    /// Drops what is past its time; returns how many numbers that were.
    pub(crate) fn expire(&mut self, now: Instant) -> u64 {
        if self.aging == 0 {
            return 0;
        }
        self.drop_unless(|lot| !lot.expired(now))
    }

    /// Drops all but the first `keep` blocks, and gives their memory back; returns how many numbers that were.
    pub(crate) fn shrink(&mut self, keep: usize) -> u64 {
        let mut index = 0;
        let dropped = self.drop_unless(|_| {
            index += 1;
            index <= keep
        });
        self.lots.shrink_to_fit();
        dropped
    }

    fn drop_unless(&mut self, mut keep: impl FnMut(&Lot) -> bool) -> u64 {
        let before = self.total;
        let mut kept = Self::default();
        std::mem::swap(&mut kept.lots, &mut self.lots);
        kept.lots.retain(|lot| keep(lot));
        (kept.total, kept.aging) = kept.lots.iter().fold((0, 0), |(total, aging), lot| {
            (total + lot.block.count(), aging + usize::from(lot.until.is_some()))
        });
        *self = kept;
        before - self.total
    }

    fn count_in(&mut self, lot: &Lot) {
        self.total += lot.block.count();
        self.aging += usize::from(lot.until.is_some());
    }

    fn count_out(&mut self, lot: &Lot) {
        self.total -= lot.block.count();
        self.aging -= usize::from(lot.until.is_some());
    }
}

/// Lots as callers get them: ascending, good until the first of them is not.
pub(crate) fn blocks(lots: Vec<Lot>) -> Blocks {
    let until = lots.iter().filter_map(|lot| lot.until).min();
    Blocks::from_unsorted(lots.into_iter().map(|lot| lot.block).collect()).until(until)
}

/// How many numbers these are.
pub(crate) fn count(lots: &[Lot]) -> u64 {
    lots.iter().map(|lot| lot.block.count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::{Block, Clock};
    use std::time::Duration;

    #[test]
    fn what_aged_is_dropped_and_the_rest_is_kept() {
        let now = sequent_core::SystemClock.now();
        let lot = |first, until| Lot { block: Block::new(first, 1, 3).unwrap(), until };
        let mut stock = Stock::default();
        stock.push_back(lot(1, Some(now)));
        stock.push_back(lot(4, None));
        stock.push_front(lot(7, Some(now + Duration::from_secs(1))));
        assert_eq!((stock.expire(now), stock.total(), stock.aging), (3, 6, 1));
        assert_eq!(blocks(stock.take(4)).numbers().collect::<Vec<_>>(), [4, 7, 8, 9]);
        assert_eq!((stock.aging, stock.total()), (0, 2));
        assert_eq!(stock.shrink(0), 2);
    }
}
