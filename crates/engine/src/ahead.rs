//! Counters of the next period, made before it begins, for keys in use: midnight costs nothing.

use std::{
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    sync::{Arc, Weak, atomic::Ordering},
    time::Duration,
};

use sequent_core::Key;
use sequent_format::Timestamp;

use crate::{Engine, EngineError, NextRequest, aim::Aim, engine::Inner, live::Live};

/// How long before a period's end the first counters of the next one are made.
pub(crate) const AHEAD: Duration = Duration::from_secs(300);

/// How often it is looked for keys whose period ends.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// The most counters that are made at one look: what is left is made at the next one, or by its first caller.
const MADE_MAX: usize = 2048;

/// Looks for keys whose period ends, again and again, until nobody holds the engine.
pub(crate) async fn run(engine: Weak<Inner>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(inner) = engine.upgrade() else { return };
        if inner.stopping.load(Ordering::Acquire) {
            return;
        }
        if inner.dated.load(Ordering::Relaxed) {
            Engine(inner).make_ahead().await;
        }
    }
}

/// Whether the next period's counter is due: each key has its own moment within the last minutes, so that they are not
/// all made at once.
fn is_due(key: &Key, until: Timestamp, now: Timestamp) -> bool {
    let left_ms = until.as_millisecond().saturating_sub(now.as_millisecond());
    let spread_ms = i64::try_from(AHEAD.as_millis() * 4 / 5).unwrap_or(i64::MAX);
    let hash = BuildHasherDefault::<DefaultHasher>::new().hash_one(key.as_str());
    let late_ms = i64::try_from(hash % spread_ms.unsigned_abs()).unwrap_or(0);
    let ahead_ms = i64::try_from(AHEAD.as_millis()).unwrap_or(i64::MAX) - late_ms;
    left_ms > 0 && left_ms <= ahead_ms
}

impl Engine {
    /// Makes what is due of the next period, one after the other.
    pub(crate) async fn make_ahead(&self) {
        let now = self.0.wall.now(&*self.0.env.clock);
        let due = |key: &Key, live: &Live| {
            let period = live.period().filter(|period| !period.is_followed.load(Ordering::Relaxed));
            period.and_then(|period| period.until).is_some_and(|until| is_due(key, until, now))
        };
        for (key, live) in self.0.keys.some(MADE_MAX, due) {
            if let Err(error) = self.follow_up(&live).await {
                // Its first caller makes it then.
                tracing::debug!(%key, %error, "the next period's counter could not be made ahead");
            }
        }
    }

    /// Makes the key of the period that follows a live key's, and has a number of it ready.
    async fn follow_up(&self, live: &Live) -> Result<(), EngineError> {
        let Some((period, until)) = live.period().and_then(|period| Some((period, period.until?))) else {
            return Ok(());
        };
        if period.is_followed.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let entry = Arc::clone(live.shared_entry());
        let Some(format) = entry.body()?.format() else { return Ok(()) };
        let request = NextRequest { with: period.with.clone(), ..NextRequest::of(entry.name().clone()) };
        let aim = Aim::dated(&entry, format, &request, until)?;
        let deadline = self.0.env.clock.now() + self.0.limits.deadline;
        let next = self.live(&request.name, &aim.key, || aim.period(&request), deadline).await?;
        next.reservoir().ready(1, Some(deadline)).await.map_err(|error| self.failed(&request.name, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Options,
        config::{Config, Sources},
    };
    use sequent_core::{Clock, Env, SystemClock};
    use std::{
        sync::atomic::AtomicU64,
        time::{Instant, SystemTime, UNIX_EPOCH},
    };

    /// A wall that shows what a test says.
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

    #[tokio::test]
    async fn the_next_days_counter_is_there_before_the_day() {
        let data = tempfile::tempdir().unwrap();
        let file = data.path().join("x.toml");
        let text =
            "[[sequence]]\nname = \"order\"\ntemplate = \"@{date,yyyyMMdd}@{ctx,area,len=3}@{seq,w=5}\"\n";
        std::fs::write(&file, text).unwrap();
        let config = Config::load(&Sources::embedded(data.path().join("data")).file(file)).unwrap();
        let midnight: Timestamp = "2026-04-02T00:00:00Z".parse().unwrap();
        let midnight = u64::try_from(midnight.as_millisecond()).unwrap();
        let clock = Arc::new(Dial(AtomicU64::new(midnight - 3_600_000)));
        let env = Env { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Env::default() };
        let engine = Engine::open(config, Options { env, ..Options::default() }).await.unwrap();
        let request = NextRequest::new("order").unwrap().with("area", "010");
        engine.next(&request).await.unwrap();
        let next = "order|8:20260402|3:010";
        engine.make_ahead().await;
        assert!(engine.0.keys.get(next).is_none(), "an hour before");
        clock.0.store(midnight - 30_000, Ordering::Relaxed);
        engine.make_ahead().await;
        let live = engine.0.keys.get(next).expect("half a minute before");
        assert!(live.reservoir().stats().reserve > 0, "with numbers ready");
        clock.0.store(midnight, Ordering::Relaxed);
        let issued = engine.next(&request).await.unwrap();
        assert_eq!(issued.dated.unwrap().texts, ["2026040201000001"]);
        let idle_after = || live.idle_after(engine.0.wall.now(&*engine.0.env.clock));
        assert_eq!(idle_after(), Duration::from_secs(600));
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
            keys.iter().filter(|key| is_due(key, until, now)).count()
        };
        assert_eq!((due(301), due(60), due(0), due(-1)), (0, 500, 0, 0));
        let half = due(180);
        assert!((150..350).contains(&half), "{half} of 500");
    }
}
