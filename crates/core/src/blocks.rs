//! What one take returns: a few blocks, ascending.

use std::time::Instant;

use crate::Block;

/// The most blocks that one take may return.
///
/// A refill is cut into at most this many turns of a reservoir: enough for ten rounds of the widest ring.
pub const BLOCKS_MAX: usize = 1024;

/// Blocks ascending by their first number, none empty, at most [`BLOCKS_MAX`].
///
/// Blocks of unlevel slots may overlap in *range* (never in numbers).
///
/// ```
/// use sequent_core::{Block, Blocks};
/// let blocks = Blocks::from_unsorted(vec![Block::new(9, 1, 2)?, Block::new(1, 1, 8)?]);
/// assert_eq!(blocks.numbers().collect::<Vec<_>>(), (1..=10).collect::<Vec<_>>());
/// assert_eq!((blocks.count(), blocks.as_slice().len()), (10, 1), "neighbours are joined");
/// # Ok::<(), sequent_core::BlockError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blocks {
    blocks: Vec<Block>,
    until: Option<Instant>,
}

impl Blocks {
    /// Sorts by first number and joins neighbours that continue each other.
    pub fn from_unsorted(mut blocks: Vec<Block>) -> Self {
        blocks.sort_unstable();
        let mut joined: Vec<Block> = Vec::with_capacity(blocks.len());
        for block in blocks {
            match joined.last_mut().and_then(|last| Some((join(*last, block)?, last))) {
                Some((both, last)) => *last = both,
                None => joined.push(block),
            }
        }
        Self { blocks: joined, until: None }
    }

    /// The same blocks, good only until `until` (a lease). Uniqueness never rests on age.
    #[must_use]
    pub fn until(mut self, until: Option<Instant>) -> Self {
        self.until = until;
        self
    }

    /// When these numbers must have been used, if they age.
    pub fn expiry(&self) -> Option<Instant> {
        self.until
    }

    /// The blocks, ascending by first number.
    pub fn as_slice(&self) -> &[Block] {
        &self.blocks
    }

    /// Whether there is no block at all.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// How many numbers, over all blocks.
    pub fn count(&self) -> u64 {
        self.blocks.iter().map(Block::count).fold(0, u64::saturating_add)
    }

    /// The highest number, or `None` where there is none.
    pub fn highest(&self) -> Option<u64> {
        self.blocks.iter().map(Block::last).max()
    }

    /// Every number, block by block.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.blocks.iter().flat_map(Block::iter)
    }
}

impl From<Block> for Blocks {
    fn from(block: Block) -> Self {
        Self { blocks: vec![block], until: None }
    }
}

impl IntoIterator for Blocks {
    type Item = Block;
    type IntoIter = std::vec::IntoIter<Block>;

    fn into_iter(self) -> Self::IntoIter {
        self.blocks.into_iter()
    }
}

/// One block for two, where the second goes on exactly where the first ends.
fn join(a: Block, b: Block) -> Option<Block> {
    let step = match (a.count(), b.count()) {
        (1, 1) if b.first() == a.first() + 1 => 1,
        (1, 1) => return None,
        (1, _) => b.step(),
        (_, 1) => a.step(),
        _ if a.step() == b.step() => a.step(),
        _ => return None,
    };
    let goes_on = a.last().checked_add(step) == Some(b.first());
    goes_on.then(|| Block::new(a.first(), step, a.count() + b.count()).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn joining_keeps_every_number(parts in prop::collection::vec((1..60_u64, 1..5_u64, 1..6_u64), 0..8)) {
            let blocks: Vec<Block> = parts.iter().map(|&(f, s, c)| Block::new(f, s, c).unwrap()).collect();
            let mut expected: Vec<u64> = blocks.iter().flat_map(Block::iter).collect();
            let joined = Blocks::from_unsorted(blocks);
            let mut found: Vec<u64> = joined.numbers().collect();
            expected.sort_unstable();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
            prop_assert!(joined.as_slice().is_sorted_by_key(Block::first));
        }
    }
}
