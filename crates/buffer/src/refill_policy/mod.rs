//! When a reservoir refills and how much it asks for. Pure: every method gets `now`.

use std::time::{Duration, Instant};

use crate::config::ReservoirConfig;

#[cfg(test)]
mod tests;

/// The short window of the rate: it follows a burst within a second or two.
const SHORT_WINDOW: Duration = Duration::from_secs(2);

/// The long window of the rate: it keeps the reserve filled through a pause.
const LONG_WINDOW: Duration = Duration::from_secs(60);

/// Samples closer together than this are merged: a rate over no time has no meaning.
const SAMPLE_MIN: Duration = Duration::from_millis(1);

/// At most the rest of a key divided by this may be at risk: 0.1 %.
const AT_RISK_DIVISOR: u64 = 1000;

/// What a reservoir holds, and what its callers want.
#[derive(Debug, Clone, Copy, Default)]
pub struct Demand {
    /// Numbers ready.
    pub held: u64,
    /// Numbers held by local handles.
    pub lent: u64,
    /// Numbers that waiting callers want.
    pub waiting: u64,
    /// What is left of the key, if known.
    pub remaining: Option<u64>,
}

/// Derives from consumption how many numbers to hold, and when to refill.
///
/// ```
/// use sequent_buffer::{Demand, RefillPolicy, ReservoirConfig};
/// # use sequent_core::{Clock, SystemClock};
/// # let now = SystemClock.now();
/// let (mut policy, config) = (RefillPolicy::default(), ReservoirConfig::default());
/// policy.ran_empty();
/// let first = Demand { waiting: 5, ..Demand::default() };
/// assert_eq!(policy.refill_size(now, first, &config), 5, "a first take is asked for exactly");
/// ```
#[derive(Debug, Clone, Default)]
pub struct RefillPolicy {
    short_rate: f64,
    long_rate: f64,
    /// Numbers issued up to the last sample.
    issued: u64,
    sampled_at: Option<Instant>,
    consumed_at: Option<Instant>,
    refilled_at: Option<Instant>,
    refill_took: Duration,
    /// What the last refill gave.
    given: u64,
    /// The target beside the rates: doubled when the reserve runs empty, halved while it does not.
    boost: u64,
    /// The boost before the last refill was asked for. It is restored if that refill fails.
    boost_before: u64,
    /// How often a caller found nothing.
    empty_count: u8,
    /// A caller found nothing since the last refill was asked for.
    is_empty: bool,
    /// The last refill gave nothing.
    failing: bool,
}

impl RefillPolicy {
    /// Notes that `issued` numbers have been issued since the beginning.
    pub fn observe(&mut self, now: Instant, issued: u64) {
        let Some(sampled_at) = self.sampled_at else {
            // Before the first refill nothing can have been issued: `issued` counts in the next sample.
            (self.sampled_at, self.consumed_at) = (Some(now), Some(now));
            return;
        };
        let passed = now.saturating_duration_since(sampled_at);
        if passed < SAMPLE_MIN {
            return;
        }
        let consumed = issued.saturating_sub(self.issued);
        #[allow(clippy::cast_precision_loss, reason = "a rate needs no more than 53 bits")]
        let rate = consumed as f64 / passed.as_secs_f64();
        for (average, window) in [(&mut self.short_rate, SHORT_WINDOW), (&mut self.long_rate, LONG_WINDOW)] {
            let weight = 1.0 - (-passed.as_secs_f64() / window.as_secs_f64()).exp();
            *average += weight * (rate - *average);
        }
        if consumed > 0 {
            self.consumed_at = Some(now);
        }
        (self.issued, self.sampled_at) = (issued, Some(now));
    }

    /// A caller found nothing.
    pub fn ran_empty(&mut self) {
        self.empty_count = self.empty_count.saturating_add(1);
        self.is_empty = true;
    }

    /// A refill gave `given` numbers after `took`.
    pub fn refill_succeeded(&mut self, now: Instant, given: u64, took: Duration) {
        (self.refilled_at, self.given, self.refill_took) = (Some(now), given, took);
        self.failing = false;
    }

