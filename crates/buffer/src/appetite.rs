//! How much to ask for, and when: pure, and given `now`.

use std::time::{Duration, Instant};

use crate::config::ReservoirConfig;

/// The short window: follows a burst within a second or two.
const SHORT: Duration = Duration::from_secs(2);

/// The long window: keeps a lull from emptying the reserve.
const LONG: Duration = Duration::from_secs(60);

/// Samples closer together than this are put together: a rate over no time is none.
const SAMPLE_MIN: Duration = Duration::from_millis(1);

/// At most one part in so many of what is left of a key may be at risk: 0.1 %.
const PARTS_AT_RISK: u64 = 1000;

/// What a reservoir has and owes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Needs {
    /// Numbers ready.
    pub held: u64,
    /// Numbers in the hands of handles of their own.
    pub lent: u64,
    /// Numbers that waiting callers want.
    pub waiting: u64,
    /// What is left of the key, where it is known.
    pub remaining: Option<u64>,
}

/// Learns from consumption how much to hold.
///
/// ```
/// use sequent_buffer::{Appetite, Needs, ReservoirConfig};
/// # use sequent_core::{Clock, SystemClock};
/// # let now = SystemClock.now();
/// let (mut appetite, config) = (Appetite::default(), ReservoirConfig::default());
/// appetite.starve();
/// let first = Needs { waiting: 5, ..Needs::default() };
/// assert_eq!(appetite.ask(now, first, &config), 5, "a first take is asked for exactly");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Appetite {
    short: f64,
    long: f64,
    seen: u64,
    sampled: Option<Instant>,
    moved: Option<Instant>,
    fed: Option<Instant>,
    refill: Duration,
    given: u64,
    boost: u64,
    takes: u8,
    starved: bool,
}

impl Appetite {
    /// Notes that `dealt` numbers have been handed out since the beginning.
    pub fn observe(&mut self, now: Instant, dealt: u64) {
        let Some(sampled) = self.sampled else {
            // Nothing can have been handed out before the first refill: what is dealt now counts in the next sample.
            (self.sampled, self.moved) = (Some(now), Some(now));
            return;
        };
        let passed = now.saturating_duration_since(sampled);
        if passed < SAMPLE_MIN {
            return;
        }
        let consumed = dealt.saturating_sub(self.seen);
        #[allow(clippy::cast_precision_loss, reason = "a rate needs no more than 53 bits")]
        let rate = consumed as f64 / passed.as_secs_f64();
        for (window, length) in [(&mut self.short, SHORT), (&mut self.long, LONG)] {
            let weight = 1.0 - (-passed.as_secs_f64() / length.as_secs_f64()).exp();
            *window += weight * (rate - *window);
        }
        if consumed > 0 {
            self.moved = Some(now);
        }
        (self.seen, self.sampled) = (dealt, Some(now));
    }

    /// A caller found nothing.
    pub fn starve(&mut self) {
        self.takes = self.takes.saturating_add(1);
        self.starved = true;
    }

    /// A refill gave `given` numbers after `took`.
    pub fn feed(&mut self, now: Instant, given: u64, took: Duration) {
        (self.fed, self.given, self.refill) = (Some(now), given, took);
    }

    /// How much to ask for now; 0 while there is enough. Said yes to, it must be asked for.
    pub fn ask(&mut self, now: Instant, needs: Needs, config: &ReservoirConfig) -> u64 {
        let needed = needs.waiting.saturating_sub(needs.held);
        let spare = needs.held.saturating_sub(needs.waiting);
        if needed == 0 && spare > self.mark(now, needs.remaining, config) {
            return 0;
        }
        self.learn(now, config);
        let target = self.target(now, needs.remaining, config);
        let room = cap(needs.remaining, config).saturating_sub(needs.lent);
        needed.saturating_add(target.min(room).saturating_sub(spare))
    }

    /// Below this reserve a refill is begun.
    pub fn mark(&self, now: Instant, remaining: Option<u64>, config: &ReservoirConfig) -> u64 {
        self.target(now, remaining, config) / 2
    }

    /// How much to hold.
    pub fn target(&self, now: Instant, remaining: Option<u64>, config: &ReservoirConfig) -> u64 {
        if self.takes < 2 {
            return 0;
        }
        let horizon = config.reserve.saturating_add(self.refill).as_secs_f64();
        let demand = self.short.max(self.long) * horizon;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "`as` saturates, and it is not negative"
        )]
        let demand = demand.ceil() as u64;
        demand.max(self.boost_at(now, config)).max(config.floor).min(cap(remaining, config))
    }

    /// Numbers a second, over the short and over the long window.
    pub fn rates(&self) -> (f64, f64) {
        (self.short, self.long)
    }

    /// For how long nothing has been taken.
    pub fn idle(&self, now: Instant) -> Duration {
        self.moved.map_or(Duration::ZERO, |moved| now.saturating_duration_since(moved))
    }

    /// How long the last refill took, if there was one.
    pub fn refill(&self) -> Option<Duration> {
        self.fed.map(|_| self.refill)
    }

    /// A reserve that ran dry was too small: the next is twice the last. One that did not is left to the rates.
    fn learn(&mut self, now: Instant, config: &ReservoirConfig) {
        let idle = self.idle(now) > LONG;
        self.boost = if self.starved && !idle {
            self.boost.max(self.given).saturating_mul(2).min(config.at_risk_max)
        } else {
            self.boost / 2
        };
        self.starved = false;
    }

    /// The boost, halved for each reserve's length since the last refill.
    fn boost_at(&self, now: Instant, config: &ReservoirConfig) -> u64 {
        let Some(fed) = self.fed else { return self.boost };
        let lengths =
            now.saturating_duration_since(fed).as_secs_f64() / config.reserve.as_secs_f64().max(1.0);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "`as` saturates, and it is not negative"
        )]
        let halvings = lengths.min(63.0) as u32;
        self.boost >> halvings
    }
}

/// The most that may be at risk; one number at least, which a source rounds up to one raw id.
fn cap(remaining: Option<u64>, config: &ReservoirConfig) -> u64 {
    let part = remaining.map_or(u64::MAX, |remaining| remaining / PARTS_AT_RISK);
    config.at_risk_max.min(part).max(1)
}
