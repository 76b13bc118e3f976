//! Interleaving: raw blocks of many slots become few encoded blocks, ascending, each id once.

use std::collections::BTreeSet;

use sequent_core::{BLOCKS_MAX, Block, Blocks, Layout, SlotIndex};

use super::SlotBlock;

/// Up to this many blocks, incomplete rows become blocks of their own, so that numbers ascend strictly.
///
/// Beyond it each slot becomes one progression, and their ranges overlap: a reservoir takes its mutex once per block.
const ROW_BLOCKS_MAX: u64 = 64;

/// The encoded blocks, and the rest that did not fit into [`BLOCKS_MAX`] of them or into the layout.
pub(crate) fn interleave(layout: Layout, mut slot_blocks: Vec<SlotBlock>) -> (Blocks, Vec<SlotBlock>) {
    slot_blocks.sort_unstable_by_key(|block| (block.raw.first(), block.slot));
    let mut rest = slot_blocks.split_off(slot_blocks.len().min(BLOCKS_MAX));
    let fits = |block: &SlotBlock| layout.encode_block(block.raw, block.slot).is_some();
    rest.extend(slot_blocks.extract_if(.., |block| !fits(block)));
    let expires_at = slot_blocks.iter().filter_map(|block| block.expires_at).min();
    let blocks = bands(layout, &slot_blocks).unwrap_or_else(|| {
        slot_blocks.iter().filter_map(|block| layout.encode_block(block.raw, block.slot)).collect()
    });
    (Blocks::from_unsorted(blocks).until(expires_at), rest)
}

