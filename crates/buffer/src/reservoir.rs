//! Numbers ready in memory: taking one is a synchronous, lock-free path.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sequent_core::{Blocks, Env, Source};

use crate::{
    burnt::CLOSED,
    config::{ReservoirConfig, Setting, Spawner},
    error::TakeError,
    gate::Miss,
    inner::Inner,
    local::Local,
    next::Next,
    stats::Stats,
    stock,
    turn::Turn,
    wait::Many,
};

/// Blocks that an idle reservoir keeps; what is beyond them is burnt.
const KEEP_BLOCKS: usize = 4;

/// Numbers of one key, filled ahead of demand. Cheap to clone; all clones share one reserve.
///
/// ```
/// use std::sync::Arc;
/// use sequent_buffer::{Reservoir, ReservoirConfig, Spawner};
/// use sequent_core::{Block, Blocks, BoxFuture, Env, Source, SourceError};
/// # use std::sync::atomic::{AtomicU64, Ordering};
/// # struct Counter(AtomicU64);
/// # impl Source for Counter {
/// #     fn take(&self, want: u64) -> BoxFuture<'_, Result<Blocks, SourceError>> {
/// #         let first = self.0.fetch_add(want, Ordering::Relaxed) + 1;
/// #         Box::pin(std::future::ready(Block::new(first, 1, want).map(Blocks::from).map_err(SourceError::exhausted)))
/// #     }
/// # }
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let spawn: Spawner = Arc::new(|refill| drop(tokio::spawn(refill)));
/// let counter = Arc::new(Counter(AtomicU64::new(0)));
/// let reservoir = Reservoir::new(counter, ReservoirConfig::default(), Env::default(), spawn);
/// assert_eq!(reservoir.try_next(), None, "dry at first; the refill is on its way");
/// assert_eq!(reservoir.next(None).await.unwrap(), 1);
/// assert_eq!(reservoir.take(3, None).await.unwrap().numbers().collect::<Vec<_>>(), [2, 3, 4]);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Reservoir {
    inner: Arc<Inner>,
}

/// A draw that found nothing at once; see [`Reservoir::draw`]. Dropped, it may burn a number.
#[derive(Debug)]
#[must_use = "a number may be behind it"]
pub struct Dry(Miss);

impl Reservoir {
    /// A dry reservoir over `source`: nothing is asked for before the first take.
    pub fn new(source: Arc<dyn Source>, config: ReservoirConfig, env: Env, spawn: Spawner) -> Self {
        Self::within(source, Arc::new(Setting { config, ebbs: Arc::default(), env, spawn }))
    }

    /// The same, sharing one [`Setting`] with the reservoirs of other keys.
    pub fn within(source: Arc<dyn Source>, setting: Arc<Setting>) -> Self {
        Self { inner: Inner::new(source, setting) }
    }

    /// A number that is ready, or `None`: never waits. Finding nothing, it begins a refill.
    #[inline]
    pub fn try_next(&self) -> Option<u64> {
        match self.inner.gate.draw() {
            Ok(number) => Some(number),
            Err(miss) => Turn::begin(&self.inner).single(miss),
        }
    }

    /// One number, waiting up to `deadline` where the reservoir is dry. Ready at the first poll where it is not.
    #[inline]
    pub fn next(&self, deadline: Option<Instant>) -> Next<'_> {
        Next::new(&self.inner, deadline)
    }

    /// `count` numbers or none, ascending. Dropped while it waits, it takes nothing.
    pub async fn take(&self, count: u64, deadline: Option<Instant>) -> Result<Blocks, TakeError> {
        if count == 0 {
            return Ok(Blocks::default());
        }
        Ok(stock::blocks(self.many(count, None, deadline).await?))
    }

    /// A number that is ready; or what to [`wait`](Self::wait) with. Where nobody waits, [`try_next`](Self::try_next).
    #[inline]
    pub fn draw(&self) -> Result<u64, Dry> {
        self.inner.gate.draw().map_err(Dry)
    }

    /// Goes on from a draw that found nothing, without waiting: what [`try_next`](Self::try_next) does.
    #[allow(clippy::needless_pass_by_value, reason = "what is behind a draw is asked for once")]
    pub fn settle(&self, dry: Dry) -> Option<u64> {
        Turn::begin(&self.inner).single(dry.0)
    }

    /// Goes on from a draw that found nothing: one number, waiting up to `deadline`.
    pub async fn wait(&self, dry: Dry, deadline: Option<Instant>) -> Result<u64, TakeError> {
        let lots = self.many(1, Some(dry.0), deadline).await?;
        lots.first().map(|lot| lot.block.first()).ok_or(TakeError::Closed)
    }

    /// Waits until `count` numbers are held, and takes none of them.
    pub async fn ready(&self, count: u64, deadline: Option<Instant>) -> Result<(), TakeError> {
        let lots = self.many(count.max(1), None, deadline).await?;
        Turn::begin(&self.inner).restore(lots);
        Ok(())
    }

    fn many(&self, count: u64, miss: Option<Miss>, deadline: Option<Instant>) -> Many<'_> {
        Many { inner: &self.inner, count, miss, deadline, place: None }
    }

    /// A handle of its own for one thread, a few times faster than a shared one.
    pub fn local(&self) -> Local {
        Local::new(self.clone())
    }

    /// Ends it: waiting callers fail with [`TakeError::Closed`], what is left is burnt, later calls fail.
    pub fn close(&self) {
        self.close_because(CLOSED);
    }

    /// The same, saying why what is left is burnt.
    pub fn close_because(&self, why: &'static str) {
        Turn::begin(&self.inner).close(why);
    }

    /// Drops what has aged, also the open range: for a ticker that must not let old numbers leave.
    pub fn expire(&self) {
        let mut turn = Turn::begin(&self.inner);
        turn.expire();
        turn.finish();
    }

    /// Drops what has aged, as [`expire`](Self::expire) does, but asks for more only where something has been taken within
    /// `busy`: what ages would otherwise be fetched again and again for a key that nobody uses.
    pub fn age(&self, busy: Duration) {
        Turn::begin(&self.inner).age(busy);
    }

    /// Forgets all that it holds, and counts none of it as burnt: for a copy of it that another process goes on with.
    pub fn disown(&self) {
        Turn::begin(&self.inner).disown();
    }

    /// Gives memory back, if nothing has been taken for `reserve`: all but a few blocks are burnt.
    /// Returns for how long it has been idle, so that its owner can drop it whole.
    pub fn trim(&self) -> Duration {
        Turn::begin(&self.inner).trim(KEEP_BLOCKS)
    }

    /// What it holds, has done and expects.
    pub fn stats(&self) -> Stats {
        Turn::begin(&self.inner).stats()
    }

    #[inline]
    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }
}
