//! Raw blocks of many slots become encoded blocks, ascending: nothing lost, nothing doubled, few pieces.

use std::{collections::BTreeSet, time::Instant};

use sequent_core::{BLOCKS_MAX, Block, Blocks, Layout, SlotIndex};

/// Up to so many blocks, incomplete rows are given one by one, so that numbers ascend strictly; beyond, one
/// progression a slot, whose ranges overlap. A reservoir turns once a block.
const ROW_BLOCKS_MAX: u64 = 64;

/// Raw ids that one slot gave and nobody has got yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) slot: SlotIndex,
    pub(crate) raw: Block,
    pub(crate) until: Option<Instant>,
}

/// How many ids these are.
pub(crate) fn count(pieces: &[Piece]) -> u64 {
    pieces.iter().fold(0, |sum, piece| sum.saturating_add(piece.raw.count()))
}

/// The `want` lowest ids, and the rest.
pub(crate) fn trim(pieces: Vec<Piece>, want: u64) -> (Vec<Piece>, Vec<Piece>) {
    if count(&pieces) <= want {
        return (pieces, Vec::new());
    }
    let up_to = |piece: &Piece, row: u64| piece.raw.up_to(row).map_or(0, |block| block.count());
    let below = |row: u64| pieces.iter().map(|piece| u128::from(up_to(piece, row))).sum::<u128>();
    let (mut full, mut beyond) = (0, Block::NUMBER_MAX);
    while beyond - full > 1 {
        let row = full + (beyond - full) / 2;
        if below(row) <= u128::from(want) { full = row } else { beyond = row }
    }
    let mut left = u128::from(want) - below(full);
    let mut sorted = pieces;
    sorted.sort_unstable_by_key(|piece| piece.slot);
    let (mut kept, mut rest) = (Vec::new(), Vec::new());
    for piece in sorted {
        let extra = u64::from(left > 0 && piece.raw.contains(full + 1));
        left -= u128::from(extra);
        let (head, tail) = piece.raw.split_at(up_to(&piece, full) + extra);
        kept.extend(head.map(|raw| Piece { raw, ..piece }));
        rest.extend(tail.map(|raw| Piece { raw, ..piece }));
    }
    (kept, rest)
}

/// The encoded blocks, and what did not fit into [`BLOCKS_MAX`] of them or into the layout.
pub(crate) fn join(layout: Layout, mut pieces: Vec<Piece>) -> (Blocks, Vec<Piece>) {
    pieces.sort_unstable_by_key(|piece| (piece.raw.first(), piece.slot));
    let mut rest = pieces.split_off(pieces.len().min(BLOCKS_MAX));
    let fits = |piece: &Piece| layout.encode_block(piece.raw, piece.slot).is_some();
    rest.extend(pieces.extract_if(.., |piece| !fits(piece)));
    let until = pieces.iter().filter_map(|piece| piece.until).min();
    let blocks = bands(layout, &pieces).unwrap_or_else(|| {
        pieces.iter().filter_map(|piece| layout.encode_block(piece.raw, piece.slot)).collect()
    });
    (Blocks::from_unsorted(blocks).until(until), rest)
}

/// Cuts the rows into bands within which the same slots have ids; `None` where that would be too many blocks.
fn bands(layout: Layout, pieces: &[Piece]) -> Option<Vec<Block>> {
    let in_rows = |piece: &&Piece| piece.raw.step() == 1 || piece.raw.count() == 1;
    let mut blocks = Vec::new();
    for piece in pieces.iter().filter(|piece| !in_rows(piece)) {
        blocks.push(layout.encode_block(piece.raw, piece.slot)?);
    }
    let edges: BTreeSet<u64> =
        pieces.iter().filter(in_rows).flat_map(|piece| [piece.raw.first(), piece.raw.last() + 1]).collect();
    let mut waiting = pieces.iter().filter(in_rows).peekable();
    let mut here: Vec<&Piece> = Vec::new();
    for (low, high) in edges.iter().zip(edges.iter().skip(1)) {
        here.retain(|piece| piece.raw.last() >= *low);
        while let Some(piece) = waiting.next_if(|piece| piece.raw.first() == *low) {
            here.push(piece);
        }
        let slots: BTreeSet<SlotIndex> = here.iter().map(|piece| piece.slot).collect();
        band(layout, *low, high - low, &slots, &mut blocks)?;
        if blocks.len() > BLOCKS_MAX {
            return None;
        }
    }
    Some(blocks)
}

