//! Low bits: each encoded id becomes 2^m consecutive numbers.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use sequent_core::{BLOCKS_MAX, Block, Blocks, BoxFuture, ErrorKind, Layout, Source, SourceError};

/// Steps of one take's joining, so that neither a wide ring nor a large want makes it long.
const STEPS_MAX: usize = 64 * BLOCKS_MAX;

/// A source of encoded ids (`raw << n | slot`) as a source of encoded numbers (`id << m | low`).
///
/// Contiguous ids stay one block, ids apart become a block each. At most [`BLOCKS_MAX`] blocks go out of one take; the ids
/// beyond them are carried over to the next. With m = 0 everything passes through.
///
/// ```
/// use std::sync::Arc;
/// use sequent_buffer::Expansion;
/// use sequent_core::{Layout, Source};
/// use sequent_testkit::ScriptedSource;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let ids = Arc::new(ScriptedSource::giving().above(1));       // 2, 3, 4, …
/// let numbers = Expansion::new(ids.clone(), Layout::new(0, 3).unwrap());
/// let blocks = numbers.take(10).await.unwrap();
/// assert_eq!((blocks.as_slice()[0].first(), blocks.count()), (16, 16));
/// assert_eq!(ids.wants(), [2], "two ids make sixteen numbers");
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Expansion {
    ids: Arc<dyn Source>,
    layout: Layout,
    carry: Mutex<Carry>,
}

/// Ids that were taken and did not fit into the answer.
#[derive(Debug, Default)]
struct Carry {
    blocks: Vec<Block>,
    until: Option<Instant>,
}

impl Carry {
    /// How many ids to ask for. A carry that fills an answer by itself is dealt first, so that it cannot grow from take to take.
    fn lacking(&self, wanted: u64) -> u64 {
        let carried: u64 = self.blocks.iter().map(Block::count).sum();
        if self.blocks.len() >= BLOCKS_MAX { 0 } else { wanted.saturating_sub(carried) }
    }

    /// Where some of the ids age, the earliest end counts for all.
    fn add(&mut self, ids: Blocks) {
        self.until = self.until.into_iter().chain(ids.expiry()).min();
        self.blocks.extend(ids);
    }

    fn deal(&mut self, wanted: u64) -> Blocks {
        let until = self.until;
        let (runs, rest) = deal(std::mem::take(&mut self.blocks), wanted);
        self.until = until.filter(|_| !rest.is_empty());
        self.blocks = rest;
        Blocks::from_unsorted(runs).until(until)
    }
}

impl std::fmt::Debug for Expansion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Expansion").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl Expansion {
    /// Each id of `ids` becomes `layout`'s 2^m numbers.
    pub fn new(ids: Arc<dyn Source>, layout: Layout) -> Self {
        Self { ids, layout, carry: Mutex::default() }
    }

    async fn expand(&self, want: u64) -> Result<Blocks, SourceError> {
        let wanted = want.max(1).div_ceil(self.layout.numbers_per_id());
        let lacking = match self.carried(wanted) {
            Ok(ids) => return self.numbers(ids),
            Err(lacking) => lacking,
        };
        let outcome = self.ids.take(lacking).await;
        let dealt = {
            let mut carry = self.carry();
            match outcome {
                Ok(ids) => carry.add(ids),
                // What is carried can still be given, and must be where the source is at its end.
                Err(error) if carry.blocks.is_empty() => return Err(error),
                Err(_) => {}
            }
            carry.deal(wanted)
        };
        self.numbers(dealt)
    }

    /// The answer from what is carried, or how many ids it lacks.
    fn carried(&self, wanted: u64) -> Result<Blocks, u64> {
        let mut carry = self.carry();
        match carry.lacking(wanted) {
            0 => Ok(carry.deal(wanted)),
            lacking => Err(lacking),
        }
    }

    fn numbers(&self, ids: Blocks) -> Result<Blocks, SourceError> {
        let until = ids.expiry();
        let numbers: Option<Vec<Block>> = ids.into_iter().map(|ids| self.low_bits(ids)).collect();
        let numbers = numbers.ok_or_else(|| {
            let text = format!("ids leave no room for {} memory bits", self.layout.memory_bits());
            SourceError::new(ErrorKind::Exhausted, text)
        })?;
        Ok(Blocks::from_unsorted(numbers).until(until))
    }

    fn low_bits(&self, ids: Block) -> Option<Block> {
        let first = u128::from(ids.first()) << self.layout.memory_bits();
        let count = u128::from(ids.count()) << self.layout.memory_bits();
        Block::new(u64::try_from(first).ok()?, 1, u64::try_from(count).ok()?).ok()
    }

    fn carry(&self) -> MutexGuard<'_, Carry> {
        self.carry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for Expansion {
    fn take(&self, want: u64) -> BoxFuture<'_, Result<Blocks, SourceError>> {
        if self.layout.memory_bits() == 0 {
            return self.ids.take(want);
        }
        Box::pin(self.expand(want))
    }

    fn lift(&self, floor: u64) -> BoxFuture<'_, Result<(), SourceError>> {
        self.ids.lift(floor >> self.layout.memory_bits())
    }

    fn position(&self) -> Option<u64> {
        let top = self.ids.position()?.checked_add(1)?;
        u64::try_from((u128::from(top) << self.layout.memory_bits()) - 1).ok()
    }

    fn remaining(&self) -> Option<u64> {
        self.ids.remaining().map(|ids| ids.saturating_mul(self.layout.numbers_per_id()))
    }
}

