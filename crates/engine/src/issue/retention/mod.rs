//! Retention of periods: a period that is older than a definition keeps is expired. Requests get no number of it, and
//! its counters are removed, a limited number at a time.
//!
//! Expiry is a fence in the ledger, which only rises; no clock takes it back. The guard refuses to begin a counter
//! behind it.

#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, Weak, atomic::Ordering},
    time::{Duration, Instant},
};

use sequent_core::{
    Event, Key, SequenceName, SlotIndex, SourceError,
    ledger::{Counter, Fence},
};
use sequent_format::{Format, Timestamp};

use crate::{
    catalog::{Catalog, Entry},
    engine::{Engine, Inner},
    error::{EngineError, reason::Reason},
    texts::Texts,
};

/// Approximate interval of the scan for expired counters; random differences keep the servers of a cluster apart.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Upper limit of the counters of a sequence removed in one scan: some seven hundred thousand a day.
const FORGOTTEN_MAX: usize = 512;

/// Upper limit of the pages of keys searched for expired ones.
const PAGES_MAX: usize = 8;

/// Upper limit of the sequences in one scan; the next scan continues with the others.
const SEQUENCES_MAX: usize = 64;

/// How long this clock must have been steady before it may expire a period: a fence can't be taken back, and a clock
/// that was set wrong is seldom wrong for so long.
const STEADY_FOR: Duration = Duration::from_secs(600);

/// Largest difference between wall clock and monotonic clock from one scan to the next that still counts as steady.
const JUMP_MAX: Duration = Duration::from_secs(5);

/// Whether the wall clock advances as the monotonic clock does.
#[derive(Debug, Default)]
struct Steadiness(Option<(Instant, Instant, Timestamp)>);

impl Steadiness {
    /// Adds a reading of both clocks; whether they have advanced together for long enough.
    fn look(&mut self, now: Instant, wall: Timestamp) -> bool {
        let since = match self.0 {
            Some((since, last, last_wall)) if has_gone_on((last, last_wall), (now, wall)) => since,
            _ => now,
        };
        self.0 = Some((since, now, wall));
        now.saturating_duration_since(since) >= STEADY_FOR
    }
}

fn has_gone_on((last, last_wall): (Instant, Timestamp), (now, wall): (Instant, Timestamp)) -> bool {
    let gone_ms = i128::try_from(now.saturating_duration_since(last).as_millis()).unwrap_or(i128::MAX);
    let wall_ms = i128::from(wall.as_millisecond()) - i128::from(last_wall.as_millisecond());
    (wall_ms - gone_ms).unsigned_abs() <= JUMP_MAX.as_millis()
}

/// Scans for expired periods, until the engine is dropped.
pub(crate) async fn run(engine: Weak<Inner>) {
    let (mut turn, mut steadiness) = (0, Steadiness::default());
    loop {
        let Some(fraction) = engine.upgrade().map(|inner| inner.env.entropy.fraction()) else { return };
        tokio::time::sleep(LOOK_EVERY.mul_f64(0.5 + fraction)).await;
        let Some(inner) = engine.upgrade() else { return };
        if inner.stopping.load(Ordering::Acquire) {
            return;
        }
        let clock = &*inner.env.clock;
        if steadiness.look(clock.now(), inner.request_clock.now(clock)) {
            Engine(inner).forget_what_is_over(&mut turn).await;
        }
    }
}

/// The error text for a key whose period is over for good.
pub(crate) fn for_good(key: &Key) -> String {
    format!("its period, {}, is over for good: a later one is expected", key.period())
}

/// The error for a request without an instant, if this server's clock is behind the fence. The caller is not at fault.
pub(crate) fn clock_is_behind(key: &Key, shown: &str) -> EngineError {
    let text = format!(
        "this server's clock shows {shown}, and {}: the clock is behind what was fenced, here or on another server",
        for_good(key)
    );
    EngineError::new(Reason::NoShardAvailable, text)
}

/// Refuses an instant of a period that is no longer kept; the error is the bound.
pub(crate) fn check_retained(
    (texts, format): (&Texts, &Format),
    at: Timestamp,
    now: Timestamp,
) -> Result<(), String> {
    let Some(periods) = texts.retained() else { return Ok(()) };
    let (Some(oldest), Some(asked)) = (format.period_back(now, periods), format.period_back(at, 0)) else {
        return Ok(());
    };
    // Both are periods of one kind: they sort as their texts do.
    if at >= now || asked >= oldest {
        return Ok(());
    }
    Err(format!(
        "period {oldest} or a later one is expected: retain_periods is {periods}, and {asked} is over"
    ))
}

impl Engine {
    /// Raises the fences, and removes some of the counters behind them; returns the number removed.
    pub(crate) async fn forget_what_is_over(&self, turn: &mut usize) -> usize {
        let retaining = self.0.catalog.retaining();
        let count = retaining.len();
        if count == 0 {
            return 0;
        }
        let Ok(now) = self.earliest_now().await else { return 0 };
        let mut gone = 0;
        for entry in retaining.iter().cycle().skip(*turn % count).take(count.min(SEQUENCES_MAX)) {
            match self.forget_of(entry, now).await {
                Ok(some) => gone += some,
                // The ledger is unavailable or not trusted: the next scan tries again.
                Err(error) => {
                    tracing::debug!(name = %entry.name(), %error, "old counters could not be forgotten now");
                }
            }
        }
        *turn = turn.wrapping_add(SEQUENCES_MAX);
        gone
    }