/// The ids of `slots` in `rows` rows from `low`.
fn band(
    layout: Layout,
    low: u64,
    rows: u64,
    slots: &BTreeSet<SlotIndex>,
    blocks: &mut Vec<Block>,
) -> Option<()> {
    // A slot whose counter ran ahead leaves a band of nobody between the others and itself: walking through its rows
    // would take for ever.
    if slots.is_empty() {
        return Some(());
    }
    let width = u64::from(layout.slots());
    if slots.len() == usize::from(layout.slots()) {
        blocks.push(Block::new(layout.encode(low, 0)?, 1, rows.checked_mul(width)?).ok()?);
        return Some(());
    }
    let runs = runs(slots);
    let already = u64::try_from(blocks.len()).ok()?;
    if rows.saturating_mul(u64::try_from(runs.len()).ok()?).saturating_add(already) <= ROW_BLOCKS_MAX {
        for row in low..low + rows {
            for (first, count) in &runs {
                blocks.push(Block::new(layout.encode(row, *first)?, 1, *count).ok()?);
            }
        }
        return Some(());
    }
    for slot in slots {
        blocks.push(Block::new(layout.encode(low, *slot)?, width, rows).ok()?);
    }
    Some(())
}

/// Neighbouring slots: the first of each run, and how many.
fn runs(slots: &BTreeSet<SlotIndex>) -> Vec<(SlotIndex, u64)> {
    let mut runs: Vec<(SlotIndex, u64)> = Vec::new();
    for slot in slots {
        match runs.last_mut() {
            Some((first, count)) if u64::from(*first) + *count == u64::from(*slot) => *count += 1,
            _ => runs.push((*slot, 1)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn layout(n: u8) -> Layout {
        Layout::new(n, 0).unwrap()
    }

    fn piece(slot: SlotIndex, first: u64, count: u64) -> Piece {
        Piece { slot, raw: Block::new(first, 1, count).unwrap(), until: None }
    }

    fn joined(n: u8, pieces: &[(SlotIndex, u64, u64)]) -> Vec<String> {
        let pieces = pieces.iter().map(|&(slot, first, count)| piece(slot, first, count)).collect();
        let (blocks, rest) = join(layout(n), pieces);
        assert!(rest.is_empty());
        blocks.as_slice().iter().map(Block::to_string).collect()
    }

    #[test]
    fn the_first_five_and_the_next_five_are_contiguous() {
        assert_eq!(joined(2, &[(0, 1, 2), (1, 1, 1), (2, 1, 1), (3, 1, 1)]), ["4..=8"]);
        assert_eq!(joined(2, &[(0, 3, 1), (1, 2, 2), (2, 2, 1), (3, 2, 1)]), ["9..=13"]);
    }

    #[test]
    fn a_missing_slot_leaves_a_hole_in_each_row_of_a_small_refill() {
        assert_eq!(joined(2, &[(0, 1, 2), (1, 1, 2), (3, 1, 2)]), ["4..=5", "7..=9", "11..=11"]);
    }

    #[test]
    fn rows_of_no_slot_are_not_walked_through() {
        let far = 1 << 59;
        assert_eq!(
            joined(2, &[(0, 1, 2), (1, far, 1)]),
            ["4..=4", "8..=8", &format!("{0}..={0}", (far << 2) + 1)]
        );
    }

    #[test]
    fn a_large_refill_with_a_missing_slot_is_one_progression_a_slot() {
        assert_eq!(
            joined(2, &[(0, 1, 100), (1, 1, 100), (3, 1, 100)]),
            ["4..=400 by 4", "5..=401 by 4", "7..=403 by 4"]
        );
        assert_eq!(joined(2, &[(0, 1, 100), (1, 1, 100), (2, 1, 100), (3, 1, 100)]), ["4..=403"]);
    }

    #[test]
    fn what_the_layout_cannot_hold_is_given_back() {
        let (blocks, rest) = join(layout(2), vec![piece(0, 1, 1), piece(1, 1 << 62, 1)]);
        assert_eq!((blocks.count(), rest.len()), (1, 1));
    }

    /// Per slot, disjoint blocks that ascend.
    fn pieces(n: u8) -> impl Strategy<Value = Vec<Piece>> {
        let slot = prop::collection::vec((1..5_u64, 1..40_u64, 1..3_u64), 0..5);
        prop::collection::vec(slot, 1 << n).prop_map(|slots| {
            let mut pieces = Vec::new();
            for (slot, parts) in (0..).zip(slots) {
                let mut next = 1;
                for (gap, count, step) in parts {
                    let raw = Block::new(next + gap - 1, step, count).unwrap();
                    next = raw.last() + 1;
                    pieces.push(Piece { slot, raw, until: None });
                }
            }
            pieces
        })
    }

    fn ids(layout: Layout, pieces: &[Piece]) -> Vec<u64> {
        let encode = |piece: &Piece| {
            let slot = piece.slot;
            piece.raw.iter().map(move |raw| layout.encode(raw, slot).unwrap())
        };
        let mut ids: Vec<u64> = pieces.iter().flat_map(encode).collect();
        ids.sort_unstable();
        ids
    }

    proptest! {
        #[test]
        fn joining_loses_nothing_and_doubles_nothing((n, pieces) in (0..5_u8).prop_flat_map(|n| (Just(n), pieces(n)))) {
            let expected = ids(layout(n), &pieces);
            let (blocks, rest) = join(layout(n), pieces);
            let mut found: Vec<u64> = blocks.numbers().collect();
            prop_assert!(blocks.as_slice().len() <= BLOCKS_MAX);
            prop_assert!(blocks.as_slice().is_sorted_by_key(Block::first));
            prop_assert!(rest.is_empty());
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn a_small_refill_ascends_strictly(n in 0..4_u8, counts in prop::collection::vec((1..4_u64, 0..7_u64), 8)) {
            let slots = (0..layout(n).slots()).zip(counts).filter(|(_, (_, count))| *count > 0);
            let pieces: Vec<Piece> = slots.map(|(slot, (first, count))| piece(slot, first, count)).collect();
            let (blocks, _) = join(layout(n), pieces);
            prop_assert!(blocks.numbers().collect::<Vec<_>>().is_sorted_by(|a, b| a < b));
        }

        #[test]
        fn trimming_keeps_the_lowest((n, pieces) in (0..4_u8).prop_flat_map(|n| (Just(n), pieces(n))), want in 0..300_u64) {
            let mut lowest = ids(layout(n), &pieces);
            let (kept, rest) = trim(pieces, want);
            let high = lowest.split_off(lowest.len().min(usize::try_from(want).unwrap()));
            prop_assert_eq!(ids(layout(n), &kept), lowest);
            prop_assert_eq!(ids(layout(n), &rest), high);
        }
    }

    #[test]
    fn the_widest_ring_stays_within_the_bound() {
        let pieces: Vec<Piece> = (0..1024).map(|slot| piece(slot, 1 + u64::from(slot % 7), 500)).collect();
        let expected = ids(layout(10), &pieces);
        let (blocks, rest) = join(layout(10), pieces);
        assert!(blocks.as_slice().len() <= BLOCKS_MAX);
        let mut found: Vec<u64> = blocks.numbers().chain(ids(layout(10), &rest)).collect();
        found.sort_unstable();
        assert_eq!(found, expected);
    }
}
