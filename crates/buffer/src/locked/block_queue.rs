//! Queued blocks, first in, first out. Some of them expire.

use std::{collections::VecDeque, time::Instant};

use sequent_core::Blocks;

use crate::expiring_block::ExpiringBlock;

/// The blocks behind the open range.
#[derive(Debug, Default)]
pub(crate) struct BlockQueue {
    blocks: VecDeque<ExpiringBlock>,
    total: u64,
    expiring: usize,
}

impl BlockQueue {
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Whether any of the blocks expires.
    pub(crate) fn has_expiring(&self) -> bool {
        self.expiring > 0
    }

    /// How many blocks are queued.
    pub(crate) fn len(&self) -> usize {
        self.blocks.len()
    }

    pub(crate) fn push_back(&mut self, block: ExpiringBlock) {
        self.count_in(&block);
        self.blocks.push_back(block);
    }

    pub(crate) fn push_front(&mut self, block: ExpiringBlock) {
        self.count_in(&block);
        self.blocks.push_front(block);
    }

    /// At most `count` numbers of the first block.
    pub(crate) fn pop(&mut self, count: u64) -> Option<ExpiringBlock> {
        let block = self.blocks.pop_front()?;
        self.count_out(&block);
        let (head, rest) = block.split_at(count);
        if let Some(rest) = rest {
            self.push_front(rest);
        }
        head
    }

    /// Exactly `count` numbers, of which the queue must have enough.
    pub(crate) fn take(&mut self, count: u64) -> Vec<ExpiringBlock> {
        debug_assert!(count <= self.total);
        let (mut taken, mut missing) = (Vec::with_capacity(1), count);
        while missing > 0
            && let Some(block) = self.pop(missing)
        {
            missing -= block.numbers.count();
            taken.push(block);
        }
        taken
    }

    /// Drops expired blocks; returns how many numbers that were.
    pub(crate) fn expire(&mut self, now: Instant) -> u64 {
        if self.expiring == 0 {
            return 0;
        }
        self.drop_unless(|block| !block.is_expired(now))
    }

    /// Drops all but the first `keep` blocks, and frees their memory; returns how many numbers that were.
    pub(crate) fn shrink(&mut self, keep: usize) -> u64 {
        let mut index = 0;
        let dropped = self.drop_unless(|_| {
            index += 1;
            index <= keep
        });
        self.blocks.shrink_to_fit();
        dropped
    }

    fn drop_unless(&mut self, mut keep: impl FnMut(&ExpiringBlock) -> bool) -> u64 {
        let before = self.total;
        let mut kept = Self::default();
        std::mem::swap(&mut kept.blocks, &mut self.blocks);
        kept.blocks.retain(|block| keep(block));
        (kept.total, kept.expiring) = kept.blocks.iter().fold((0, 0), |(total, expiring), block| {
            (total + block.numbers.count(), expiring + usize::from(block.expires_at.is_some()))
        });
        *self = kept;
        before - self.total
    }

    fn count_in(&mut self, block: &ExpiringBlock) {
        self.total += block.numbers.count();
        self.expiring += usize::from(block.expires_at.is_some());
    }

    fn count_out(&mut self, block: &ExpiringBlock) {
        self.total -= block.numbers.count();
        self.expiring -= usize::from(block.expires_at.is_some());
    }
}

/// Blocks as callers get them: ascending, with the earliest expiry time of all.
pub(crate) fn into_blocks(blocks: Vec<ExpiringBlock>) -> Blocks {
    let expires_at = blocks.iter().filter_map(|block| block.expires_at).min();
    Blocks::from_unsorted(blocks.into_iter().map(|block| block.numbers).collect()).until(expires_at)
}

/// How many numbers these are.
pub(crate) fn count(blocks: &[ExpiringBlock]) -> u64 {
    blocks.iter().map(|block| block.numbers.count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::{Block, Clock};
    use std::time::Duration;

    #[test]
    fn expired_blocks_are_dropped_and_the_rest_is_kept() {
        let now = sequent_core::SystemClock.now();
        let block =
            |first, expires_at| ExpiringBlock { numbers: Block::new(first, 1, 3).unwrap(), expires_at };
        let mut queue = BlockQueue::default();
        queue.push_back(block(1, Some(now)));
        queue.push_back(block(4, None));
        queue.push_front(block(7, Some(now + Duration::from_secs(1))));
        assert_eq!((queue.expire(now), queue.total(), queue.expiring), (3, 6, 1));
        assert_eq!(into_blocks(queue.take(4)).numbers().collect::<Vec<_>>(), [4, 7, 8, 9]);
        assert_eq!((queue.expiring, queue.total()), (0, 2));
        assert_eq!(queue.shrink(0), 2);
    }
}
