//! Bit expansion: each encoded id becomes 2^m consecutive numbers.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::{Arc, Mutex},
    time::Instant,
};

use sequent_core::{BLOCKS_MAX, Block, Blocks, ErrorKind, Layout, Reply, Source, SourceError, sync};

#[cfg(test)]
mod tests;

/// Bounds the work of one take, whatever the ring's width and the number of ids wanted.
const STEPS_MAX: usize = 64 * BLOCKS_MAX;

/// Turns a source of encoded ids (`raw << n | slot`) into a source of encoded numbers (`id << m | low`).
///
/// Contiguous ids stay one block; separate ids become a block each. One take returns at most [`BLOCKS_MAX`] blocks, and
/// ids beyond them are kept for the next take. With m = 0 everything passes through.
///
/// ```
/// use std::sync::Arc;
/// use sequent_buffer::BitExpansion;
/// use sequent_core::{Layout, Source};
/// use sequent_testkit::ScriptedSource;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let ids = Arc::new(ScriptedSource::giving().above(1));       // 2, 3, 4, …
/// let numbers = BitExpansion::new(ids.clone(), Layout::new(0, 3).unwrap());
/// let blocks = numbers.take(10).await.unwrap();
/// assert_eq!((blocks.as_slice()[0].first(), blocks.count()), (16, 16));
/// assert_eq!(ids.wants(), [2], "two ids make sixteen numbers");
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct BitExpansion {
    ids: Arc<dyn Source>,
    layout: Layout,
    leftover: Mutex<Leftover>,
}

/// Ids that were taken and did not fit into the answer.
#[derive(Debug, Default)]
struct Leftover {
    blocks: Vec<Block>,
    expires_at: Option<Instant>,
}

impl Leftover {
    /// How many ids to ask for. Zero if the leftover fills an answer by itself, so that it cannot grow with each take.
    fn missing(&self, wanted: u64) -> u64 {
        let carried: u64 = self.blocks.iter().map(Block::count).sum();
        if self.blocks.len() >= BLOCKS_MAX { 0 } else { wanted.saturating_sub(carried) }
    }

    /// Adds ids. The earliest expiry time applies to all of them.
    fn add(&mut self, ids: Blocks) {
        self.expires_at = self.expires_at.into_iter().chain(ids.expiry()).min();
        self.blocks.extend(ids);
    }

    /// Removes the lowest ids, up to `wanted`.
    fn take(&mut self, wanted: u64) -> Blocks {
        let expires_at = self.expires_at;
        let (runs, rest) = split_lowest(std::mem::take(&mut self.blocks), wanted);
        self.expires_at = expires_at.filter(|_| !rest.is_empty());
        self.blocks = rest;
        Blocks::from_unsorted(runs).until(expires_at)
    }
}

impl std::fmt::Debug for BitExpansion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BitExpansion").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl BitExpansion {
    /// Expands each id of `ids` into the 2^m numbers of `layout`.
    pub fn new(ids: Arc<dyn Source>, layout: Layout) -> Self {
        Self { ids, layout, leftover: Mutex::default() }
    }

    async fn expand(&self, want: u64) -> Result<Blocks, SourceError> {
        let wanted = want.max(1).div_ceil(self.layout.numbers_per_id());
        let missing = match self.take_leftover(wanted) {
            Ok(ids) => return self.numbers(ids),
            Err(missing) => missing,
        };
        let outcome = self.ids.take(missing).await;
        let ids = {
            let mut leftover = sync::lock(&self.leftover);
            match outcome {
                Ok(ids) => leftover.add(ids),
                // The leftover can still be given, and must be if the source is at its end.
                Err(error) if leftover.blocks.is_empty() => return Err(error),
                Err(_) => {}
            }
            leftover.take(wanted)
        };
        self.numbers(ids)
    }

    /// The answer from the leftover alone, or how many ids are missing.
    fn take_leftover(&self, wanted: u64) -> Result<Blocks, u64> {
        let mut leftover = sync::lock(&self.leftover);
        match leftover.missing(wanted) {
            0 => Ok(leftover.take(wanted)),
            missing => Err(missing),
        }
    }

    fn numbers(&self, ids: Blocks) -> Result<Blocks, SourceError> {
        let expires_at = ids.expiry();
        let numbers: Option<Vec<Block>> = ids.into_iter().map(|ids| self.add_low_bits(ids)).collect();
        let numbers = numbers.ok_or_else(|| {
            let text = format!("ids leave no room for {} memory bits", self.layout.memory_bits());
            SourceError::new(ErrorKind::Exhausted, text)
        })?;
        Ok(Blocks::from_unsorted(numbers).until(expires_at))
    }

    fn add_low_bits(&self, ids: Block) -> Option<Block> {
        let first = u128::from(ids.first()) << self.layout.memory_bits();
        let count = u128::from(ids.count()) << self.layout.memory_bits();
        Block::new(u64::try_from(first).ok()?, 1, u64::try_from(count).ok()?).ok()
    }
}