/// Cuts the rows into bands in which the same slots have ids. `None` if that needs too many blocks.
///
/// A row is one raw id of all slots.
fn bands(layout: Layout, slot_blocks: &[SlotBlock]) -> Option<Vec<Block>> {
    let in_rows = |block: &&SlotBlock| block.raw.step() == 1 || block.raw.count() == 1;
    let mut blocks = Vec::new();
    for block in slot_blocks.iter().filter(|block| !in_rows(block)) {
        blocks.push(layout.encode_block(block.raw, block.slot)?);
    }
    let edges: BTreeSet<u64> = slot_blocks
        .iter()
        .filter(in_rows)
        .flat_map(|block| [block.raw.first(), block.raw.last() + 1])
        .collect();
    let mut waiting = slot_blocks.iter().filter(in_rows).peekable();
    let mut here: Vec<&SlotBlock> = Vec::new();
    for (low, high) in edges.iter().zip(edges.iter().skip(1)) {
        here.retain(|block| block.raw.last() >= *low);
        while let Some(block) = waiting.next_if(|block| block.raw.first() == *low) {
            here.push(block);
        }
        let slots: BTreeSet<SlotIndex> = here.iter().map(|block| block.slot).collect();
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
    // If one slot's counter ran ahead, no slot has ids in the rows between: they may be 2^60 rows.
    if slots.is_empty() {
        return Some(());
    }
    let width = u64::from(layout.slots());
    if slots.len() == usize::from(layout.slots()) {
        blocks.push(Block::new(layout.encode(low, 0)?, 1, rows.checked_mul(width)?).ok()?);
        return Some(());
    }
    let runs = runs(slots);
    let existing = u64::try_from(blocks.len()).ok()?;
    if rows.saturating_mul(u64::try_from(runs.len()).ok()?).saturating_add(existing) <= ROW_BLOCKS_MAX {
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

/// Runs of adjacent slots: the first of each, and how many.
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
    use crate::ring::slot_blocks::take_lowest;
    use proptest::prelude::*;

    fn layout(n: u8) -> Layout {
        Layout::new(n, 0).unwrap()
    }

    fn slot_block(slot: SlotIndex, first: u64, count: u64) -> SlotBlock {
        SlotBlock { slot, raw: Block::new(first, 1, count).unwrap(), expires_at: None }
    }

    fn interleaved(n: u8, slot_blocks: &[(SlotIndex, u64, u64)]) -> Vec<String> {
        let slot_blocks =
            slot_blocks.iter().map(|&(slot, first, count)| slot_block(slot, first, count)).collect();
        let (blocks, rest) = interleave(layout(n), slot_blocks);
        assert!(rest.is_empty());
        blocks.as_slice().iter().map(Block::to_string).collect()
    }

    #[test]
    fn the_first_five_and_the_next_five_are_contiguous() {
        assert_eq!(interleaved(2, &[(0, 1, 2), (1, 1, 1), (2, 1, 1), (3, 1, 1)]), ["4..=8"]);
        assert_eq!(interleaved(2, &[(0, 3, 1), (1, 2, 2), (2, 2, 1), (3, 2, 1)]), ["9..=13"]);
    }

    #[test]
    fn a_small_take_ascends_in_spite_of_a_missing_slot() {
        assert_eq!(interleaved(2, &[(0, 1, 2), (1, 1, 2), (3, 1, 2)]), ["4..=5", "7..=9", "11..=11"]);
    }

    #[test]
    fn empty_rows_are_skipped() {
        let far = 1 << 59;
        assert_eq!(
            interleaved(2, &[(0, 1, 2), (1, far, 1)]),
            ["4..=4", "8..=8", &format!("{0}..={0}", (far << 2) + 1)]
        );
    }

    #[test]
    fn a_large_take_with_a_missing_slot_is_one_progression_per_slot() {
        assert_eq!(
            interleaved(2, &[(0, 1, 100), (1, 1, 100), (3, 1, 100)]),
            ["4..=400 by 4", "5..=401 by 4", "7..=403 by 4"]
        );
        assert_eq!(interleaved(2, &[(0, 1, 100), (1, 1, 100), (2, 1, 100), (3, 1, 100)]), ["4..=403"]);
    }

    #[test]
    fn blocks_beyond_the_layout_are_returned() {
        let (blocks, rest) = interleave(layout(2), vec![slot_block(0, 1, 1), slot_block(1, 1 << 62, 1)]);
        assert_eq!((blocks.count(), rest.len()), (1, 1));
    }

    /// Disjoint ascending blocks for each slot.
    fn slot_blocks(n: u8) -> impl Strategy<Value = Vec<SlotBlock>> {
        let slot = prop::collection::vec((1..5_u64, 1..40_u64, 1..3_u64), 0..5);
        prop::collection::vec(slot, 1 << n).prop_map(|slots| {
            let mut slot_blocks = Vec::new();
            for (slot, parts) in (0..).zip(slots) {
                let mut next = 1;
                for (gap, count, step) in parts {
                    let raw = Block::new(next + gap - 1, step, count).unwrap();
                    next = raw.last() + 1;
                    slot_blocks.push(SlotBlock { slot, raw, expires_at: None });
                }
            }
            slot_blocks
        })
    }

    fn ids(layout: Layout, slot_blocks: &[SlotBlock]) -> Vec<u64> {
        let encode = |slot_block: &SlotBlock| {
            let slot = slot_block.slot;
            slot_block.raw.iter().map(move |raw| layout.encode(raw, slot).unwrap())
        };
        let mut ids: Vec<u64> = slot_blocks.iter().flat_map(encode).collect();
        ids.sort_unstable();
        ids
    }

    proptest! {
        #[test]
        fn each_id_comes_out_once((n, slot_blocks) in (0..5_u8).prop_flat_map(|n| (Just(n), slot_blocks(n)))) {
            let expected = ids(layout(n), &slot_blocks);
            let (blocks, rest) = interleave(layout(n), slot_blocks);
            let mut found: Vec<u64> = blocks.numbers().collect();
            prop_assert!(blocks.as_slice().len() <= BLOCKS_MAX);
            prop_assert!(blocks.as_slice().is_sorted_by_key(Block::first));
            prop_assert!(rest.is_empty());
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn a_small_take_ascends_strictly(n in 0..4_u8, counts in prop::collection::vec((1..4_u64, 0..7_u64), 8)) {
            let slots = (0..layout(n).slots()).zip(counts).filter(|(_, (_, count))| *count > 0);
            let slot_blocks: Vec<SlotBlock> = slots.map(|(slot, (first, count))| slot_block(slot, first, count)).collect();
            let (blocks, _) = interleave(layout(n), slot_blocks);
            prop_assert!(blocks.numbers().collect::<Vec<_>>().is_sorted_by(|a, b| a < b));
        }

        #[test]
        fn take_lowest_takes_the_lowest((n, slot_blocks) in (0..4_u8).prop_flat_map(|n| (Just(n), slot_blocks(n))), want in 0..300_u64) {
            let mut lowest = ids(layout(n), &slot_blocks);
            let (kept, rest) = take_lowest(slot_blocks, want);
            let high = lowest.split_off(lowest.len().min(usize::try_from(want).unwrap()));
            prop_assert_eq!(ids(layout(n), &kept), lowest);
            prop_assert_eq!(ids(layout(n), &rest), high);
        }
    }

    #[test]
    fn the_widest_ring_stays_within_the_bound() {
        let slot_blocks: Vec<SlotBlock> =
            (0..1024).map(|slot| slot_block(slot, 1 + u64::from(slot % 7), 500)).collect();
        let expected = ids(layout(10), &slot_blocks);
        let (blocks, rest) = interleave(layout(10), slot_blocks);
        assert!(blocks.as_slice().len() <= BLOCKS_MAX);
        let mut found: Vec<u64> = blocks.numbers().chain(ids(layout(10), &rest)).collect();
        found.sort_unstable();
        assert_eq!(found, expected);
    }
}
