//! What can change while a server runs.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use sequent_engine::config::{Config, LimitsPart};

/// What a reload may change; everything else needs a restart, which is said.
const RELOADED: [&str; 3] = ["limits.deadline_ms", "limits.drain_delay_s", "limits.drain_timeout_s"];

/// Limits in force. Cheap to clone; all clones share one set.
#[derive(Debug, Clone)]
pub struct Dials(Arc<RwLock<LimitsPart>>);

/// What a reload did about one key whose value is another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The key's path.
    pub key: String,
    /// What it was.
    pub was: String,
    /// What it is in the file now.
    pub is: String,
    /// Whether it is in force; else it needs a restart.
    pub in_force: bool,
}

impl Dials {
    /// The limits that a server starts with.
    pub fn new(limits: &LimitsPart) -> Self {
        Self(Arc::new(RwLock::new(limits.clone())))
    }

    /// Puts in force what can change, and says of every other key that differs that it needs a restart.
    pub fn reload(&self, was: &Config, is: &Config) -> Vec<Change> {
        let mut limits = self.0.write().unwrap_or_else(PoisonError::into_inner);
        limits.deadline = is.limits.deadline;
        limits.drain_delay = is.limits.drain_delay;
        limits.drain_timeout = is.limits.drain_timeout;
        drop(limits);
        changes(&values(was), &values(is))
    }

    /// How long a request may wait where its caller names no deadline, and at most.
    pub(crate) fn deadline(&self) -> Duration {
        self.read(|limits| limits.deadline)
    }

    /// The most numbers of one request.
    pub(crate) fn max_count(&self) -> u64 {
        self.read(|limits| limits.max_count)
    }

    /// How long a stopping server still takes requests.
    pub(crate) fn drain_delay(&self) -> Duration {
        self.read(|limits| limits.drain_delay)
    }

    /// How long it then waits for requests in flight.
    pub(crate) fn drain_timeout(&self) -> Duration {
        self.read(|limits| limits.drain_timeout)
    }

    fn read<T>(&self, part: impl Fn(&LimitsPart) -> T) -> T {
        part(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn values(config: &Config) -> BTreeMap<&str, &str> {
    config.shown().iter().map(|shown| (shown.key.as_str(), shown.value.as_str())).collect()
}

fn changes(was: &BTreeMap<&str, &str>, is: &BTreeMap<&str, &str>) -> Vec<Change> {
    let keys: std::collections::BTreeSet<&str> = was.keys().chain(is.keys()).copied().collect();
    let value = |of: &BTreeMap<&str, &str>, key: &str| of.get(key).map_or("none", |found| *found).to_owned();
    keys.into_iter()
        .map(|key| Change {
            key: key.to_owned(),
            was: value(was, key),
            is: value(is, key),
            in_force: RELOADED.contains(&key),
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
        let is =
            load(Sources::embedded("nowhere").flag("limits.deadline_ms", "70").flag("ring.slow_limit", "9"));
        let dials = Dials::new(&was.limits);
        let found = dials.reload(&was, &is);
        let found: Vec<_> = found.iter().map(|change| (change.key.as_str(), change.in_force)).collect();
        assert_eq!(found, [("limits.deadline_ms", true), ("ring.slow_limit", false)]);
        assert_eq!(dials.deadline(), Duration::from_millis(70));
    }
}