/// The lowest ids in runs of neighbours, up to `want` ids and [`BLOCKS_MAX`] runs; and the rest as it came.
fn deal(blocks: Vec<Block>, want: u64) -> (Vec<Block>, Vec<Block>) {
    let mut ids: BinaryHeap<Reverse<Block>> = blocks.into_iter().map(Reverse).collect();
    let (mut runs, mut dealt) = (Vec::<Block>::new(), 0);
    for _ in 0..STEPS_MAX {
        if dealt >= want {
            break;
        }
        let Some(Reverse(block)) = ids.pop() else { break };
        let (Some(head), tail) = block.split_at(if block.step() == 1 { want - dealt } else { 1 }) else {
            break;
        };
        let joined = runs.last().and_then(|last| neighbours(*last, head));
        if joined.is_none() && runs.len() == BLOCKS_MAX {
            ids.push(Reverse(block));
            break;
        }
        dealt += head.count();
        ids.extend(tail.map(Reverse));
        match (joined, runs.last_mut()) {
            (Some(both), Some(last)) => *last = both,
            _ => runs.extend(Block::new(head.first(), 1, head.count())),
        }
    }
    (runs, ids.into_iter().map(|Reverse(block)| block).collect())
}

fn neighbours(run: Block, next: Block) -> Option<Block> {
    let follows = run.last().checked_add(1) == Some(next.first());
    follows.then(|| Block::new(run.first(), 1, run.count() + next.count()).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::{collections::BTreeSet, collections::VecDeque, future::ready};

    /// Gives these blocks, answer by answer.
    struct Answers(Mutex<VecDeque<Vec<Block>>>);

    impl Source for Answers {
        fn take(&self, _: u64) -> BoxFuture<'_, Result<Blocks, SourceError>> {
            let answer = self.0.lock().unwrap().pop_front().map(Blocks::from_unsorted);
            Box::pin(ready(answer.ok_or_else(|| SourceError::new(ErrorKind::Exhausted, "script ended"))))
        }
    }

    fn over(answers: Vec<Vec<Block>>, n: u8, m: u8) -> Expansion {
        Expansion::new(Arc::new(Answers(Mutex::new(answers.into()))), Layout::new(n, m).unwrap())
    }

    fn block(first: u64, step: u64, count: u64) -> Block {
        Block::new(first, step, count).unwrap()
    }

    #[tokio::test]
    async fn unlevel_slots_that_interleave_become_one_block() {
        let ids = vec![block(4, 4, 3), block(5, 4, 3), block(6, 4, 3), block(7, 4, 3)];
        let blocks = over(vec![ids], 2, 4).take(12 * 16).await.unwrap();
        assert_eq!(blocks.as_slice(), [block(64, 1, 12 * 16)]);
    }

    #[tokio::test]
    async fn ids_apart_beyond_the_most_blocks_are_carried_over() {
        let expansion = over(vec![vec![block(8, 8, 3000)]], 3, 1);
        let mut seen = Vec::new();
        for expected in [1024, 1024, 952] {
            let blocks = expansion.take(6000).await.unwrap();
            assert_eq!(blocks.as_slice().len(), expected);
            seen.extend(blocks.numbers());
            expansion.carry().blocks.iter().for_each(|rest| assert_eq!(rest.step(), 8));
        }
        let expected: Vec<u64> = (1..=3000).flat_map(|raw| [raw * 16, raw * 16 + 1]).collect();
        assert_eq!(seen, expected);
        assert!(expansion.take(1).await.is_err(), "nothing is carried any more");
    }

    #[tokio::test]
    async fn without_memory_bits_everything_passes_through() {
        let ids = vec![block(4, 4, 3), block(21, 4, 3)];
        let blocks = over(vec![ids.clone()], 2, 0).take(1).await.unwrap();
        assert_eq!(blocks.as_slice(), ids);
    }

    #[tokio::test]
    async fn high_bits_are_refused_not_dropped() {
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
}
