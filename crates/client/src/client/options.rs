//! Options of a client.

use std::{sync::Arc, time::Duration};

use sequent_buffer::ReservoirConfig;
use sequent_format::Registry;
use sequent_ha::RingConfig;

use crate::{
    error::Error,
    transport::{tls::TlsOptions, token_file::TokenFile},
};

/// Interval of the expiry thread. After a suspension, old numbers may leave for so long.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// Share of a lease's age that is leased ahead: a quarter. Numbers are then used before they expire.
const RESERVE_PARTS: u32 = 4;

/// Longer than any test: leases in memory do not expire.
pub(crate) const AGELESS: Duration = Duration::from_secs(24 * 60 * 60);

/// Bounds of timeouts. Timers have a resolution of one millisecond.
const WAIT_MIN: Duration = Duration::from_millis(1);
const WAIT_MAX: Duration = Duration::from_secs(60 * 60);

/// Options of a client.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) deadline: Duration,
    pub(crate) lease_age_max: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) identity: Option<Arc<str>>,
    pub(crate) token: Option<Arc<TokenFile>>,
    pub(crate) reserve: Duration,
    pub(crate) at_risk_max: u64,
    pub(crate) health: RingConfig,
    /// Functions of templates.
    pub(crate) functions: Registry,
    pub(crate) tls: TlsOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            deadline: Duration::from_millis(1500),
            lease_age_max: Duration::from_secs(10),
            connect_timeout: Duration::from_millis(500),
            identity: None,
            token: None,
            reserve: Duration::from_secs(2),
            at_risk_max: 100_000,
            health: RingConfig::default(),
            functions: Registry::default(),
            tls: TlsOptions::default(),
        }
    }
}

impl Options {
    /// Refuses options that can't work, before the client is made.
    pub(crate) fn check(&self) -> Result<(), Error> {
        within("deadline", self.deadline, WAIT_MIN, Duration::MAX)?;
        within("lease_max_age", self.lease_age_max, TICK, AGELESS)?;
        within("connect_timeout", self.connect_timeout, WAIT_MIN, WAIT_MAX)?;
        within("attempt_timeout", self.health.attempt_timeout, WAIT_MIN, WAIT_MAX)
    }

    /// Options of a client in memory, whose leases do not expire.
    pub(crate) fn ageless() -> Self {
        Self { lease_age_max: AGELESS, ..Self::default() }
    }

    /// How long a lease of `age` may be used, counted from its request. One tick is subtracted, since old numbers
    /// leave until the next tick.
    pub(crate) fn lease_age(&self, age: Duration) -> Duration {
        let age = age.min(self.lease_age_max);
        age.saturating_sub(TICK.min(age / 2))
    }

    pub(crate) fn reservoir(&self) -> ReservoirConfig {
        let reserve = self.reserve.min(self.lease_age_max / RESERVE_PARTS);
        ReservoirConfig { reserve, at_risk_max: self.at_risk_max, ..ReservoirConfig::default() }
    }
}

fn within(field: &str, value: Duration, least: Duration, most: Duration) -> Result<(), Error> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    let bound = if most == Duration::MAX {
        format!("at least {} ms are needed", least.as_millis())
    } else {
        format!("{} to {} ms are allowed", least.as_millis(), most.as_millis())
    };
    Err(Error::field(field, format!("{} ms", value.as_secs_f64() * 1e3), bound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Client;

    /// The field and the problem for which these settings are refused.
    fn refused(settings: crate::client::builder::ClientBuilder) -> Option<(String, String)> {
        let error = settings.connect_lazily("http://127.0.0.1:1").err()?;
        assert_eq!((error.reason(), error.fields().len()), ("INVALID_ARGUMENT", 1), "{error}");
        let field = error.fields()[0].clone();
        assert_eq!(error.to_string(), format!("{} {}", field.field, field.problem));
        Some((field.field, field.problem))
    }

    #[tokio::test]
    async fn what_can_never_work_is_refused_with_field_value_and_bound() {
        const LITTLE: Duration = Duration::from_micros(900);
        let field_and_problem = |field: &str, problem: &str| Some((field.to_owned(), problem.to_owned()));
        let build = Client::builder;
        let hour = "1 to 3600000 ms are allowed";
        for (value, text) in [(Duration::ZERO, "0"), (LITTLE, "0.9"), (2 * WAIT_MAX, "7200000")] {
            let problem = format!("is {text} ms: {hour}");
            assert_eq!(
                refused(build().attempt_timeout(value)),
                field_and_problem("attempt_timeout", &problem)
            );
            assert_eq!(
                refused(build().connect_timeout(value)),
                field_and_problem("connect_timeout", &problem)
            );
        }
        assert!(refused(build().attempt_timeout(Duration::MAX)).is_some());
        let least = "is 0 ms: at least 1 ms are needed";
        assert_eq!(refused(build().deadline(Duration::ZERO)), field_and_problem("deadline", least));
        for (value, text) in
            [(Duration::ZERO, "0"), (Duration::from_millis(99), "99"), (2 * AGELESS, "172800000")]
        {
            let problem = format!("is {text} ms: 100 to 86400000 ms are allowed");
            assert_eq!(refused(build().lease_max_age(value)), field_and_problem("lease_max_age", &problem));
        }
    }

    #[tokio::test]
    async fn what_lies_on_a_bound_is_taken() {
        for wait in [WAIT_MIN, WAIT_MAX] {
            let settings = Client::builder().attempt_timeout(wait).connect_timeout(wait).deadline(wait);
            assert_eq!(refused(settings), None);
        }
        assert_eq!(refused(Client::builder().deadline(Duration::MAX)), None, "for ever");
        for age in [TICK, AGELESS] {
            assert_eq!(refused(Client::builder().lease_max_age(age)), None);
        }
    }
}