impl Source for BitExpansion {
    fn take(&self, want: u64) -> Reply<'_, Blocks> {
        if self.layout.memory_bits() == 0 {
            return self.ids.take(want);
        }
        Box::pin(self.expand(want))
    }

    fn lift(&self, floor: u64) -> Reply<'_, ()> {
        self.ids.lift(floor >> self.layout.memory_bits())
    }

    fn position(&self) -> Option<u64> {
        let top = self.ids.position()?.checked_add(1)?;
        u64::try_from((u128::from(top) << self.layout.memory_bits()) - 1).ok()
    }

    fn remaining(&self) -> Option<u64> {
        self.ids.remaining().map(|ids| ids.saturating_mul(self.layout.numbers_per_id()))
    }

    fn remaining_up_to(&self, limit: u64) -> Option<u64> {
        let (per_id, last) = (self.layout.numbers_per_id(), limit >> self.layout.memory_bits());
        let ids = self.ids.remaining_up_to(last)?;
        let before_last = last.checked_sub(1).map_or(Some(0), |before| self.ids.remaining_up_to(before))?;
        // Of the last id, some numbers may be above the limit.
        let beyond = if ids > before_last { per_id - 1 - limit % per_id } else { 0 };
        let carried: u64 = sync::lock(&self.leftover).blocks.iter().map(Block::count).sum();
        Some(ids.saturating_add(carried).saturating_mul(per_id).saturating_sub(beyond))
    }
}

/// The lowest ids as runs of consecutive ids, up to `want` ids and [`BLOCKS_MAX`] runs; and the rest unchanged.
fn split_lowest(blocks: Vec<Block>, want: u64) -> (Vec<Block>, Vec<Block>) {
    let mut ids: BinaryHeap<Reverse<Block>> = blocks.into_iter().map(Reverse).collect();
    let (mut runs, mut taken) = (Vec::<Block>::new(), 0);
    for _ in 0..STEPS_MAX {
        if taken >= want {
            break;
        }
        let Some(Reverse(block)) = ids.pop() else { break };
        let (Some(head), tail) = block.split_at(if block.step() == 1 { want - taken } else { 1 }) else {
            break;
        };
        let joined = runs.last().and_then(|last| join_consecutive(*last, head));
        if joined.is_none() && runs.len() == BLOCKS_MAX {
            ids.push(Reverse(block));
            break;
        }
        taken += head.count();
        ids.extend(tail.map(Reverse));
        match (joined, runs.last_mut()) {
            (Some(both), Some(last)) => *last = both,
            _ => runs.extend(Block::new(head.first(), 1, head.count())),
        }
    }
    (runs, ids.into_iter().map(|Reverse(block)| block).collect())
}

fn join_consecutive(run: Block, next: Block) -> Option<Block> {
    let follows = run.last().checked_add(1) == Some(next.first());
    follows.then(|| Block::new(run.first(), 1, run.count() + next.count()).ok()).flatten()
}
