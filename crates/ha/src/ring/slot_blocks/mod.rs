//! Blocks of raw ids by slot, and the arithmetic on them: which slot gives how many, and how they interleave.

pub(crate) mod interleave;
pub(crate) mod split;

use std::time::Instant;

use sequent_core::{Block, SlotIndex};

/// Raw ids of one slot that no caller has got yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlotBlock {
    pub(crate) slot: SlotIndex,
    pub(crate) raw: Block,
    pub(crate) expires_at: Option<Instant>,
}

/// How many ids these are.
pub(crate) fn count(blocks: &[SlotBlock]) -> u64 {
    blocks.iter().fold(0, |sum, block| sum.saturating_add(block.raw.count()))
}

/// The `want` lowest ids, and the rest.
pub(crate) fn take_lowest(blocks: Vec<SlotBlock>, want: u64) -> (Vec<SlotBlock>, Vec<SlotBlock>) {
    if count(&blocks) <= want {
        return (blocks, Vec::new());
    }
    let up_to = |block: &SlotBlock, row: u64| block.raw.up_to(row).map_or(0, |raw| raw.count());
    let below = |row: u64| blocks.iter().map(|block| u128::from(up_to(block, row))).sum::<u128>();
    let (mut full, mut beyond) = (0, Block::NUMBER_MAX);
    while beyond - full > 1 {
        let row = full + (beyond - full) / 2;
        if below(row) <= u128::from(want) { full = row } else { beyond = row }
    }
    let mut left = u128::from(want) - below(full);
    let mut sorted = blocks;
    sorted.sort_unstable_by_key(|block| block.slot);
    let (mut kept, mut rest) = (Vec::new(), Vec::new());
    for block in sorted {
        let extra = u64::from(left > 0 && block.raw.contains(full + 1));
        left -= u128::from(extra);
        let (head, tail) = block.raw.split_at(up_to(&block, full) + extra);
        kept.extend(head.map(|raw| SlotBlock { raw, ..block }));
        rest.extend(tail.map(|raw| SlotBlock { raw, ..block }));
    }
    (kept, rest)
}
