//! Refills: how much they ask for, how they fail, and that one is in flight at a time.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod support;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use sequent_buffer::{Reservoir, ReservoirConfig, Spawner, TakeError};
use sequent_core::{BLOCKS_MAX, Block, Blocks, Env, ErrorKind, Reply, Source};
use sequent_testkit::{Act, PausedClock, ScriptedSource};
use support::{over, settle, with};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_single_take_prefetches_nothing() {
    let source = Arc::new(ScriptedSource::giving());
    let fixture = over(&source);
    assert_eq!(fixture.reservoir.take(5, None).await.unwrap().numbers().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    tokio::time::sleep(60 * SECOND).await;
    assert_eq!(source.wants(), [5]);
    assert_eq!(fixture.reservoir.stats().reserve, 0);
}

#[tokio::test(start_paused = true)]
async fn a_second_take_shows_demand() {
    let source = Arc::new(ScriptedSource::giving());
    let fixture = over(&source);
    fixture.reservoir.take(1, None).await.unwrap();
    fixture.reservoir.take(1, None).await.unwrap();
    assert_eq!(source.wants(), [1, 65], "the wanted number, and the floor");
    for _ in 0..31 {
        fixture.reservoir.next(None).await.unwrap();
    }
    settle().await;
    assert_eq!(source.takes(), 2, "more than half of the floor is left");
    fixture.reservoir.next(None).await.unwrap();
    fixture.reservoir.next(None).await.unwrap();
    settle().await;
    assert_eq!(source.takes(), 3, "the next refill starts before this one is used up");
    assert_eq!(fixture.reservoir.stats().waits, 2, "and nobody had to wait for it");
}

#[tokio::test(start_paused = true)]
async fn steady_demand_never_waits() {
    let source = Arc::new(ScriptedSource::new([], Act::late(SECOND / 10)));
    let fixture = over(&source);
    for _ in 0..60_000 {
        fixture.reservoir.next(None).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let warm = fixture.reservoir.stats();
    for _ in 0..60_000 {
        fixture.reservoir.next(None).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let stats = fixture.reservoir.stats();
    assert!((950.0..1050.0).contains(&stats.rate_short), "{stats:?}");
    assert!((850.0..1000.0).contains(&stats.rate_long), "two thirds of the way after each minute: {stats:?}");
    assert!((4000..=11_000).contains(&stats.reserve), "{stats:?}");
    assert_eq!(stats.waits, warm.waits, "a warm reservoir is never empty");
    let refills = stats.refills - warm.refills;
    assert!((8..=16).contains(&refills), "about one each half reserve: {refills}");
}

#[tokio::test(start_paused = true)]
async fn drain_mode_uses_up_the_reserve_and_prefetches_little() {
    let source = Arc::new(ScriptedSource::new([], Act::late(SECOND / 10)));
    let fixture = over(&source);
    let a_while = async || {
        for _ in 0..20_000 {
            fixture.reservoir.next(None).await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    a_while().await;
    let before = fixture.reservoir.stats();
    assert!(before.reserve > 4_000, "{before:?}");
    fixture.context.enter_drain_mode();
    a_while().await;
    let after = fixture.reservoir.stats();
    assert!(after.reserve < 1_000, "{after:?}");
    assert!(after.waits - before.waits <= 5, "little is enough: {before:?} {after:?}");
}

#[tokio::test(start_paused = true)]
async fn all_or_nothing_across_refills() {
    let source = Arc::new(ScriptedSource::new([], Act::Short(10)));
    let fixture = over(&source);
    let blocks = fixture.reservoir.take(95, None).await.unwrap();
    assert_eq!(blocks.as_slice(), [Block::new(1, 1, 95).unwrap()]);
    let source = Arc::new(ScriptedSource::new([Act::Short(10)], Act::Err(ErrorKind::NoShard)));
    let fixture = over(&source);
    assert!(matches!(fixture.reservoir.take(95, None).await, Err(TakeError::Source(_))));
    assert_eq!(fixture.reservoir.stats().reserve, 10, "none taken");
    assert_eq!(fixture.reservoir.take(10, None).await.unwrap().count(), 10, "and none lost");
}

#[tokio::test(start_paused = true)]
async fn a_failed_refill_fails_its_waiters_at_once_and_the_next_caller_tries_again() {
    let source =
        Arc::new(ScriptedSource::new([Act::Late(SECOND, Box::new(Act::Err(ErrorKind::NoShard)))], Act::Give));
    let fixture = over(&source);
    let far = fixture.within(100 * SECOND);
    let (a, b) = tokio::join!(fixture.reservoir.next(far), fixture.reservoir.take(3, far));
    for error in [a.unwrap_err(), b.unwrap_err()] {
        let TakeError::Source(error) = error else { panic!("{error}") };
        assert_eq!(error.kind(), ErrorKind::NoShard);
    }
    let stats = fixture.reservoir.stats();
    assert_eq!((stats.refills_failed, stats.last_error.unwrap().kind()), (1, ErrorKind::NoShard));
    assert_eq!(source.takes(), 1, "no retry of its own");
    assert_eq!(fixture.reservoir.next(far).await.unwrap(), 1);
    assert!(fixture.reservoir.stats().last_error.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_source_that_fails_at_once_is_asked_once_per_caller() {
    let source = Arc::new(ScriptedSource::new([Act::Give, Act::Give], Act::Err(ErrorKind::Unavailable)));
    let fixture = over(&source);
    for _ in 0..66 {
        fixture.reservoir.next(None).await.unwrap();
        settle().await;
    }
    let ahead = source.takes() - 2;
    assert!(
        (1..=3).contains(&ahead),
        "a failed prefetch costs nobody a number and is not repeated at once: {ahead}"
    );
    for failed in 1..=5 {
        assert!(fixture.reservoir.next(None).await.is_err());
        tokio::time::sleep(10 * SECOND).await;
        assert_eq!(source.takes(), 2 + ahead + failed);
    }
    source.always(Act::Give);
    fixture.reservoir.next(None).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn retries_during_an_outage_cause_no_large_refill_after_it() {
    let source = Arc::new(ScriptedSource::new([Act::Give, Act::Give], Act::Err(ErrorKind::NoShard)));
    let fixture = over(&source);
    for _ in 0..66 {
        fixture.reservoir.next(None).await.unwrap();
        settle().await;
    }
    for _ in 0..40 {
        assert!(fixture.reservoir.next(None).await.is_err());
        tokio::time::sleep(SECOND / 10).await;
    }
    source.always(Act::Give);
    fixture.reservoir.next(None).await.unwrap();
    // After 66 numbers in all there is no demand for thousands of them.
    let wants = source.wants();
    assert!(wants.iter().all(|want| *want < 1000), "{wants:?}");
}

#[tokio::test(start_paused = true)]
async fn a_failed_refill_serves_the_callers_that_it_can() {
    let failing = Act::Late(SECOND, Box::new(Act::Err(ErrorKind::Exhausted)));
    let source = Arc::new(ScriptedSource::new([Act::Short(3)], failing));
    let fixture = over(&source);
    let small = async {
        settle().await;
        fixture.reservoir.take(2, None).await
    };
    let (large, small) = tokio::join!(fixture.reservoir.take(9, None), small);
    assert!(matches!(large, Err(TakeError::Source(_))), "it was first, and can't be served");
    assert_eq!(small.unwrap().count(), 2, "what is left is enough for the second");
}

#[tokio::test(start_paused = true)]
async fn a_source_that_gives_nothing_fails_its_callers() {
    struct Empty;
    impl Source for Empty {
        fn take(&self, _: u64) -> Reply<'_, Blocks> {
            Box::pin(std::future::ready(Ok(Blocks::default())))
        }
    }
    let fixture = with(Arc::new(Empty), ReservoirConfig::default());
    assert!(matches!(fixture.reservoir.next(None).await, Err(TakeError::Source(_))));
}

/// Counts how many takes are in flight at once.
#[derive(Default)]
struct CountingSource {
    out: AtomicUsize,
    most: AtomicUsize,
    inner: AtomicUsize,
}

impl Source for CountingSource {
    fn take(&self, want: u64) -> Reply<'_, Blocks> {
        Box::pin(async move {
            let out = self.out.fetch_add(1, Ordering::Relaxed) + 1;
            self.most.fetch_max(out, Ordering::Relaxed);
            tokio::time::sleep(SECOND / 100).await;
            self.out.fetch_sub(1, Ordering::Relaxed);
            let first = self.inner.fetch_add(usize::try_from(want).unwrap(), Ordering::Relaxed) as u64 + 1;
            Ok(Block::new(first, 1, want).unwrap().into())
        })
    }
}

#[tokio::test(start_paused = true)]
async fn one_refill_is_in_flight_at_a_time_and_no_caller_can_cancel_it() {
    let source = Arc::new(CountingSource::default());
    let fixture = with(source.clone(), ReservoirConfig::default());
    for round in 0..50_u64 {
        let reservoir = fixture.reservoir.clone();
        let impatient = tokio::spawn(async move {
            for want in 1..20 {
                reservoir.take(want, None).await.unwrap();
            }
        });
        tokio::time::sleep(Duration::from_millis(round)).await;
        impatient.abort();
    }
    tokio::time::sleep(SECOND).await;
    assert_eq!(source.most.load(Ordering::Relaxed), 1);
    let stats = fixture.reservoir.stats();
    let given = source.inner.load(Ordering::Relaxed) as u64;
    assert_eq!(
        stats.issued + stats.reserve,
        given,
        "every number of the source is held or was issued: {stats:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_refill_cut_off_with_its_task_fails_its_waiters() {
    let source: Arc<dyn Source> = Arc::new(ScriptedSource::new([Act::Hang], Act::Give));
    let tasks = Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = Arc::clone(&tasks);
    let spawn: sequent_buffer::Spawner =
        Arc::new(move |refill| kept.lock().unwrap().push(tokio::spawn(refill)));
    let reservoir = sequent_buffer::Reservoir::new(source, ReservoirConfig::default(), Env::default(), spawn);
    let cutter = async {
        settle().await;
        tasks.lock().unwrap().iter().for_each(tokio::task::JoinHandle::abort);
    };
    let (answer, ()) = tokio::join!(reservoir.next(None), cutter);
    let Err(TakeError::Source(error)) = answer else { panic!("it must not hang") };
    assert_eq!(error.to_string(), "unavailable: the refill was cut off");
    assert_eq!(reservoir.next(None).await.unwrap(), 1, "a later caller starts another");
}

/// As many blocks as one take may give, one number each.
struct SingleNumbers(AtomicUsize);

impl Source for SingleNumbers {
    fn take(&self, _: u64) -> Reply<'_, Blocks> {
        let first = self.0.fetch_add(2 * BLOCKS_MAX, Ordering::Relaxed) as u64;
        let blocks = (0..BLOCKS_MAX as u64).map(|index| Block::new(first + 1 + index * 2, 1, 1).unwrap());
        // At unequal distances, so that they are not joined into one progression.
        let blocks = blocks.filter(|block| block.first() % 6 != 5).collect();
        Box::pin(std::future::ready(Ok(Blocks::from_unsorted(blocks))))
    }
}

#[tokio::test(start_paused = true)]
async fn many_small_blocks_come_out_in_order_each_once() {
    let fixture = with(Arc::new(SingleNumbers(AtomicUsize::new(0))), ReservoirConfig::default());
    let mut last = 0;
    for _ in 0..5000 {
        let number = fixture.reservoir.next(None).await.unwrap();
        assert!(number > last && number % 2 == 1 && number % 6 != 5);
        last = number;
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_is_held_than_may_be_at_risk() {
    let source = Arc::new(ScriptedSource::giving());
    let fixture = with(source.clone(), ReservoirConfig { at_risk_max: 1000, ..ReservoirConfig::default() });
    let mut local = fixture.reservoir.local();
    for _ in 0..200_000 {
        local.next(None).await.unwrap();
        assert!(fixture.reservoir.stats().at_risk <= 1001);
    }
    assert!(source.wants().iter().all(|want| *want <= 1001), "{:?}", source.wants());
    assert!(source.takes() > 150);
}

#[tokio::test(start_paused = true)]
async fn a_refill_whose_task_never_ran_fails_its_waiters() {
    let ended = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let handle = ended.handle().clone();
    std::thread::spawn(move || drop(ended)).join().unwrap();
    let spawners: [Spawner; 2] = [Arc::new(drop), Arc::new(move |refill| drop(handle.spawn(refill)))];
    for spawn in spawners {
        let source = Arc::new(ScriptedSource::giving());
        let env = Env { clock: Arc::new(PausedClock::new()), ..Env::default() };
        let reservoir = Reservoir::new(source, ReservoirConfig::default(), env, spawn);
        for _ in 0..2 {
            let answer = tokio::time::timeout(SECOND, reservoir.take(1, None)).await.expect("an answer");
            let Err(TakeError::Source(error)) = answer else { panic!("{answer:?}") };
            assert_eq!(error.kind(), ErrorKind::Unavailable);
        }
        assert!(!reservoir.stats().refilling, "the next caller asks again");
    }
}
