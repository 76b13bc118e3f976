//! What can change while a server runs.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use arc_swap::ArcSwap;
use sequent_engine::config::{Config, LimitsPart};

use crate::limits::ADMIN_CONNECTIONS_MAX;

/// What a reload may change: limits here, the others by the engine. Everything else needs a restart, which is said.
const RELOADED: [&str; 4] = ["limits.", "sequence[", "auto_create", "reservoir.servers"];

/// Limits in force, read without a lock. Cheap to clone; all clones share one set.
#[derive(Debug, Clone)]
pub struct RuntimeLimits {
    limits: Arc<ArcSwap<LimitsPart>>,
    /// The connections of a door that there are file descriptors for, whatever is configured.
    fit: u64,
}

/// What a reload did about one key whose value is another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigChange {
    /// The key's path.
    pub key: String,
    /// What it was.
    pub was: String,
    /// What it is in the file now.
    pub is: String,
    /// Whether it is in force; else it needs a restart.
    pub in_force: bool,
}

impl RuntimeLimits {
    /// The limits that a server starts with.
    pub fn new(limits: &LimitsPart) -> Self {
        Self { limits: Arc::new(ArcSwap::from_pointee(limits.clone())), fit: u64::MAX }
    }

    /// The same where no door can have more connections than `fit`.
    #[must_use]
    pub fn within(self, fit: u64) -> Self {
        Self { fit, ..self }
    }

    /// Puts the limits in force, and says of each key that differs whether a reload changes it, here or in the engine
    /// ([`Engine::reload`](sequent_engine::Engine::reload), to be called first), or whether it needs a restart.
    pub fn reload(&self, was: &Config, is: &Config) -> Vec<ConfigChange> {
        self.limits.store(Arc::new(is.limits.clone()));
        changes(&values(was), &values(is))
    }

    /// How long a request may wait where its caller names no deadline, and at most.
    pub(crate) fn deadline(&self) -> Duration {
        self.limits.load().deadline
    }

    /// The most numbers of one request.
    pub(crate) fn max_count(&self) -> u64 {
        self.limits.load().max_count
    }

    /// The most numbers of one lease.
    pub(crate) fn lease_max_count(&self) -> u64 {
        self.limits.load().lease_max_count
    }

    /// Whether callers may define sequences.
    pub(crate) fn may_define(&self) -> bool {
        self.limits.load().define
    }

    /// How long the numbers of a lease may be handed out.
    pub(crate) fn lease_max_age(&self) -> Duration {
        self.limits.load().lease_max_age
    }

    /// The most connections of a door, and of one address of it. Where fewer fit than are configured, one address has
    /// the same share of them.
    pub fn connections_max(&self) -> (u64, u64) {
        let limits = self.limits.load();
        lowered((limits.connections_max, limits.connections_per_address_max), self.fit)
    }

    /// The same of the admin listener: no more than are kept for it.
    pub(crate) fn admin_connections_max(&self) -> (u64, u64) {
        lowered(self.connections_max(), ADMIN_CONNECTIONS_MAX)
    }

    /// How long a stopping server still takes requests.
    pub(crate) fn drain_delay(&self) -> Duration {
        self.limits.load().drain_delay
    }

    /// How long it then waits for requests in flight.
    pub(crate) fn drain_timeout(&self) -> Duration {
        self.limits.load().drain_timeout
    }
}

/// Connections of a door and of one address, within what fits.
fn lowered((most, most_of_one): (u64, u64), fit: u64) -> (u64, u64) {
    if most <= fit {
        return (most, most_of_one);
    }
    // Both are at most a million, and `fit` is less here.
    (fit, (most_of_one.saturating_mul(fit) / most.max(1)).max(1))
}

fn values(config: &Config) -> BTreeMap<&str, &str> {
    config.shown().iter().map(|shown| (shown.key.as_str(), shown.value.as_str())).collect()
}

fn changes(was: &BTreeMap<&str, &str>, is: &BTreeMap<&str, &str>) -> Vec<ConfigChange> {
    let keys: BTreeSet<&str> = was.keys().chain(is.keys()).copied().collect();
    let value = |of: &BTreeMap<&str, &str>, key: &str| of.get(key).map_or("none", |found| *found).to_owned();
    keys.into_iter()
        .map(|key| ConfigChange {
            key: key.to_owned(),
            was: value(was, key),
            is: value(is, key),
            in_force: RELOADED.iter().any(|reloaded| key.starts_with(reloaded)),
        })
        .filter(|change| change.was != change.is)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_engine::config::Sources;

    #[test]
    fn deadlines_change_and_the_ring_does_not() {
        let load = |sources: Sources| Config::load(&sources).unwrap();
        let was = load(Sources::embedded("nowhere"));
        let flags = [("limits.deadline_ms", "70"), ("ring.slow_limit", "9"), ("reservoir.servers", "2")];
        let flagged = |sources: Sources, (key, value): (&str, &str)| sources.flag(key, value);
        let is = load(flags.into_iter().fold(Sources::embedded("nowhere"), flagged));
        let limits = RuntimeLimits::new(&was.limits);
        let found = limits.reload(&was, &is);
        let found: Vec<_> = found.iter().map(|change| (change.key.as_str(), change.in_force)).collect();
        let expected =
            [("limits.deadline_ms", true), ("reservoir.servers", true), ("ring.slow_limit", false)];
        assert_eq!(found, expected);
        assert_eq!(limits.deadline(), Duration::from_millis(70));
    }

    #[test]
    fn connections_are_lowered_to_what_fits_and_an_address_keeps_its_share() {
        assert_eq!(lowered((10_000, 5000), u64::MAX), (10_000, 5000));
        assert_eq!(lowered((10_000, 5000), 400), (400, 200));
        assert_eq!(lowered((10_000, 10_000), 400), (400, 400), "behind a balancer");
        assert_eq!(lowered((1_000_000, 1), 400), (400, 1));
        let config = Config::load(&Sources::embedded("nowhere")).unwrap();
        let limits = RuntimeLimits::new(&config.limits).within(400);
        limits.reload(&config, &config);
        assert_eq!(limits.connections_max(), (400, 200), "after a reload too");
        assert_eq!(limits.admin_connections_max(), (ADMIN_CONNECTIONS_MAX, ADMIN_CONNECTIONS_MAX / 2));
    }
}
