//! Counters of the next period, created before it begins for keys in use, so that the first request after midnight
//! does not wait.

use std::{
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    sync::{Arc, Weak, atomic::Ordering},
    time::Duration,
};

use sequent_core::Key;
use sequent_format::Timestamp;
use tokio::{sync::Semaphore, task::JoinSet};

use crate::{
    engine::{Engine, Inner},
    error::EngineError,
    issue::{active_key::ActiveKey, request::ResolvedRequest, request_types::NextRequest},
};

/// Time before a period's end from which the next period's counters are created, if there are few.
pub(crate) const AHEAD: Duration = Duration::from_secs(300);

/// The same with very many counters. Counters created ahead are kept until they are needed: keys are kept for the last
/// hour.
const AHEAD_MAX: Duration = Duration::from_secs(1800);

/// Counters a second assumed in planning. If more would be needed, creation begins earlier.
const PLANNED_PER_SECOND: u64 = 100;

/// Interval of the scan for keys whose period ends.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Upper limit of the counters created in one scan. If there are more, the next scan follows at once.
const MADE_MAX: usize = 2048;

/// Upper limit of the counters created concurrently, since callers need the stores, too.
const TOGETHER_MAX: usize = 16;

/// Lower estimate of the counters a second that sequential creation achieves. If more are due, several are created
/// concurrently.
const MADE_PER_SECOND: u64 = 25;

/// The result of a scan.
#[derive(Debug, Default, PartialEq, Eq)]
struct Looked {
    made: usize,
    /// Failed creations are tried again in the next scan.
    failed: usize,
}

/// Scans for keys whose period ends, until the engine is dropped.
pub(crate) async fn run(engine: Weak<Inner>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(inner) = engine.upgrade() else { return };
        if inner.stopping.load(Ordering::Acquire) {
            return;
        }
        if inner.dated.load(Ordering::Relaxed) {
            Engine(inner).make_ahead(MADE_MAX).await;
        }
    }
}

/// Time left until an instant, if it is in the future.
fn left(until: Timestamp, now: Timestamp) -> Option<Duration> {
    let left_ms = until.as_millisecond().saturating_sub(now.as_millisecond());
    u64::try_from(left_ms).ok().filter(|left_ms| *left_ms > 0).map(Duration::from_millis)
}

/// Time before the period's end from which so many counters are created.
fn ahead_of(counters: usize) -> Duration {
    let seconds = u64::try_from(counters).unwrap_or(u64::MAX) / PLANNED_PER_SECOND;
    // Creation is spread over the first four fifths of that time.
    Duration::from_secs(seconds.saturating_mul(5) / 4).clamp(AHEAD, AHEAD_MAX)
}

/// Number of counters created concurrently, for so many due in the time left.
fn together(due: usize, left: Duration) -> usize {
    let rate = u64::try_from(due).unwrap_or(u64::MAX) / left.as_secs().max(1);
    usize::try_from(rate / MADE_PER_SECOND + 1).unwrap_or(TOGETHER_MAX).min(TOGETHER_MAX)
}

/// Whether the next period's counter is due. Each key has its own moment within the last minutes, so that creation is
/// spread.
fn is_due(key: &Key, left: Duration, ahead: Duration) -> bool {
    let spread_ms = u64::try_from(ahead.as_millis() * 4 / 5).unwrap_or(u64::MAX).max(1);
    let hash = BuildHasherDefault::<DefaultHasher>::new().hash_one(key.as_str());
    left <= ahead.saturating_sub(Duration::from_millis(hash % spread_ms))
}

impl Engine {
    /// Creates what is due of the next period, at most `most` a scan, and scans again while there is more.
    async fn make_ahead(&self, most: usize) -> Looked {
        let mut all = Looked::default();
        loop {
            let looked = self.make_some_ahead(most).await;
            all = Looked { made: all.made + looked.made, failed: all.failed + looked.failed };
            // Created keys are marked as followed and not found again: the loop ends.
            let is_all = looked.made < most || looked.failed > 0;
            if is_all || self.0.stopping.load(Ordering::Acquire) {
                return all;
            }
        }
    }

