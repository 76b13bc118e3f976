//! The burn limit of a key: what is left of it lasts at least [`BurnRules::exhaust_least`], and leases of it have an upper
//! limit.
//!
//! It counts where numbers enter a reservoir, or are counted by the ledger; a number that is ready is not counted again.
//! Leases and requests of several numbers may use the upper half of the burst only. So they are refused first, and a
//! caller of one number is still served.

pub(crate) mod bucket;
pub(crate) mod dense;
pub(crate) mod limited_source;
pub(crate) mod spread;

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use sequent_core::{Condition, Env, ErrorKind, Event, Key, SourceError, sync};

use self::bucket::{Bucket, Pace};
use crate::{
    config::Config,
    definition::capacity::lease_max_of,
    error::{BURN, EngineError, QuotaFault},
    status::key_display::shown,
};

/// The whole range of a key divided by this may be given at once: 1 %.
const BURST_PARTS: u64 = 100;

/// But at least this many requests of the largest size, so that half of the burst holds one of them.
const BURST_REQUESTS_MIN: u64 = 2;

/// Upper limit of the leased numbers of a key: so many full leases a second. Beyond it a lease is as small as
/// [`LEASE_MIN`].
const FULL_LEASES_PER_S_MAX: u64 = 100;

/// A lease is not made smaller than this for being one of many.
const LEASE_MIN: u64 = 64;

const SECOND: Duration = Duration::from_secs(1);

/// The settings of the burn limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BurnRules {
    /// `limits.exhaust_least_s`: how long the rest of a key lasts at least. Zero means no limit.
    exhaust_least: Duration,
    /// `reservoir.servers`: each has its share.
    servers: u64,
    /// `limits.max_count`.
    max_count: u64,
    /// `limits.lease_max_count`.
    lease_max_count: u64,
}

impl BurnRules {
    pub(crate) fn of(config: &Config) -> Self {
        Self {
            exhaust_least: config.limits.exhaust_least,
            servers: config.reservoir.servers.max(1),
            max_count: config.limits.max_count,
            lease_max_count: config.limits.lease_max_count,
        }
    }

    /// The pace of a key of `capacity` numbers of which `left` are left.
    #[allow(clippy::cast_precision_loss, reason = "magnitudes")]
    fn pace(&self, capacity: u64, left: u64) -> Pace {
        let least_s = self.exhaust_least.as_secs_f64() * self.servers as f64;
        Pace { per_s: left as f64 / least_s, burst: self.burst(capacity) as f64 }
    }

    /// How many numbers of a key this server may give at once.
    fn burst(&self, capacity: u64) -> u64 {
        (capacity / BURST_PARTS / self.servers).max(BURST_REQUESTS_MIN * self.max_count)
    }
}

/// The settings that all keys of an engine share, and that a reload replaces.
pub(crate) type SharedRules = Arc<ArcSwap<BurnRules>>;

/// What a request may use of the burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// All of it: a single number.
    Single,
    /// The upper half: several numbers, or a lease.
    Bulk,
}

impl Share {
    pub(super) fn of(count: u64) -> Self {
        if count > 1 { Self::Bulk } else { Self::Single }
    }

    /// The level that must be there.
    fn level_min(self, pace: Pace) -> f64 {
        match self {
            Self::Single => 1.0,
            Self::Bulk => pace.burst / 2.0,
        }
    }
}

/// The burn limit of an active key.
pub(crate) struct BurnLimit {
    key: Key,
    capacity: u64,
    rules: SharedRules,
    env: Env,
    state: Arc<Mutex<State>>,
}

/// What was given of a key. It outlasts the active key: see [`spread`].
struct State {
    bucket: Bucket,
    /// How fast the bucket filled last.
    pace: Pace,
    /// When the second of `leased` began.
    leased_since: Instant,
    /// Numbers leased in that second.
    leased: u64,
}

impl BurnLimit {
    /// Refuses a request of several numbers while the upper half of the burst is used up.
    pub(crate) fn admit(&self, count: u64, left: impl FnOnce() -> u64) -> Result<(), EngineError> {
        match Share::of(count) {
            Share::Single => Ok(()),
            Share::Bulk => self.refuse_below(Share::Bulk, left()),
        }
    }

