//! Tests of the burn limit against a source that gives whatever is asked for.

use sequent_buffer::{BitExpansion, RangeMapping};
use sequent_core::{Clock, Events, Fits, Layout, Source, Span};
use sequent_testkit::{PausedClock, ScriptedSource};

use super::{limited_source::LimitedSource, *};
use crate::{error::reason::Reason, telemetry::Refills};

const RULES: BurnRules = BurnRules {
    exhaust_least: Duration::from_secs(3600),
    servers: 1,
    max_count: 10_000,
    lease_max_count: 100_000,
};

/// Numbers of a key that ends at 10^9.
const CAPACITY: u64 = 1_000_000_000;

struct Limited {
    source: Arc<dyn Source>,
    limit: Arc<BurnLimit>,
    told: Arc<Mutex<Vec<Event>>>,
}

fn limited(capacity: u64, rules: BurnRules) -> Limited {
    let told = Arc::<Mutex<Vec<Event>>>::default();
    let heard = Arc::clone(&told);
    let events = Events::to(move |event| heard.lock().unwrap().push(event));
    let clock: Arc<dyn Clock> = Arc::new(PausedClock::new());
    let refills = Refills::new(&clock);
    let env = Env { clock, events, ..Env::default() };
    let (layout, span) = (Layout::new(0, 2).unwrap(), Span::new(1, 1, Some(capacity), Fits::Js).unwrap());
    let ids = Arc::new(BitExpansion::new(Arc::new(ScriptedSource::giving()), layout));
    let numbers = Arc::new(RangeMapping::new(ids, layout, span));
    let rules = Arc::new(ArcSwap::from_pointee(rules));
    let limit = Arc::new(spread::SpreadBurn::new(rules).limit(&Key::from_stored("order"), capacity, &env));
    Limited { source: LimitedSource::of(numbers, &limit, &refills), limit, told }
}

impl Limited {
    fn left(&self) -> u64 {
        self.source.remaining().unwrap()
    }

    /// Takes as much as there is; returns how many numbers that were.
    async fn drain(&self) -> u64 {
        let before = self.left();
        while let Ok(blocks) = self.source.take(1_000_000).await {
            assert!(blocks.count() > 0);
        }
        before - self.left()
    }
}

#[tokio::test(start_paused = true)]
async fn a_greedy_caller_gets_one_percent_at_once_and_then_an_hours_part() {
    let key = limited(CAPACITY, RULES);
    let burst = key.drain().await;
    assert!((10_000_000..=10_000_004).contains(&burst), "{burst}");
    let error = key.source.take(1).await.unwrap_err();
    assert_eq!(error.condition(), Some(Condition::BurnLimited), "{error}");
    tokio::time::advance(Duration::from_secs(10)).await;
    let ten_seconds = key.drain().await;
    assert!((2_750_000 - 4..2_760_000).contains(&ten_seconds), "{ten_seconds}");
    for _ in 0..3590 {
        tokio::time::advance(Duration::from_secs(1)).await;
        key.drain().await;
    }
    assert!(key.left() > CAPACITY / 3, "{} are left after an hour", key.left());
}

