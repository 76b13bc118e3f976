//! Limits of the configuration that can change while a server runs.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use arc_swap::{ArcSwap, Guard};
use sequent_engine::config::{Config, LimitsSection};

use crate::limits::ADMIN_CONNECTIONS_MAX;

/// Keys that a reload changes: `limits.` here, principals in `auth`, `tls.` in [`ServerTls`](crate::ServerTls), the others
/// in the engine. Any other key needs a restart, and the reload reports that.
const RELOADED: [&str; 7] =
    ["limits.", "auth.", PRINCIPAL, "sequence[", "auto_create", "reservoir.servers", "tls."];

/// What the keys of principals begin with.
const PRINCIPAL: &str = "principal[";

/// Limits in force, read without a lock. Cheap to clone; all clones share them.
#[derive(Debug, Clone)]
pub struct RuntimeLimits {
    limits: Arc<ArcSwap<LimitsSection>>,
    /// Connections per listener that the file descriptors allow, whatever is configured.
    fit: u64,
}

/// What a reload did about one changed key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigChange {
    /// Path of the key.
    pub key: String,
    /// Old value.
    pub was: String,
    /// New value.
    pub is: String,
    /// Whether the new value is in force. Otherwise it needs a restart.
    pub in_force: bool,
}

impl RuntimeLimits {
    /// The limits at the start of a server.
    pub fn new(limits: &LimitsSection) -> Self {
        Self { limits: Arc::new(ArcSwap::from_pointee(limits.clone())), fit: u64::MAX }
    }

    /// The same limits with at most `fit` connections per listener.
    #[must_use]
    pub fn within(self, fit: u64) -> Self {
        Self { fit, ..self }
    }

    /// Puts the new limits in force. Returns every changed key, and whether a reload changes it or a restart is
    /// needed.
    ///
    /// Call [`Engine::reload`](sequent_engine::Engine::reload) first: the result covers the keys of the engine, too.
    pub fn reload(&self, was: &Config, is: &Config) -> Vec<ConfigChange> {
        self.limits.store(Arc::new(is.limits.clone()));
        changes(was, is)
    }

    /// The limits in force.
    pub(crate) fn current(&self) -> Guard<Arc<LimitsSection>> {
        self.limits.load()
    }

    /// Limits on connections of a listener: in total, and per address. If the total is lowered to what fits, the
    /// limit per address is lowered in proportion.
    pub fn connections_max(&self) -> (u64, u64) {
        let limits = self.limits.load();
        lowered((limits.connections_max, limits.connections_per_address_max), self.fit)
    }

    /// The same for the admin listener, which has at most [`ADMIN_CONNECTIONS_MAX`].
    pub(crate) fn admin_connections_max(&self) -> (u64, u64) {
        lowered(self.connections_max(), ADMIN_CONNECTIONS_MAX)
    }
}

/// Limits on connections in total and per address, lowered to what fits.
fn lowered((most, most_of_one): (u64, u64), fit: u64) -> (u64, u64) {
    if most <= fit {
        return (most, most_of_one);
    }
    // Both factors are at most a million, so the product fits.
    (fit, (most_of_one.saturating_mul(fit) / most.max(1)).max(1))
}

/// What differs in the principals of two configurations.
pub fn principal_changes(was: &Config, is: &Config) -> Vec<ConfigChange> {
    let mut changes = changes(was, is);
    changes.retain(|change| change.key.starts_with(PRINCIPAL) || change.key.starts_with("auth."));
    changes
}

/// The values of a configuration. A principal has its name in the place of its position, which others change.
fn values(config: &Config) -> BTreeMap<String, &str> {
    let named = |key: &str| {
        let (position, field) = key.strip_prefix(PRINCIPAL)?.split_once(']')?;
        let principal = config.principals.get(position.parse::<usize>().ok()?)?;
        Some(format!("{PRINCIPAL}{}]{field}", principal.name))
    };
    let shown = config.shown().iter();
    shown
        .map(|shown| (named(&shown.key).unwrap_or_else(|| shown.key.clone()), shown.value.as_str()))
        .collect()
}

/// The keys of the tokens of principals in both configurations that differ: their values are not shown.
fn changed_tokens(was: &Config, is: &Config) -> BTreeSet<String> {
    let before: BTreeMap<_, _> = was.principals.iter().map(|part| (&part.name, &part.tokens)).collect();
    let differ = is
        .principals
        .iter()
        .filter(|part| before.get(&part.name).is_some_and(|tokens| **tokens != part.tokens));
    differ.map(|part| format!("{PRINCIPAL}{}].token_sha256", part.name)).collect()
}

fn changes(was: &Config, is: &Config) -> Vec<ConfigChange> {
    let (old, new, tokens) = (values(was), values(is), changed_tokens(was, is));
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let value =
        |of: &BTreeMap<String, &str>, key: &String| of.get(key).map_or("none", |found| *found).to_owned();
    keys.into_iter()
        .map(|key| ConfigChange {
            key: key.clone(),
            was: value(&old, key),
            is: value(&new, key),
            in_force: RELOADED.iter().any(|reloaded| key.starts_with(reloaded)),
        })
        .filter(|change| change.was != change.is || tokens.contains(&change.key))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_engine::config::Sources;
    use std::time::Duration;

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
        assert_eq!(limits.current().deadline, Duration::from_millis(70));
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
        assert_eq!(limits.connections_max(), (400, 100), "after a reload too");
        assert_eq!(limits.admin_connections_max(), (ADMIN_CONNECTIONS_MAX, ADMIN_CONNECTIONS_MAX / 4));
    }
}
