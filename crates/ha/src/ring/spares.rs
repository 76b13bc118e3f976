//! Blocks that came too late for the take that asked for them: kept for the next one.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

use crate::{
    join::{Piece, trim},
    lock,
};

/// The most late blocks kept for one key: four rounds of a ring of 64 slots, more than can be late at once elsewhere.
const SPARES_MAX: usize = 256;

/// A bounded list of raw blocks, each used once.
#[derive(Default)]
pub(super) struct Spares {
    /// Whether there may be any: what a take on a clean ring reads instead of the lock.
    some: AtomicBool,
    pieces: Mutex<Vec<Piece>>,
}

impl Spares {
    pub(super) fn is_empty(&self) -> bool {
        !self.some.load(Ordering::Acquire)
    }

    /// Adds `new`; returns what there is no room for, the lowest: they are the most out of order.
    pub(super) fn put(&self, new: Vec<Piece>) -> Vec<Piece> {
        let mut pieces = lock(&self.pieces);
        pieces.extend(new);
        let surplus = pieces.len().saturating_sub(SPARES_MAX);
        pieces.sort_unstable_by_key(|piece| (piece.raw.first(), piece.slot));
        let dropped = pieces.drain(..surplus).collect();
        self.note(&pieces);
        dropped
    }

    /// The `want` lowest ids of the good ones, and the bad ones.
    pub(super) fn take(&self, want: u64, is_good: impl Fn(&Piece) -> bool) -> (Vec<Piece>, Vec<Piece>) {
        let mut pieces = lock(&self.pieces);
        let (good, bad) = pieces.drain(..).partition(is_good);
        let (taken, kept) = trim(good, want);
        *pieces = kept;
        self.note(&pieces);
        (taken, bad)
    }

    /// Gives up all raw ids up to `raw`.
    pub(super) fn drop_up_to(&self, raw: u64) -> Vec<Piece> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut pieces = lock(&self.pieces);
        let (mut dropped, mut kept) = (Vec::new(), Vec::new());
        for piece in pieces.drain(..) {
            let below = piece.raw.up_to(raw).map_or(0, |block| block.count());
            let (head, tail) = piece.raw.split_at(below);
            dropped.extend(head.map(|raw| Piece { raw, ..piece }));
            kept.extend(tail.map(|raw| Piece { raw, ..piece }));
        }
        *pieces = kept;
        self.note(&pieces);
        dropped
    }

    fn note(&self, pieces: &[Piece]) {
        self.some.store(!pieces.is_empty(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::Block;

    fn piece(first: u64, count: u64) -> Piece {
        Piece { slot: 0, raw: Block::new(first, 1, count).unwrap(), until: None }
    }

    #[test]
    fn each_id_comes_out_once_and_the_lowest_first() {
        let spares = Spares::default();
        assert!(spares.put(vec![piece(10, 5), piece(1, 3)]).is_empty());
        assert_eq!(spares.take(4, |_| true).0, [piece(1, 3), piece(10, 1)]);
        assert_eq!(spares.take(9, |_| true).0, [piece(11, 4)]);
        assert!(spares.is_empty());
        assert_eq!(spares.take(9, |_| true).0, []);
    }

    #[test]
    fn what_does_not_fit_is_returned_not_lost() {
        let spares = Spares::default();
        let many = (1..=u64::try_from(SPARES_MAX).unwrap() + 2).map(|first| piece(first * 2, 1)).collect();
        assert_eq!(spares.put(many), [piece(2, 1), piece(4, 1)]);
    }

    #[test]
    fn bad_ones_and_those_below_a_lift_are_handed_back() {
        let spares = Spares::default();
        spares.put(vec![piece(1, 10), piece(20, 1)]);
        assert_eq!(spares.drop_up_to(4), [piece(1, 4)]);
        let (taken, bad) = spares.take(99, |piece| piece.raw.first() < 20);
        assert_eq!((taken, bad), (vec![piece(5, 6)], vec![piece(20, 1)]));
    }
}
