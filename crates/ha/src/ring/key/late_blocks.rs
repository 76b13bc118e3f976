//! Late blocks: they came too late for the take that asked for them, and are kept for the next one.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

use crate::{
    ring::slot_blocks::{SlotBlock, take_lowest},
    sync::lock,
};

/// The most late blocks kept for one key: four rounds of a ring of 64 slots. In a smaller ring
/// fewer blocks can be late at once.
const LATE_BLOCKS_MAX: usize = 256;

/// A bounded list of raw blocks, each used once.
#[derive(Default)]
pub(super) struct LateBlocks {
    /// Whether there may be any. A take on a healthy ring reads this instead of the lock.
    has_any: AtomicBool,
    blocks: Mutex<Vec<SlotBlock>>,
}

impl LateBlocks {
    pub(super) fn is_empty(&self) -> bool {
        !self.has_any.load(Ordering::Acquire)
    }

    /// Adds blocks; returns the surplus. The lowest blocks are the surplus, since they are the most out of order.
    pub(super) fn put(&self, new: Vec<SlotBlock>) -> Vec<SlotBlock> {
        let mut blocks = lock(&self.blocks);
        blocks.extend(new);
        let surplus = blocks.len().saturating_sub(LATE_BLOCKS_MAX);
        blocks.sort_unstable_by_key(|block| (block.raw.first(), block.slot));
        let removed = blocks.drain(..surplus).collect();
        self.update_flag(&blocks);
        removed
    }

    /// The `want` lowest ids of the good blocks, and all bad blocks.
    pub(super) fn take(
        &self,
        want: u64,
        is_good: impl Fn(&SlotBlock) -> bool,
    ) -> (Vec<SlotBlock>, Vec<SlotBlock>) {
        let mut blocks = lock(&self.blocks);
        let (good, bad) = blocks.drain(..).partition(is_good);
        let (taken, kept) = take_lowest(good, want);
        *blocks = kept;
        self.update_flag(&blocks);
        (taken, bad)
    }

    /// Removes all raw ids up to `raw`.
    pub(super) fn remove_up_to(&self, raw: u64) -> Vec<SlotBlock> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut blocks = lock(&self.blocks);
        let (mut removed, mut kept) = (Vec::new(), Vec::new());
        for block in blocks.drain(..) {
            let below = block.raw.up_to(raw).map_or(0, |raw| raw.count());
            let (head, tail) = block.raw.split_at(below);
            removed.extend(head.map(|raw| SlotBlock { raw, ..block }));
            kept.extend(tail.map(|raw| SlotBlock { raw, ..block }));
        }
        *blocks = kept;
        self.update_flag(&blocks);
        removed
    }

    /// How many ids there are.
    pub(super) fn count(&self) -> u64 {
        if self.is_empty() { 0 } else { lock(&self.blocks).iter().map(|block| block.raw.count()).sum() }
    }

    fn update_flag(&self, blocks: &[SlotBlock]) {
        self.has_any.store(!blocks.is_empty(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::Block;

    fn block(first: u64, count: u64) -> SlotBlock {
        SlotBlock { slot: 0, raw: Block::new(first, 1, count).unwrap(), expires_at: None }
    }

    #[test]
    fn each_id_comes_out_once_and_the_lowest_first() {
        let late = LateBlocks::default();
        assert!(late.put(vec![block(10, 5), block(1, 3)]).is_empty());
        assert_eq!(late.take(4, |_| true).0, [block(1, 3), block(10, 1)]);
        assert_eq!(late.take(9, |_| true).0, [block(11, 4)]);
        assert!(late.is_empty());
        assert_eq!(late.take(9, |_| true).0, []);
    }

    #[test]
    fn the_surplus_is_returned() {
        let late = LateBlocks::default();
        let many =
            (1..=u64::try_from(LATE_BLOCKS_MAX).unwrap() + 2).map(|first| block(first * 2, 1)).collect();
        assert_eq!(late.put(many), [block(2, 1), block(4, 1)]);
    }

    #[test]
    fn bad_blocks_and_ids_below_a_lift_are_returned() {
        let late = LateBlocks::default();
        late.put(vec![block(1, 10), block(20, 1)]);
        assert_eq!(late.remove_up_to(4), [block(1, 4)]);
        let (taken, bad) = late.take(99, |block| block.raw.first() < 20);
        assert_eq!((taken, bad), (vec![block(5, 6)], vec![block(20, 1)]));
    }
}
