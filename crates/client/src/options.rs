//! What a user may set.

use std::{sync::Arc, time::Duration};

use sequent_buffer::ReservoirConfig;
use sequent_ha::RingConfig;

/// How long old numbers may leave after a suspension: the time between two looks at the clock.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// The part of a lease's age that is held ahead: what is leased later is used before it ages.
const RESERVE_PARTS: u32 = 4;

/// Longer than any test: what is as good as never.
pub(crate) const AGELESS: Duration = Duration::from_secs(24 * 60 * 60);

/// A client's settings; the default is the design's.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) deadline: Duration,
    pub(crate) lease_age_max: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) identity: Option<Arc<str>>,
    pub(crate) reserve: Duration,
    pub(crate) at_risk_max: u64,
    pub(crate) health: RingConfig,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            deadline: Duration::from_millis(1500),
            lease_age_max: Duration::from_secs(10),
            connect_timeout: Duration::from_millis(500),
            identity: None,
            reserve: Duration::from_secs(2),
            at_risk_max: 100_000,
            health: RingConfig::default(),
        }
    }
}

impl Options {
    /// Where nothing ages, as in memory.
    pub(crate) fn ageless() -> Self {
        Self { lease_age_max: AGELESS, ..Self::default() }
    }

    /// How long a lease of `age` may be handed out from the moment it was asked for. Old numbers leave until the next
    /// tick, so a tick is kept back.
    pub(crate) fn lease_age(&self, age: Duration) -> Duration {
        let age = age.min(self.lease_age_max);
        age.saturating_sub(TICK.min(age / 2))
    }

    pub(crate) fn reservoir(&self) -> ReservoirConfig {
        let reserve = self.reserve.min(self.lease_age_max / RESERVE_PARTS);
        ReservoirConfig { reserve, at_risk_max: self.at_risk_max, ..ReservoirConfig::default() }
    }
}
