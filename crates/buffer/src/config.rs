//! How much a reservoir holds, and the ground it stands on.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sequent_core::{BoxFuture, Env};

/// Runs refills in a task of their own, where no caller's cancellation reaches them. Must not run them in place.
pub type Spawner = Arc<dyn Fn(BoxFuture<'static, ()>) + Send + Sync>;

/// How far ahead of demand a reservoir is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReservoirConfig {
    /// Hold enough for this long (default 10 s), and for one refill besides.
    pub reserve: Duration,
    /// Never hold more numbers than this (default 1,000,000): what a crash may burn.
    pub at_risk_max: u64,
    /// Hold at least this many (default 64) once a second take has shown demand.
    pub floor: u64,
}

impl Default for ReservoirConfig {
    fn default() -> Self {
        Self { reserve: Duration::from_secs(10), at_risk_max: 1_000_000, floor: 64 }
    }
}

/// What a reservoir that ebbs holds: enough for this long, and one part in so many of what may be at risk.
const EBB_RESERVE: Duration = Duration::from_millis(200);
const EBB_PARTS: u64 = 16;

/// What all reservoirs of a process share.
#[derive(Clone)]
pub struct Setting {
    /// How much each holds.
    pub config: ReservoirConfig,
    /// Whether they [ebb](Self::ebb).
    pub ebbs: Arc<AtomicBool>,
    /// Clock and events.
    pub env: Env,
    /// Where refills run.
    pub spawn: Spawner,
}

impl Setting {
    /// For all reservoirs that share it: what is ready is used up, and little is asked for ahead from now on. For a
    /// process that will end soon and is still asked, so that less is burnt then.
    pub fn ebb(&self) {
        self.ebbs.store(true, Ordering::Relaxed);
    }

    /// How much each holds now.
    pub(crate) fn in_force(&self) -> ReservoirConfig {
        let config = self.config;
        if !self.ebbs.load(Ordering::Relaxed) {
            return config;
        }
        ReservoirConfig {
            reserve: config.reserve.min(EBB_RESERVE),
            at_risk_max: (config.at_risk_max / EBB_PARTS).max(1),
            floor: 0,
        }
    }
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setting").field("config", &self.config).finish_non_exhaustive()
    }
}
