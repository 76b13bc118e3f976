//! Refills: how much they ask for, what becomes of those that fail, and that there is one at a time.

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
use sequent_core::{BLOCKS_MAX, Block, Blocks, BoxFuture, Env, ErrorKind, Source, SourceError};
use sequent_testkit::{Act, PausedClock, ScriptedSource};
use support::{over, settle, with};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_process_that_takes_once_wastes_nothing() {
    let source = Arc::new(ScriptedSource::giving());
    let bench = over(&source);
    assert_eq!(bench.reservoir.take(5, None).await.unwrap().numbers().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    tokio::time::sleep(60 * SECOND).await;
    assert_eq!(source.wants(), [5]);
    assert_eq!(bench.reservoir.stats().reserve, 0);
}

#[tokio::test(start_paused = true)]
async fn a_second_take_shows_demand() {
    let source = Arc::new(ScriptedSource::giving());
    let bench = over(&source);
    bench.reservoir.take(1, None).await.unwrap();
    bench.reservoir.take(1, None).await.unwrap();
    assert_eq!(source.wants(), [1, 65], "what is wanted, and the floor");
    for _ in 0..31 {
        bench.reservoir.next(None).await.unwrap();
    }
    settle().await;
    assert_eq!(source.takes(), 2, "more than half of the floor is left");
    bench.reservoir.next(None).await.unwrap();
    bench.reservoir.next(None).await.unwrap();
    settle().await;
    assert_eq!(source.takes(), 3, "the next refill is begun before this one is used up");
    assert_eq!(bench.reservoir.stats().waits, 2, "and nobody had to wait for it");
}

#[tokio::test(start_paused = true)]
async fn steady_demand_is_held_for_the_reserve_and_never_waits() {
    let source = Arc::new(ScriptedSource::new([], Act::late(SECOND / 10)));
    let bench = over(&source);
    for _ in 0..60_000 {
        bench.reservoir.next(None).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let warm = bench.reservoir.stats();
    for _ in 0..60_000 {
        bench.reservoir.next(None).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let stats = bench.reservoir.stats();
    assert!((950.0..1050.0).contains(&stats.rate_short), "{stats:?}");
    assert!((850.0..1000.0).contains(&stats.rate_long), "two thirds of the way after each minute: {stats:?}");
    assert!((4000..=11_000).contains(&stats.reserve), "{stats:?}");
    assert_eq!(stats.waits, warm.waits, "a warm reservoir is never dry");
    let refills = stats.refills - warm.refills;
    assert!((8..=16).contains(&refills), "about one each half reserve: {refills}");
}

#[tokio::test(start_paused = true)]
async fn what_ebbs_uses_up_what_it_has_and_holds_little_ahead() {
    let source = Arc::new(ScriptedSource::new([], Act::late(SECOND / 10)));
    let bench = over(&source);
    let a_while = async || {
        for _ in 0..20_000 {
            bench.reservoir.next(None).await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    a_while().await;
    let before = bench.reservoir.stats();
    assert!(before.reserve > 4_000, "{before:?}");
    bench.setting.ebb();
    a_while().await;
    let after = bench.reservoir.stats();
    assert!(after.reserve < 1_000, "{after:?}");
    assert!(after.waits - before.waits <= 5, "little is enough: {before:?} {after:?}");
}

#[tokio::test(start_paused = true)]
async fn all_or_nothing_across_refills() {
    let source = Arc::new(ScriptedSource::new([], Act::Short(10)));
    let bench = over(&source);
    let blocks = bench.reservoir.take(95, None).await.unwrap();
    assert_eq!(blocks.as_slice(), [Block::new(1, 1, 95).unwrap()]);
    let source = Arc::new(ScriptedSource::new([Act::Short(10)], Act::Err(ErrorKind::NoShard)));
    let bench = over(&source);
    assert!(matches!(bench.reservoir.take(95, None).await, Err(TakeError::Source(_))));
    assert_eq!(bench.reservoir.stats().reserve, 10, "none taken");
    assert_eq!(bench.reservoir.take(10, None).await.unwrap().count(), 10, "and none lost");
}

#[tokio::test(start_paused = true)]
async fn a_failed_refill_fails_its_waiters_at_once_and_the_next_caller_tries_again() {
    let source =
        Arc::new(ScriptedSource::new([Act::Late(SECOND, Box::new(Act::Err(ErrorKind::NoShard)))], Act::Give));
    let bench = over(&source);
    let far = bench.within(100 * SECOND);
    let (a, b) = tokio::join!(bench.reservoir.next(far), bench.reservoir.take(3, far));
    for error in [a.unwrap_err(), b.unwrap_err()] {
        let TakeError::Source(error) = error else { panic!("{error}") };
        assert_eq!(error.kind(), ErrorKind::NoShard);
    }
    let stats = bench.reservoir.stats();
    assert_eq!((stats.refills_failed, stats.last_error.unwrap().kind()), (1, ErrorKind::NoShard));
    assert_eq!(source.takes(), 1, "no retry of its own");
    assert_eq!(bench.reservoir.next(far).await.unwrap(), 1);
    assert!(bench.reservoir.stats().last_error.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_source_that_fails_at_once_is_asked_once_for_each_caller_and_no_more() {
    let source = Arc::new(ScriptedSource::new([Act::Give, Act::Give], Act::Err(ErrorKind::Unavailable)));
    let bench = over(&source);
    for _ in 0..66 {
        bench.reservoir.next(None).await.unwrap();
        settle().await;
    }
    let ahead = source.takes() - 2;
    assert!(
        (1..=3).contains(&ahead),
        "a failed prefetch costs nobody a number and is not repeated at once: {ahead}"
    );
    for failed in 1..=5 {
        assert!(bench.reservoir.next(None).await.is_err());
        tokio::time::sleep(10 * SECOND).await;
        assert_eq!(source.takes(), 2 + ahead + failed);
    }
    source.always(Act::Give);
    bench.reservoir.next(None).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn callers_who_try_again_in_an_outage_make_no_large_refill_after_it() {
    let source = Arc::new(ScriptedSource::new([Act::Give, Act::Give], Act::Err(ErrorKind::NoShard)));
    let bench = over(&source);
    for _ in 0..66 {
        bench.reservoir.next(None).await.unwrap();
        settle().await;
    }
    for _ in 0..40 {
        assert!(bench.reservoir.next(None).await.is_err());
        tokio::time::sleep(SECOND / 10).await;
    }
    source.always(Act::Give);
    bench.reservoir.next(None).await.unwrap();
    // Who gave 66 numbers in all has no use for thousands, and would not get a million of them at once.
    let wants = source.wants();
    assert!(wants.iter().all(|want| *want < 1000), "{wants:?}");
}

#[tokio::test(start_paused = true)]
async fn a_failure_serves_whom_it_can() {
    let failing = Act::Late(SECOND, Box::new(Act::Err(ErrorKind::Exhausted)));
    let source = Arc::new(ScriptedSource::new([Act::Short(3)], failing));
    let bench = over(&source);
    let small = async {
        settle().await;
        bench.reservoir.take(2, None).await
    };
    let (large, small) = tokio::join!(bench.reservoir.take(9, None), small);
    assert!(matches!(large, Err(TakeError::Source(_))), "it was first, and can't be served");
    assert_eq!(small.unwrap().count(), 2, "what is left is enough for the second");
}

#[tokio::test(start_paused = true)]
async fn a_source_that_gives_nothing_is_a_failure_not_a_loop() {
    struct Empty;
    impl Source for Empty {
        fn take(&self, _: u64) -> BoxFuture<'_, Result<Blocks, SourceError>> {
            Box::pin(std::future::ready(Ok(Blocks::default())))
        }
    }
    let bench = with(Arc::new(Empty), ReservoirConfig::default());
    assert!(matches!(bench.reservoir.next(None).await, Err(TakeError::Source(_))));
}

/// Counts how many takes are out at once.
#[derive(Default)]
struct Crowded {
    out: AtomicUsize,
    most: AtomicUsize,
    inner: AtomicUsize,
}

impl Source for Crowded {
    fn take(&self, want: u64) -> BoxFuture<'_, Result<Blocks, SourceError>> {
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
async fn one_refill_is_out_at_a_time_and_no_caller_can_cancel_it() {
    let source = Arc::new(Crowded::default());
    let bench = with(source.clone(), ReservoirConfig::default());
    for round in 0..50_u64 {
        let reservoir = bench.reservoir.clone();
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
    let stats = bench.reservoir.stats();
    let given = source.inner.load(Ordering::Relaxed) as u64;
    assert_eq!(stats.dealt + stats.reserve, given, "every number that came is held or was dealt: {stats:?}");
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
    assert_eq!(reservoir.next(None).await.unwrap(), 1, "a later caller begins another");
}

/// As many blocks as one take may give, one number each.
struct Crumbs(AtomicUsize);

impl Source for Crumbs {
    fn take(&self, _: u64) -> BoxFuture<'_, Result<Blocks, SourceError>> {
        let first = self.0.fetch_add(2 * BLOCKS_MAX, Ordering::Relaxed) as u64;
        let blocks = (0..BLOCKS_MAX as u64).map(|index| Block::new(first + 1 + index * 2, 1, 1).unwrap());
        // Unlike neighbours, so that nothing is joined into one progression.
        let blocks = blocks.filter(|block| block.first() % 6 != 5).collect();
        Box::pin(std::future::ready(Ok(Blocks::from_unsorted(blocks))))
    }
}

#[tokio::test(start_paused = true)]
async fn many_small_blocks_come_out_in_order_each_once() {
    let bench = with(Arc::new(Crumbs(AtomicUsize::new(0))), ReservoirConfig::default());
    let mut last = 0;
    for _ in 0..5000 {
        let number = bench.reservoir.next(None).await.unwrap();
        assert!(number > last && number % 2 == 1 && number % 6 != 5);
        last = number;
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_is_held_than_may_be_at_risk() {
    let source = Arc::new(ScriptedSource::giving());
    let bench = with(source.clone(), ReservoirConfig { at_risk_max: 1000, ..ReservoirConfig::default() });
    let mut local = bench.reservoir.local();
    for _ in 0..200_000 {
        local.next(None).await.unwrap();
        assert!(bench.reservoir.stats().at_risk <= 1001);
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
