//! A principal: what it may do, its quotas and its counters.

use std::{sync::Arc, time::Duration};

use sequent_engine::config::{PrincipalPart, Verb};
use serde_json::{Value, json};

use crate::{
    auth::{quota::Quotas, refusal::denied},
    error::ApiError,
    telemetry::auth_metrics::PrincipalMetrics,
};

/// A principal.
pub(crate) struct Principal {
    pub(super) part: PrincipalPart,
    /// Whether it is nobody in particular.
    is_everyone: bool,
    pub(super) quotas: Quotas,
    pub(super) metrics: PrincipalMetrics,
}

impl Principal {
    /// A principal of the configuration, with what its predecessor has used until now.
    pub(super) fn new(
        part: &PrincipalPart,
        metrics: PrincipalMetrics,
        (before, now): (Option<&Arc<Self>>, Duration),
    ) -> Self {
        let quotas = Quotas::new(&part.quotas);
        let quotas = match before {
            Some(before) => quotas.following(&before.quotas, now),
            None => quotas,
        };
        Self { part: part.clone(), is_everyone: false, quotas, metrics }
    }

    /// All callers while `auth.mode` is off. Numbers that a key hides are revealed on loopback alone.
    pub(super) fn everyone(is_loopback: bool) -> Self {
        let part = PrincipalPart::everyone(is_loopback);
        Self { quotas: Quotas::new(&part.quotas), part, is_everyone: true, metrics: PrincipalMetrics::none() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.part.name
    }

    /// The name of a principal that was identified.
    pub(super) fn known(&self) -> Option<&str> {
        (!self.is_everyone).then(|| self.name())
    }

    /// Whether it may do something with a sequence. A request without a sequence has the empty name.
    pub(crate) fn may(&self, verb: Verb, name: &str) -> bool {
        self.part.may(verb, name)
    }

    /// Refuses what it may not do.
    pub(crate) fn authorize(&self, verb: Verb, name: &str) -> Result<(), ApiError> {
        // A list has no name: it has the sequences that may be listed.
        let may = if verb == Verb::List { self.part.allow.has_any(verb) } else { self.may(verb, name) };
        if may { Ok(()) } else { Err(denied(self.name(), Some(verb), name)) }
    }

    /// A number that is ready, if the quotas have room for it. `elapsed` is only asked if something is counted.
    pub(super) fn ready<T>(
        &self,
        elapsed: impl FnOnce() -> Duration,
        take: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        let found = if self.quotas.has_rates() { self.quotas.take_ready(elapsed(), take) } else { take() };
        found.inspect(|_| self.metrics.ready(1))
    }

    pub(super) fn measure(&self, now: Duration) {
        self.quotas.shown(now).into_iter().for_each(|(quota, _, used)| self.metrics.used(quota, used));
    }

    pub(super) fn report(&self, now: Duration, wall_ms: u64) -> Value {
        let quota =
            |(quota, limit, used): (&str, u64, f64)| json!({ "quota": quota, "limit": limit, "used": used });
        let quotas: Vec<Value> = self.quotas.shown(now).into_iter().map(quota).collect();
        json!({
            "name": self.name(),
            "tokens": self.part.tokens.len(),
            "expires": self.part.expires.map(|expires| expires.to_string()),
            "expired": self.part.is_expired(wall_ms),
            "quotas": quotas,
        })
    }
}