    async fn make_some_ahead(&self, most: usize) -> Looked {
        let now = self.0.request_clock.now(&*self.0.env.clock);
        let ends_in = |live: &ActiveKey| left(live.period()?.until?, now).filter(|left| *left <= AHEAD_MAX);
        let ahead = ahead_of(self.0.keys.count(|_, live| ends_in(live).is_some()));
        let is_followed =
            |live: &ActiveKey| live.period().is_none_or(|period| period.is_followed.load(Ordering::Relaxed));
        let due = |key: &Key, live: &ActiveKey| {
            !is_followed(live) && ends_in(live).is_some_and(|left| is_due(key, left, ahead))
        };
        let mut found = self.0.keys.some(most, due);
        found.sort_by_key(|(_, live)| live.period().and_then(|period| period.until));
        let Some(left) = found.first().and_then(|(_, live)| ends_in(live)) else { return Looked::default() };
        let together = Arc::new(Semaphore::new(together(self.0.keys.count(due), left)));
        let mut making = JoinSet::new();
        let mut looked = Looked::default();
        for (key, live) in found {
            let Ok(turn) = Arc::clone(&together).acquire_owned().await else { break };
            let engine = self.clone();
            making.spawn(async move {
                let made = engine.follow_up(&live).await;
                drop(turn);
                // If it can't be created until then, its first caller creates it.
                made.inspect_err(|error| tracing::debug!(%key, %error, "not made ahead")).is_ok()
            });
            while let Some(made) = making.try_join_next() {
                looked.count(made.unwrap_or(false));
            }
        }
        while let Some(made) = making.join_next().await {
            looked.count(made.unwrap_or(false));
        }
        looked
    }

    /// Creates the key of the period that follows an active key's, with a number ready.
    async fn follow_up(&self, live: &ActiveKey) -> Result<(), EngineError> {
        let Some((period, until)) = live.period().and_then(|period| Some((period, period.until?))) else {
            return Ok(());
        };
        // The next period may belong to the next version.
        let entry = Arc::clone(live.shared_entry());
        let entry = self.0.catalog.find(entry.name()).unwrap_or(entry).in_effect(until);
        let Some(format) = entry.body()?.format() else {
            // A definition without a template has no next period.
            period.is_followed.store(true, Ordering::Relaxed);
            return Ok(());
        };
        let request = NextRequest { with: period.with.clone(), ..NextRequest::of(entry.name().clone()) };
        let resolved = ResolvedRequest::dated(&entry, format, &request, until)?;
        let deadline = self.0.env.clock.now() + self.0.limits.load().deadline;
        let its_period = || resolved.period(&request);
        let next =
            self.live((&request.name, &resolved.key), Some(&resolved.entry), its_period, deadline).await?;
        next.reservoir()
            .prefetch(1, Some(deadline))
            .await
            .map_err(|error| self.failed(&request.name, error))?;
        // Set only now, so that a failed creation is tried again.
        period.is_followed.store(true, Ordering::Relaxed);
        Ok(())
    }
}

impl Looked {
    fn count(&mut self, is_made: bool) {
        *if is_made { &mut self.made } else { &mut self.failed } += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::{Config, Sources},
        open::options::Options,
    };
    use sequent_core::{Clock, Env, SystemClock};
    use std::{
        sync::atomic::AtomicU64,
        time::{Instant, SystemTime, UNIX_EPOCH},
    };

    /// A wall clock that a test sets.
    #[derive(Debug)]
    struct Dial(AtomicU64);

    impl Clock for Dial {
        fn now(&self) -> Instant {
            SystemClock.now()
        }

        fn wall(&self) -> SystemTime {
            UNIX_EPOCH + Duration::from_millis(self.0.load(Ordering::Relaxed))
        }
    }

    async fn opened(folder: &std::path::Path, clock: &Arc<Dial>) -> Engine {
        let file = folder.join("x.toml");
        let text =
            "[[sequence]]\nname = \"order\"\ntemplate = \"@{date,yyyyMMdd}@{ctx,area,len=3}@{seq,w=5}\"\n";
        std::fs::write(&file, text).unwrap();
        let config = Config::load(&Sources::embedded(folder.join("data")).file(file)).unwrap();
        let env = Env { clock: Arc::clone(clock) as Arc<dyn Clock>, ..Env::default() };
        Engine::open(config, Options { env, ..Options::default() }).await.unwrap()
    }

