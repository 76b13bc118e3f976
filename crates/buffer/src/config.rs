//! Size limits of a reservoir, and what all reservoirs of a process share.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sequent_core::{BoxFuture, Env};

/// Spawns a refill as a task of its own, so that no caller's cancellation reaches it. It must not run the future in
/// place.
pub type Spawner = Arc<dyn Fn(BoxFuture<'static, ()>) + Send + Sync>;

/// How far ahead of demand a reservoir is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReservoirConfig {
    /// Hold enough numbers for this long (default 10 s), and for the duration of one refill.
    pub reserve: Duration,
    /// Never hold more numbers than this (default 1,000,000). A crash discards what is held.
    pub at_risk_max: u64,
    /// Hold at least this many (default 64) once a second take has shown demand.
    pub floor: u64,
}

impl Default for ReservoirConfig {
    fn default() -> Self {
        Self { reserve: Duration::from_secs(10), at_risk_max: 1_000_000, floor: 64 }
    }
}

/// In drain mode a reservoir holds enough for this long.
const DRAIN_RESERVE: Duration = Duration::from_millis(200);

/// In drain mode `at_risk_max` is divided by this.
const DRAIN_AT_RISK_DIVISOR: u64 = 16;

/// What all reservoirs of a process share.
#[derive(Clone)]
pub struct ReservoirContext {
    /// How much each reservoir holds.
    pub config: ReservoirConfig,
    /// Whether they are in [drain mode](Self::enter_drain_mode).
    pub drain_mode: Arc<AtomicBool>,
    /// Clock and events.
    pub env: Env,
    /// Where refills run.
    pub spawn: Spawner,
}

impl ReservoirContext {
    /// Puts all reservoirs that share this context into drain mode: they use up what they hold, and prefetch little.
    ///
    /// A process that ends soon, and is still asked until then, discards fewer numbers at its end.
    pub fn enter_drain_mode(&self) {
        self.drain_mode.store(true, Ordering::Relaxed);
    }

    /// The limits in force now: those of the configuration, or the smaller ones of drain mode.
    pub(crate) fn effective_config(&self) -> ReservoirConfig {
        let config = self.config;
        if !self.drain_mode.load(Ordering::Relaxed) {
            return config;
        }
        ReservoirConfig {
            reserve: config.reserve.min(DRAIN_RESERVE),
            at_risk_max: (config.at_risk_max / DRAIN_AT_RISK_DIVISOR).max(1),
            floor: 0,
        }
    }
}

impl fmt::Debug for ReservoirContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReservoirContext").field("config", &self.config).finish_non_exhaustive()
    }
}