    /// A refill gave nothing. An empty reserve shows no burst of demand from then on.
    ///
    /// If it did, callers that retry during an outage would have the first refill after it ask for `at_risk_max`.
    pub fn refill_failed(&mut self) {
        (self.boost, self.failing) = (self.boost_before, true);
    }

    /// How much to ask for now; 0 while enough is held. A result above 0 must be asked for.
    pub fn refill_size(&mut self, now: Instant, demand: Demand, config: &ReservoirConfig) -> u64 {
        let needed = demand.waiting.saturating_sub(demand.held);
        let spare = demand.held.saturating_sub(demand.waiting);
        if needed == 0 && spare > self.low_watermark(now, demand.remaining, config) {
            return 0;
        }
        self.adjust_boost(now, config);
        let target = self.target(now, demand.remaining, config);
        let room = config.at_risk_limit(demand.remaining).saturating_sub(demand.lent);
        needed.saturating_add(target.min(room).saturating_sub(spare))
    }

    /// A refill is due once the reserve is at or below this.
    pub fn low_watermark(&self, now: Instant, remaining: Option<u64>, config: &ReservoirConfig) -> u64 {
        self.target(now, remaining, config) / 2
    }

    /// How many numbers to hold.
    pub fn target(&self, now: Instant, remaining: Option<u64>, config: &ReservoirConfig) -> u64 {
        if self.empty_count < 2 || !config.holds_ahead() {
            return 0;
        }
        let horizon = config.reserve.saturating_add(self.refill_took).as_secs_f64();
        let expected = self.short_rate.max(self.long_rate) * horizon;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "`as` saturates, and it is not negative"
        )]
        let expected = expected.ceil() as u64;
        expected.max(self.decayed_boost(now, config)).max(config.floor).min(config.at_risk_limit(remaining))
    }

    /// Numbers per second, over the short and over the long window.
    pub fn rates(&self) -> (f64, f64) {
        (self.short_rate, self.long_rate)
    }

    /// How long nothing has been taken.
    pub fn idle(&self, now: Instant) -> Duration {
        self.consumed_at.map_or(Duration::ZERO, |at| now.saturating_duration_since(at))
    }

    /// How long the last refill took, if there was one.
    pub fn last_refill(&self) -> Option<Duration> {
        self.refilled_at.map(|_| self.refill_took)
    }

    /// If the reserve ran empty it was too small, and the next is twice the last. Otherwise the rates decide more and
    /// more.
    fn adjust_boost(&mut self, now: Instant, config: &ReservoirConfig) {
        let idle = self.idle(now) > LONG_WINDOW;
        self.boost_before = self.boost;
        self.boost = match (self.is_empty, self.failing) {
            (true, true) if !idle => self.boost,
            (true, false) if !idle => self.boost.max(self.given).saturating_mul(2).min(config.at_risk_max),
            _ => self.boost / 2,
        };
        self.is_empty = false;
    }

    /// The boost, halved once for each `reserve` that has passed since the last refill.
    fn decayed_boost(&self, now: Instant, config: &ReservoirConfig) -> u64 {
        let Some(refilled_at) = self.refilled_at else { return self.boost };
        let passed = now.saturating_duration_since(refilled_at).as_secs_f64();
        let reserves = passed / config.reserve.as_secs_f64().max(1.0);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "`as` saturates, and it is not negative"
        )]
        let halvings = reserves.min(63.0) as u32;
        self.boost >> halvings
    }
}

impl ReservoirConfig {
    /// Whether numbers are held ahead of demand. If not, each refill asks for what callers wait for.
    pub fn holds_ahead(&self) -> bool {
        !self.reserve.is_zero() || self.floor > 0
    }

    /// The most that may be at risk while `remaining` is left of the key. At least one number, which a source rounds up
    /// to one raw id.
    pub fn at_risk_limit(&self, remaining: Option<u64>) -> u64 {
        let part = remaining.map_or(u64::MAX, |remaining| remaining / AT_RISK_DIVISOR);
        self.at_risk_max.min(part).max(1)
    }
}
