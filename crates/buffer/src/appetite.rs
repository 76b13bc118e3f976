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
    /// The boost before the refill that was asked for last: what is taken back if that fails.
    boost_before: u64,
    takes: u8,
    starved: bool,
    /// The last refill gave nothing.
    failing: bool,
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
        self.failing = false;
    }

    /// A refill gave nothing. That the reserve is dry says nothing about demand from then on: it is not taken for a burst,
    /// or callers who try again would have the first refill after an outage take all that may be at risk.
    pub fn fail(&mut self) {
        (self.boost, self.failing) = (self.boost_before, true);
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
        let room = config.most_of(needs.remaining).saturating_sub(needs.lent);
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
        demand.max(self.boost_at(now, config)).max(config.floor).min(config.most_of(remaining))
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
        self.boost_before = self.boost;
        self.boost = match (self.starved, self.failing) {
            (true, true) if !idle => self.boost,
            (true, false) if !idle => self.boost.max(self.given).saturating_mul(2).min(config.at_risk_max),
            _ => self.boost / 2,
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

impl ReservoirConfig {
    /// The most that may be at risk where so much is left of the key; one number at least, which a source rounds up to
    /// one raw id.
    pub fn most_of(&self, remaining: Option<u64>) -> u64 {
        let part = remaining.map_or(u64::MAX, |remaining| remaining / PARTS_AT_RISK);
        self.at_risk_max.min(part).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::Clock;

    const SECOND: Duration = Duration::from_secs(1);

    /// Consumes at a steady rate and refills when told to, without waiting for it.
    struct Life {
        appetite: Appetite,
        config: ReservoirConfig,
        now: Instant,
        dealt: u64,
        held: u64,
        asked: Vec<u64>,
    }

    impl Life {
        fn new() -> Self {
            let now = sequent_core::SystemClock.now();
            let mut appetite = Appetite::default();
            appetite.observe(now, 0);
            Self { appetite, config: ReservoirConfig::default(), now, dealt: 0, held: 0, asked: vec![] }
        }

        /// So many seconds of `rate` numbers each, looked at ten times a second.
        fn live(&mut self, seconds: u64, rate: u64) -> &mut Self {
            for _ in 0..seconds * 10 {
                let wanted = rate / 10;
                if wanted > self.held {
                    self.appetite.starve();
                    self.look(wanted);
                }
                self.held -= wanted;
                self.dealt += wanted;
                self.now += SECOND / 10;
                self.look(0);
            }
            self
        }

        fn look(&mut self, waiting: u64) {
            self.appetite.observe(self.now, self.dealt);
            let needs = Needs { held: self.held, waiting, ..Needs::default() };
            let ask = self.appetite.ask(self.now, needs, &self.config);
            if ask > 0 {
                self.held += ask;
                self.asked.push(ask);
                self.appetite.feed(self.now, ask, SECOND / 10);
            }
        }

        fn target(&self) -> u64 {
            self.appetite.target(self.now, None, &self.config)
        }
    }

    #[test]
    fn steady_demand_is_held_for_the_reserve_and_one_refill() {
        let mut life = Life::new();
        let target = life.live(300, 1000).target();
        assert!((10_000..10_200).contains(&target), "{target}");
        assert!((5_000..=10_300).contains(&life.held), "{}", life.held);
    }

    #[test]
    fn a_burst_doubles_what_is_asked_for() {
        let mut life = Life::new();
        for _ in 0..16 {
            // All within one instant, so that no rate says anything yet.
            life.held = 0;
            life.appetite.starve();
            life.look(1);
        }
        assert_eq!(life.asked[..6], [1, 65, 131, 263, 527, 1055]);
        assert_eq!(life.asked.last(), Some(&1_000_001), "up to what may be at risk, and who waits");
        let mut hold = |seconds| {
            life.now += SECOND * seconds;
            life.target()
        };
        assert_eq!(
            (hold(10), hold(10)),
            (500_000, 250_000),
            "halved for each reserve's length that nobody asks"
        );
        assert_eq!(hold(200), 64);
    }

    #[test]
    fn refills_that_fail_are_no_bursts() {
        let mut life = Life::new();
        life.live(30, 100);
        let (before, now) = (life.asked.last().copied().unwrap(), life.now);
        let ask = |life: &mut Life| {
            life.appetite.starve();
            let needs = Needs { waiting: 1, ..Needs::default() };
            life.appetite.ask(now, needs, &life.config)
        };
        // An outage: callers find nothing, ask, and fail; again and again.
        for _ in 0..40 {
            ask(&mut life);
            life.appetite.fail();
        }
        let first = ask(&mut life);
        assert!(first <= 2 * before.max(life.target()), "{first} at once, after refills of {before}");
        life.appetite.feed(now, first, SECOND / 10);
        let second = ask(&mut life);
        assert!(
            second >= 2 * first,
            "a reserve that runs dry after it is a burst again: {second} after {first}"
        );
    }

    #[test]
    fn idleness_shrinks_the_reserve_to_the_floor() {
        let mut life = Life::new();
        let busy = life.live(120, 1000).target();
        let after_a_lull = life.live(5, 0).target();
        assert!(after_a_lull > busy * 7 / 10, "a lull within the long window changes little: {after_a_lull}");
        assert!(life.live(120, 0).target() < busy / 4);
        assert_eq!(life.live(1200, 0).target(), life.config.floor);
    }

    #[test]
    fn one_take_shows_no_demand_and_the_second_does() {
        let (mut appetite, config) = (Appetite::default(), ReservoirConfig::default());
        let now = sequent_core::SystemClock.now();
        appetite.starve();
        let needs = |waiting| Needs { waiting, ..Needs::default() };
        assert_eq!(appetite.ask(now, needs(5), &config), 5);
        appetite.feed(now, 5, SECOND);
        assert_eq!(appetite.ask(now, needs(0), &config), 0, "nothing is asked for ahead");
        appetite.starve();
        assert_eq!(appetite.ask(now, needs(5), &config), 5 + config.floor);
    }

    #[test]
    fn what_is_at_risk_is_bounded_by_the_key_and_by_the_config() {
        let mut life = Life::new();
        life.live(60, 10_000);
        let config = life.config;
        let mut ask = |held, lent, remaining| {
            life.appetite.ask(life.now, Needs { held, lent, waiting: 0, remaining }, &config)
        };
        assert_eq!(ask(0, 0, Some(5_000_000)), 5_000, "0.1 % of what is left");
        assert_eq!(ask(4_000, 0, Some(5_000_000)), 0, "more than half of that is there");
        assert_eq!(ask(1_000, 3_000, Some(5_000_000)), 1_000, "what is lent counts");
        assert_eq!(ask(0, 0, Some(10)), 1, "but one raw id at least");
        let small = ReservoirConfig { at_risk_max: 700, ..config };
        assert_eq!(life.appetite.ask(life.now, Needs::default(), &small), 700);
        let needs = Needs { waiting: 9_000, ..Needs::default() };
        assert_eq!(life.appetite.ask(life.now, needs, &small), 9_700, "who waits is served all the same");
    }

    #[test]
    fn a_slow_refill_is_covered_by_the_reserve() {
        let mut life = Life::new();
        let before = life.live(300, 1000).target();
        life.appetite.feed(life.now, 1, 20 * SECOND);
        assert!(life.target() >= 3 * before - 1000, "20 s of demand more");
    }
}