#[tokio::test(start_paused = true)]
async fn who_asks_for_many_is_refused_before_who_asks_for_one() {
    let key = limited(CAPACITY, RULES);
    let mut given = 0;
    let refused = loop {
        match key.limit.lease(u64::MAX, key.left()) {
            Ok(size) => given += key.source.take(size).await.unwrap().count(),
            Err(error) => break error,
        }
        tokio::time::advance(Duration::from_millis(10)).await;
    };
    assert!(given < CAPACITY / 100, "{given}");
    assert_eq!(refused.reason(), Reason::QuotaExceeded);
    let fault = refused.quota().unwrap();
    assert_eq!((fault.quota, fault.of.as_str()), ("burn", "order"));
    assert!(fault.limit.starts_with("at most 27"), "{fault:?}");
    let told = key.told.lock().unwrap().len();
    assert_eq!(told, 1, "each refusal is an event");
    assert_eq!(key.limit.admit(2, || key.left()).unwrap_err().reason(), Reason::QuotaExceeded);
    for _ in 0..1000 {
        key.limit.admit(1, || key.left()).unwrap();
        assert!(key.source.take(1).await.unwrap().count() > 0, "a single number is served");
    }
    // The time to wait is exact.
    let wait = key.limit.error(2, key.left()).quota().unwrap().retry_after;
    tokio::time::advance(wait.saturating_sub(Duration::from_millis(1))).await;
    assert!(key.limit.admit(2, || key.left()).is_err());
    tokio::time::advance(Duration::from_millis(2)).await;
    key.limit.admit(2, || key.left()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn each_server_has_its_share_and_zero_is_no_limit() {
    let shared = limited(CAPACITY, BurnRules { servers: 4, ..RULES });
    let burst = shared.drain().await;
    assert!((2_500_000..=2_500_004).contains(&burst), "{burst}");
    let unlimited = limited(CAPACITY, BurnRules { exhaust_least: Duration::ZERO, ..RULES });
    assert_eq!(unlimited.drain().await, CAPACITY);
    assert!(unlimited.told.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_small_key_gives_two_of_the_largest_requests_at_once_and_says_when_it_is_at_its_end() {
    let key = limited(9999, RULES);
    key.limit.admit(9999, || key.left()).unwrap();
    assert_eq!(key.drain().await, 9999);
    key.limit.admit(2, || key.left()).unwrap();
    assert_eq!(key.source.take(1).await.unwrap_err().kind(), ErrorKind::Exhausted);
}

#[tokio::test(start_paused = true)]
async fn leases_of_a_key_have_an_upper_limit_a_second() {
    let capacity = (1 << 53) - 1;
    let key = limited(capacity, RULES);
    let lease = |want| key.limit.lease(want, capacity).unwrap();
    assert_eq!((lease(0), lease(7), lease(u64::MAX)), (1, 7, 10_000_000 - 8));
    assert_eq!((lease(u64::MAX), lease(9)), (LEASE_MIN, 9), "one of too many");
    tokio::time::advance(SECOND).await;
    for _ in 0..FULL_LEASES_PER_S_MAX {
        assert_eq!(lease(100_000), 100_000);
    }
    assert_eq!(lease(100_000), LEASE_MIN);
}

/// A principal that may use one sequence uses very many of its keys.
#[test]
fn many_counters_of_one_sequence_do_not_lift_the_limits_of_others() {
    let rules: SharedRules = Arc::new(ArcSwap::from_pointee(RULES));
    let (burn, env) =
        (dense::DenseBurn::new(rules), Env { clock: Arc::new(PausedClock::new()), ..Env::default() });
    let of = |sequence: &str, at: usize| Key::from_stored(&format!("{sequence}|{at}"));
    for at in 0..3 * dense::COUNTERS_MAX {
        burn.admit(&env, &of("small", at), (1, 9)).expect("it ends before it is limited");
    }
    let admitted = |at: &usize| burn.admit(&env, &of("area", *at), (5_000, 99_999)).is_ok();
    assert_eq!((0..dense::COUNTERS_MAX).filter(admitted).count(), dense::COUNTERS_OF_ONE_MAX);
    let takes = |_: &usize| burn.admit(&env, &of("invoice", 0), (10_000, 10_000_000)).is_ok();
    let given = (0..1_000).filter(takes).count() as u64 * 10_000;
    assert!(given <= RULES.burst(10_000_000), "{given}");
}

#[tokio::test(start_paused = true)]
async fn what_was_given_is_remembered_until_the_burst_is_whole_again() {
    let rules: SharedRules = Arc::new(ArcSwap::from_pointee(RULES));
    let env = Env { clock: Arc::new(PausedClock::new()), ..Env::default() };
    let (burn, key) = (spread::SpreadBurn::new(rules), Key::from_stored("order"));
    let of = |key: &Key| burn.limit(key, CAPACITY, &env);
    assert_eq!(of(&key).refill(u64::MAX, CAPACITY).unwrap(), CAPACITY / 100);
    for at in 0..10_000 {
        drop(of(&Key::from_stored(&format!("area|{at}"))));
    }
    assert!(of(&key).refill(1, CAPACITY).is_err(), "another key lifts no limit");
    assert!(burn.len() < 4_096, "{} counters that nobody uses are as good as new", burn.len());
    tokio::time::advance(Duration::from_secs(37)).await;
    assert_eq!(of(&key).refill(u64::MAX, CAPACITY).unwrap(), CAPACITY / 100);
}

#[test]
fn another_definition_of_a_dense_counter_gives_nothing_back() {
    let rules: SharedRules = Arc::new(ArcSwap::from_pointee(RULES));
    let env = Env { clock: Arc::new(PausedClock::new()), ..Env::default() };
    let (burn, key) = (dense::DenseBurn::new(rules), Key::from_stored("invoice"));
    burn.admit(&env, &key, (10_000, 10_000_000)).unwrap();
    burn.note(&key, (10_000, 10_000), Some(1_000_000));
    let refused = (0..100).find_map(|_| burn.admit(&env, &key, (10_000, 10_000_001)).err()).unwrap();
    assert!(refused.to_string().contains("what is left of it, 1000001 numbers"), "{refused}");
}