    #[tokio::test]
    async fn more_than_one_look_makes_are_made_at_once_and_what_failed_is_tried_again() {
        let data = tempfile::tempdir().unwrap();
        let midnight: Timestamp = "2026-04-02T00:00:00Z".parse().unwrap();
        let midnight = u64::try_from(midnight.as_millisecond()).unwrap();
        let clock = Arc::new(Dial(AtomicU64::new(midnight - 3_600_000)));
        let engine = opened(data.path(), &clock).await;
        let areas = || (100..120).map(|area| area.to_string());
        for area in areas() {
            engine.next(&NextRequest::new("order").unwrap().with("area", &area)).await.unwrap();
        }
        clock.0.store(midnight - 30_000, Ordering::Relaxed);
        engine.0.stopping.store(true, Ordering::Release);
        assert_eq!(
            engine.make_ahead(8).await,
            Looked { made: 0, failed: 8 },
            "a server that stops makes none"
        );
        engine.0.stopping.store(false, Ordering::Release);
        assert_eq!(engine.make_ahead(8).await, Looked { made: 20, failed: 0 });
        for area in areas() {
            let live = engine.0.keys.get(&format!("order|8:20260402|3:{area}")).expect(&area);
            assert!(live.reservoir().stats().reserve > 0, "{area}");
            let idle_after = live.idle_after(engine.0.request_clock.now(&*engine.0.env.clock));
            assert_eq!(idle_after, Duration::from_secs(3600), "it is kept until its day");
        }
        assert_eq!(engine.make_ahead(8).await, Looked::default(), "once");
        engine.shutdown().await;
    }

    #[test]
    fn where_there_are_more_it_is_begun_earlier_and_more_are_made_together() {
        let seconds = |counters| ahead_of(counters).as_secs();
        assert_eq!((seconds(0), seconds(24_000), seconds(100_000), seconds(1 << 20)), (300, 300, 1250, 1800));
        let left = Duration::from_secs;
        assert_eq!((together(1, left(300)), together(0, Duration::ZERO)), (1, 1));
        assert_eq!((together(40_000, left(200)), together(1 << 20, left(60))), (9, TOGETHER_MAX));
        // A hundred thousand keys at the lowest assumed rate: all are created in time.
        let (all, ahead) = (100_000_usize, ahead_of(100_000));
        let per_second = all as u64 / (ahead.as_secs() * 4 / 5);
        assert!(per_second <= MADE_PER_SECOND * TOGETHER_MAX as u64, "{per_second} a second");
    }

    #[tokio::test]
    async fn the_next_days_counter_is_there_before_the_day() {
        let data = tempfile::tempdir().unwrap();
        let midnight: Timestamp = "2026-04-02T00:00:00Z".parse().unwrap();
        let midnight = u64::try_from(midnight.as_millisecond()).unwrap();
        let clock = Arc::new(Dial(AtomicU64::new(midnight - 3_600_000)));
        let engine = opened(data.path(), &clock).await;
        let request = NextRequest::new("order").unwrap().with("area", "010");
        engine.next(&request).await.unwrap();
        let next = "order|8:20260402|3:010";
        engine.make_ahead(MADE_MAX).await;
        assert!(engine.0.keys.get(next).is_none(), "an hour before");
        clock.0.store(midnight - 30_000, Ordering::Relaxed);
        engine.make_ahead(MADE_MAX).await;
        let live = engine.0.keys.get(next).expect("half a minute before");
        assert!(live.reservoir().stats().reserve > 0, "with numbers ready");
        clock.0.store(midnight, Ordering::Relaxed);
        let issued = engine.next(&request).await.unwrap();
        assert_eq!(issued.dated.unwrap().texts, ["2026040201000001"]);
        let idle_after = || live.idle_after(engine.0.request_clock.now(&*engine.0.env.clock));
        assert_eq!(idle_after(), Duration::from_secs(600), "its day has come");
        clock.0.store(midnight + 82_900_000, Ordering::Relaxed);
        assert_eq!(idle_after(), Duration::from_secs(3600), "its last hour");
        clock.0.store(midnight + 86_400_000, Ordering::Relaxed);
        assert!(idle_after() < Duration::from_secs(60), "a day that is over is given up soon");
        engine.shutdown().await;
    }

    #[test]
    fn keys_are_spread_over_the_last_minutes_and_none_is_left_to_the_last() {
        let until: Timestamp = "2026-04-02T00:00:00Z".parse().unwrap();
        let name: sequent_core::SequenceName = "order".parse().unwrap();
        let keys: Vec<Key> =
            (0..500).map(|n| Key::new(&name, "20260401", &[&format!("{n}")]).unwrap()).collect();
        let due = |seconds: i64| {
            let now = Timestamp::from_second(until.as_second() - seconds).unwrap();
            let left = left(until, now);
            keys.iter().filter(|key| left.is_some_and(|left| is_due(key, left, AHEAD))).count()
        };
        assert_eq!((due(301), due(60), due(0), due(-1)), (0, 500, 0, 0));
        let half = due(180);
        assert!((150..350).contains(&half), "{half} of 500");
    }
}
