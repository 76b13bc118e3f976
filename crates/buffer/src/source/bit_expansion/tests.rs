//! Bit expansion over scripted ids.

use super::*;
use proptest::prelude::*;
use std::{collections::BTreeSet, collections::VecDeque, future::ready};

/// Gives these blocks, one list per take.
struct Answers(Mutex<VecDeque<Vec<Block>>>);

impl Source for Answers {
    fn take(&self, _: u64) -> Reply<'_, Blocks> {
        let answer = self.0.lock().unwrap().pop_front().map(Blocks::from_unsorted);
        Box::pin(ready(answer.ok_or_else(|| SourceError::new(ErrorKind::Exhausted, "script ended"))))
    }
}

fn over(answers: Vec<Vec<Block>>, n: u8, m: u8) -> BitExpansion {
    BitExpansion::new(Arc::new(Answers(Mutex::new(answers.into()))), Layout::new(n, m).unwrap())
}

fn block(first: u64, step: u64, count: u64) -> Block {
    Block::new(first, step, count).unwrap()
}

#[tokio::test]
async fn slots_at_different_positions_become_one_block() {
    let ids = vec![block(4, 4, 3), block(5, 4, 3), block(6, 4, 3), block(7, 4, 3)];
    let blocks = over(vec![ids], 2, 4).take(12 * 16).await.unwrap();
    assert_eq!(blocks.as_slice(), [block(64, 1, 12 * 16)]);
}

#[tokio::test]
async fn separate_ids_beyond_the_block_limit_are_kept_for_the_next_take() {
    let expansion = over(vec![vec![block(8, 8, 3000)]], 3, 1);
    let mut seen = Vec::new();
    for expected in [1024, 1024, 952] {
        let blocks = expansion.take(6000).await.unwrap();
        assert_eq!(blocks.as_slice().len(), expected);
        seen.extend(blocks.numbers());
        sync::lock(&expansion.leftover).blocks.iter().for_each(|rest| assert_eq!(rest.step(), 8));
    }
    let expected: Vec<u64> = (1..=3000).flat_map(|raw| [raw * 16, raw * 16 + 1]).collect();
    assert_eq!(seen, expected);
    assert!(expansion.take(1).await.is_err(), "nothing is left over");
}

#[tokio::test]
async fn without_memory_bits_everything_passes_through() {
    let ids = vec![block(4, 4, 3), block(21, 4, 3)];
    let blocks = over(vec![ids.clone()], 2, 0).take(1).await.unwrap();
    assert_eq!(blocks.as_slice(), ids);
}

#[tokio::test]
async fn ids_that_overflow_are_refused() {
    let error = over(vec![vec![block(1 << 60, 1, 1)]], 0, 4).take(1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Exhausted);
}

proptest! {
    #[test]
    fn every_id_becomes_its_numbers_once(
        parts in prop::collection::vec((1..40_u64, 0..4_u64, 1..30_u64), 1..12), want in 1..400_u64, m in 1..4_u8,
    ) {
        let ids: Vec<Block> = parts.iter().map(|&(row, slot, count)| block(row * 4 + slot, 4, count)).collect();
        let distinct: BTreeSet<u64> = ids.iter().flat_map(Block::iter).collect();
        prop_assume!(distinct.len() as u64 == ids.iter().map(Block::count).sum::<u64>());
        let expansion = over(vec![ids], 2, m);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut found = Vec::new();
        while let Ok(blocks) = runtime.block_on(expansion.take(want)) {
            prop_assert!(!blocks.is_empty() && blocks.as_slice().len() <= BLOCKS_MAX);
            prop_assert!(blocks.count() < want + (1 << m), "never 2^m or more beyond what was asked");
            found.extend(blocks.numbers());
        }
        let expected: Vec<u64> = distinct.iter().flat_map(|id| (0..1 << m).map(move |low| id << m | low)).collect();
        prop_assert_eq!(found, expected);
    }
}