    /// How many numbers a lease may have: at most a thousandth of what is left, since they are lost if the holder fails;
    /// and what the other leases of this second leave.
    pub(crate) fn lease(&self, want: u64, left: u64) -> Result<u64, EngineError> {
        let (rules, now) = (self.rules.load(), self.env.clock.now());
        let want = want.clamp(1, lease_max_of(left)).min(rules.burst(self.capacity) / 2);
        self.admit(want, || left)?;
        let most = rules.lease_max_count.saturating_mul(FULL_LEASES_PER_S_MAX);
        let mut state = sync::lock(&self.state);
        if now.saturating_duration_since(state.leased_since) >= SECOND {
            (state.leased_since, state.leased) = (now, 0);
        }
        let size = want.min(most.saturating_sub(state.leased).max(LEASE_MIN));
        state.leased = state.leased.saturating_add(size);
        Ok(size)
    }

    /// The error for a request that found the limit reached below its reservoir.
    pub(crate) fn error(&self, count: u64, left: u64) -> EngineError {
        self.refusal(Share::of(count), left)
    }

    fn refusal(&self, share: Share, left: u64) -> EngineError {
        let (rules, now) = (self.rules.load(), self.env.clock.now());
        let pace = rules.pace(self.capacity, left);
        let mut state = sync::lock(&self.state);
        state.fill(pace, now);
        let wait = state.bucket.wait(share.level_min(pace), pace);
        drop(state);
        refused(&self.env, &self.key, (&rules, pace), (left, wait))
    }

    fn refuse_below(&self, share: Share, left: u64) -> Result<(), EngineError> {
        let rules = self.rules.load();
        if rules.exhaust_least.is_zero() || left == 0 {
            return Ok(());
        }
        let (pace, now) = (rules.pace(self.capacity, left), self.env.clock.now());
        let level = sync::lock(&self.state).fill(pace, now);
        if level >= share.level_min(pace) { Ok(()) } else { Err(self.refusal(share, left)) }
    }

    /// How many of `want` numbers a refill may ask for now. They are counted as given; [`correct`](Self::correct) says
    /// how many were.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "`as` saturates, and a level of at least 1 is not negative"
    )]
    fn refill(&self, want: u64, left: u64) -> Result<u64, SourceError> {
        let rules = self.rules.load();
        // The source says that the key is at its end.
        if rules.exhaust_least.is_zero() || left == 0 {
            return Ok(want);
        }
        let (pace, now) = (rules.pace(self.capacity, left), self.env.clock.now());
        let mut state = sync::lock(&self.state);
        let level = state.fill(pace, now);
        if level < Share::Single.level_min(pace) {
            let text = format!("{} gives {}", shown(&self.key), rate(pace));
            return Err(SourceError::new(ErrorKind::Contended, text).with(Condition::BurnLimited));
        }
        let want = want.min(level as u64);
        state.bucket.add(-(want as f64));
        Ok(want)
    }

    /// A refill that was to give `want` numbers gave `given`.
    #[allow(clippy::cast_precision_loss, reason = "magnitudes")]
    fn correct(&self, want: u64, given: u64) {
        sync::lock(&self.state).bucket.add(want as f64 - given as f64);
    }
}

impl State {
    /// Of a key of which nothing was given.
    fn unused(pace: Pace, now: Instant) -> Self {
        Self { bucket: Bucket::full(pace, now), pace, leased_since: now, leased: 0 }
    }

    fn fill(&mut self, pace: Pace, now: Instant) -> f64 {
        // Another definition may have another burst: what was given of the old one stays given.
        self.bucket.add(pace.burst - self.pace.burst);
        self.pace = pace;
        self.bucket.fill(pace, now)
    }

    /// Whether the burst is whole again, so that nothing is forgotten with it.
    fn is_whole(&mut self, now: Instant) -> bool {
        self.bucket.fill(self.pace, now) >= self.pace.burst
    }
}

/// The refusal of a request, told as an event besides.
fn refused(
    env: &Env,
    key: &Key,
    (rules, pace): (&BurnRules, Pace),
    (left, retry_after): (u64, Duration),
) -> EngineError {
    let limit = rate(pace);
    env.events.emit(Event::BurnLimited { key: key.clone(), left, limit: limit.clone() });
    let text = format!(
        "{} gives {limit} now, since what is left of it, {left} numbers, shall last {} s (limits.exhaust_least_s): \
         try again in {} ms",
        shown(key),
        rules.exhaust_least.as_secs(),
        retry_after.as_millis() + 1,
    );
    EngineError::over_quota(text, QuotaFault { quota: BURN, of: shown(key), limit, retry_after })
}

/// A pace as a limit in words.
fn rate(pace: Pace) -> String {
    format!("at most {:.2} numbers a second", pace.per_s)
}

#[cfg(test)]
mod tests;
