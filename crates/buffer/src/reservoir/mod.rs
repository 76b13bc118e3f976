//! The reservoir: prefetched numbers of one key, taken without a lock while any are ready.

pub(crate) mod local_handle;
pub(crate) mod next;
mod take;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sequent_core::{Block, Blocks, Env, Source};

use self::{next::Next, take::Take};
use crate::{
    config::{ReservoirConfig, ReservoirContext, Spawner},
    discard_reason::CLOSED,
    error::TakeError,
    fast_path::ticket_counter::MissedDraw,
    locked::{Locked, block_queue},
    shared::Shared,
    stats::Stats,
};

/// Blocks that an idle reservoir keeps when it is trimmed.
const KEEP_BLOCKS: usize = 4;

/// Numbers of one key, refilled ahead of demand. Cheap to clone; all clones share one reserve.
///
/// ```
/// use std::sync::Arc;
/// use sequent_buffer::{Reservoir, ReservoirConfig, Spawner};
/// use sequent_core::{Block, Blocks, Reply, Env, Source, SourceError};
/// # use std::sync::atomic::{AtomicU64, Ordering};
/// # struct Counter(AtomicU64);
/// # impl Source for Counter {
/// #     fn take(&self, want: u64) -> Reply<'_, Blocks> {
/// #         let first = self.0.fetch_add(want, Ordering::Relaxed) + 1;
/// #         Box::pin(std::future::ready(Block::new(first, 1, want).map(Blocks::from).map_err(SourceError::exhausted)))
/// #     }
/// # }
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let spawn: Spawner = Arc::new(|refill| drop(tokio::spawn(refill)));
/// let counter = Arc::new(Counter(AtomicU64::new(0)));
/// let reservoir = Reservoir::new(counter, ReservoirConfig::default(), Env::default(), spawn);
/// assert_eq!(reservoir.try_next(), None, "empty at first; a refill was started");
/// assert_eq!(reservoir.next(None).await.unwrap(), 1);
/// assert_eq!(reservoir.take(3, None).await.unwrap().numbers().collect::<Vec<_>>(), [2, 3, 4]);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Reservoir {
    shared: Arc<Shared>,
}

/// A [draw](Reservoir::draw) that found no number ready. Dropping it may lose a number.
#[derive(Debug)]
#[must_use = "it may own a number"]
pub struct Empty(MissedDraw);

impl Reservoir {
    /// An empty reservoir over `source`. Nothing is asked for before the first take.
    pub fn new(source: Arc<dyn Source>, config: ReservoirConfig, env: Env, spawn: Spawner) -> Self {
        let context = ReservoirContext { config, drain_mode: Arc::default(), env, spawn };
        Self::with_context(source, Arc::new(context))
    }

    /// The same, sharing one [`ReservoirContext`] with the reservoirs of other keys.
    pub fn with_context(source: Arc<dyn Source>, context: Arc<ReservoirContext>) -> Self {
        Self { shared: Shared::new(source, context) }
    }

    /// A number that is ready, or `None`: never waits. If none is ready, a refill is started.
    #[inline]
    pub fn try_next(&self) -> Option<u64> {
        match self.shared.tickets.draw() {
            Ok(number) => Some(number),
            Err(miss) => Locked::lock(&self.shared).take_one(miss),
        }
    }

    /// At most `most` numbers that are ready, in one block, or `None`: never waits. It takes what the open range has, and
    /// one number of a new range. If none is ready, a refill is started.
    pub fn try_take(&self, most: u64) -> Option<Block> {
        let drawn = self.shared.tickets.draw_many(most);
        let overtaken = |miss| Locked::lock(&self.shared).take_overtaken(miss);
        drawn.or_else(|miss| overtaken(miss).ok_or(())).ok().or_else(|| {
            let number = self.try_next()?;
            Block::new(number, 1, 1).ok()
        })
    }

    /// One number, waiting up to `deadline` if none is ready. Otherwise the future is ready at its first poll.
    #[inline]
    pub fn next(&self, deadline: Option<Instant>) -> Next<'_> {
        Next::new(&self.shared, deadline)
    }

    /// `count` numbers or none, ascending. A future that is dropped while it waits takes nothing.
    pub async fn take(&self, count: u64, deadline: Option<Instant>) -> Result<Blocks, TakeError> {
        if count == 0 {
            return Ok(Blocks::default());
        }
        Ok(block_queue::into_blocks(self.take_blocks(count, None, deadline).await?))
    }

    /// A number that is ready, or what to [`wait`](Self::wait) with. A caller that never waits uses
    /// [`try_next`](Self::try_next).
    #[inline]
    pub fn draw(&self) -> Result<u64, Empty> {
        self.shared.tickets.draw().map_err(Empty)
    }

    /// Continues after an empty draw without waiting, like [`try_next`](Self::try_next).
    #[allow(clippy::needless_pass_by_value, reason = "the tickets of a draw are resolved once")]
    pub fn resolve(&self, empty: Empty) -> Option<u64> {
        Locked::lock(&self.shared).take_one(empty.0)
    }

    /// Continues after an empty draw: one number, waiting up to `deadline`.
    pub async fn wait(&self, empty: Empty, deadline: Option<Instant>) -> Result<u64, TakeError> {
        let blocks = self.take_blocks(1, Some(empty.0), deadline).await?;
        blocks.first().map(|block| block.numbers.first()).ok_or(TakeError::Closed)
    }

    /// Waits until `count` numbers are held, and takes none of them.
    pub async fn prefetch(&self, count: u64, deadline: Option<Instant>) -> Result<(), TakeError> {
        let blocks = self.take_blocks(count.max(1), None, deadline).await?;
        Locked::lock(&self.shared).restore(blocks);
        Ok(())
    }

    fn take_blocks(&self, count: u64, miss: Option<MissedDraw>, deadline: Option<Instant>) -> Take<'_> {
        Take { shared: &self.shared, count, miss, deadline, waiting: None }
    }

    /// Closes the reservoir: waiting callers fail with [`TakeError::Closed`], what is left is discarded, and later calls
    /// fail.
    pub fn close(&self) {
        self.close_because(CLOSED);
    }

    /// The same, with the reason for which the rest is discarded.
    pub fn close_because(&self, why: &'static str) {
        Locked::lock(&self.shared).close(why);
    }

    /// Discards expired numbers, those of the open range included. To be called by a ticker, so that no expired number
    /// leaves.
    pub fn expire(&self) {
        let mut locked = Locked::lock(&self.shared);
        locked.expire();
        locked.finish();
    }

    /// Discards expired numbers like [`expire`](Self::expire), but refills only if something has been taken within
    /// `active_within`. Otherwise expiring numbers of an unused key would be fetched again and again.
    pub fn expire_and_refill_if_active(&self, active_within: Duration) {
        Locked::lock(&self.shared).expire_and_refill_if_active(active_within);
    }

    /// Forgets all that it holds without counting it as discarded. For a forked copy, whose numbers the other process
    /// goes on with.
    pub fn forget_all(&self) {
        Locked::lock(&self.shared).forget_all();
    }

    /// Frees memory if nothing has been taken for `reserve`: all but a few blocks are discarded.
    ///
    /// Returns how long the reservoir has been idle, so that its owner can drop it.
    pub fn trim(&self) -> Duration {
        Locked::lock(&self.shared).trim(KEEP_BLOCKS)
    }

    /// Reserve, counts and rates.
    pub fn stats(&self) -> Stats {
        Locked::lock(&self.shared).stats()
    }

    #[inline]
    fn shared(&self) -> &Shared {
        &self.shared
    }
}
