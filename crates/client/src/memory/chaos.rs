//! Chaos mode of a cluster in memory: gaps, and numbers out of order. No number repeats.

use sequent_core::Block;

/// How many blocks are open at once. More of them mean more disorder.
const OPEN: usize = 8;

/// The longest block, and the longest gap before one.
const PIECE_MAX: u64 = 4;
const GAP_MAX: u64 = 3;

/// Blocks of the numbers from 1 with gaps between, handed out in a seeded random order.
pub(super) struct Chaos {
    state: u64,
    last: u64,
    open: Vec<Block>,
}

impl Chaos {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed, last: 0, open: Vec::with_capacity(OPEN) }
    }

    /// One block of at most `count` numbers, or blocks of exactly `count`. `None` at the end of all numbers.
    pub(super) fn take(&mut self, count: u64, exactly: bool) -> Option<Vec<Block>> {
        let mut taken = Vec::new();
        let mut lacking = count;
        while lacking > 0 {
            let piece = self.piece()?;
            let (head, rest) = piece.split_at(lacking);
            self.open.extend(rest);
            let head = head?;
            lacking -= head.count();
            taken.push(head);
            if !exactly {
                break;
            }
        }
        Some(taken)
    }

    fn piece(&mut self) -> Option<Block> {
        while self.open.len() < OPEN {
            let gap = self.below(GAP_MAX + 1);
            let block = Block::new(self.last + gap + 1, 1, 1 + self.below(PIECE_MAX)).ok()?;
            self.last = block.last();
            self.open.push(block);
        }
        let drawn = self.below(u64::try_from(self.open.len()).unwrap_or(1));
        Some(self.open.swap_remove(usize::try_from(drawn).unwrap_or(0)))
    }

    /// `SplitMix64`: the same seed gives the same sequence.
    fn below(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % bound.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn it_skips_and_reorders_and_never_repeats() {
        let numbers = |seed: u64| -> Vec<u64> {
            let mut chaos = Chaos::new(seed);
            let taken = (0..400).flat_map(|round| chaos.take(3, round % 2 == 0).unwrap());
            taken.flat_map(|block| block.iter()).collect()
        };
        let (first, again) = (numbers(7), numbers(7));
        assert_eq!(first, again, "a seed replays");
        assert_ne!(first, numbers(8));
        let distinct: BTreeSet<u64> = first.iter().copied().collect();
        assert_eq!(distinct.len(), first.len(), "none twice");
        assert!(!first.is_sorted(), "out of order");
        assert!(*distinct.last().unwrap() > distinct.len() as u64, "with gaps");
    }
}