    /// The earlier of this clock and the ledger's. A clock that is a year ahead must not end this year.
    async fn earliest_now(&self) -> Result<Timestamp, SourceError> {
        let (cluster, own) = (&self.0.cluster, self.0.request_clock.now(&*self.0.env.clock));
        let ledger = cluster.inspected().await?.clock_ms;
        let ledger = i64::try_from(ledger).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        Ok(ledger.map_or(own, |ledger| own.min(ledger)))
    }

    async fn forget_of(&self, entry: &Arc<Entry>, now: Timestamp) -> Result<usize, SourceError> {
        let (inner, name) = (&self.0, entry.name());
        let Some((fence, over)) = may_be_over(entry, now) else { return Ok(0) };
        if !inner.minimums.has(&fence) {
            inner.guard.fence(&fence).await?;
            inner.follow_minimums().await?;
            tracing::info!(%name, period = over, "periods up to this one are over for good");
            // The counters are removed in the next scan, when every server knows the fence.
            return Ok(0);
        }
        let (slots, mut counters) = (inner.cluster.layout().slots(), Vec::new());
        for slot in 0..slots {
            // Each slot has its share, so that a slot whose store is unavailable does not block the others.
            let room = share(slots).min(FORGOTTEN_MAX - counters.len());
            if room == 0 {
                break;
            }
            let keys = self.keys_over((name, Some(slot)), (&fence, &over), room).await?;
            counters.extend(keys.into_iter().map(|key| Counter { slot, key }));
        }
        // A dense sequence may have been spread before, and vice versa.
        let room = FORGOTTEN_MAX - counters.len();
        let dense = self.keys_over((name, None), (&fence, &over), room).await?;
        let mut gone = 0;
        if !dense.is_empty() {
            gone += inner.guard.retire_dense(&fence, &dense).await?;
        }
        if !counters.is_empty() {
            gone += inner.guard.retire(&fence, counters).await?;
        }
        if gone > 0 {
            let (sequence, counters) = (name.to_string(), gone);
            inner.env.events.emit(Event::Forgotten { sequence, counters, period: over });
        }
        Ok(gone)
    }

    /// Expired keys of a slot, or of dense counters if no slot is given, the oldest first.
    async fn keys_over(
        &self,
        (name, slot): (&SequenceName, Option<SlotIndex>),
        (fence, over): (&Fence, &str),
        most: usize,
    ) -> Result<Vec<Key>, SourceError> {
        let (guard, mut found) = (&self.0.guard, Vec::new());
        if most == 0 {
            return Ok(found);
        }
        // Keys whose periods have the same length are adjacent, in the order of their periods; `}` sorts after `|`.
        let mut from = format!("{name}|{}:", over.len());
        let below = format!("{from}{over}}}");
        // Periods of another kind may have the same length. Those of an earlier template are kept, and skipped.
        let is_over = |key: &Key| fence.covers(key);
        for _ in 0..PAGES_MAX {
            let keys = match slot {
                Some(slot) => guard.keys_between(slot, (&from, &below), most).await?,
                None => guard.dense_between((&from, &below), most).await?,
            };
            let Some(last) = keys.last().filter(|_| keys.len() >= most) else {
                found.extend(keys.into_iter().filter(is_over));
                break;
            };
            from = format!("{last}\0");
            found.extend(keys.into_iter().filter(is_over));
            if found.len() >= most {
                break;
            }
        }
        found.truncate(most);
        Ok(found)
    }
}

/// Upper limit of the counters of one slot removed in a scan, for so many slots.
fn share(slots: SlotIndex) -> usize {
    (FORGOTTEN_MAX / usize::from(slots.max(1))).max(1)
}

/// The last period of a sequence that may be expired, and its fence. A period that is still in the future by the zone
/// of a waiting version is not expired.
fn may_be_over(entry: &Arc<Entry>, now: Timestamp) -> Option<(Fence, String)> {
    let running = last_over(&entry.in_effect(now), now)?;
    let waiting = entry.stages().filter_map(|(stage, begins)| {
        let begins = begins.filter(|begins| *begins > now)?;
        ended_by(&stage, begins, 1).filter(|(fence, _)| fence.periods == running.0.periods)
    });
    waiting.chain([running.clone()]).min_by_key(|(fence, _)| fence.to)
}

/// The last period of a sequence that is over, and its fence.
pub(crate) fn last_over(entry: &Entry, now: Timestamp) -> Option<(Fence, String)> {
    ended_by(entry, now, entry.known().ok()?.texts()?.retained()?.saturating_add(1))
}

/// The period that is `count` periods before that of an instant, and its fence.
fn ended_by(entry: &Entry, at: Timestamp, count: u32) -> Option<(Fence, String)> {
    let over = entry.known().ok()?.format()?.period_back(at, count)?;
    let fence = Fence::of(&Key::new(entry.name(), &over, &[]).ok()?)?;
    Some((fence, over))
}

impl Catalog {
    /// The definitions with a retention.
    fn retaining(&self) -> Vec<Arc<Entry>> {
        let retains = |entry: &Arc<Entry>| {
            entry.stages().any(|(entry, _)| {
                let texts = entry.known().ok().and_then(|body| body.texts());
                texts.is_some_and(|texts| texts.retained().is_some())
            })
        };
        self.all().into_iter().filter(retains).collect()
    }
}
