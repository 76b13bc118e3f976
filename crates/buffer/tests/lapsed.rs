//! Numbers that aged where no look at the reserve finds them: dealt and not fetched, or lent and given back.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod support;

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Instant,
};

use sequent_buffer::{Reservoir, ReservoirConfig, TakeError};
use sequent_core::{Blocks, ErrorKind, Source};
use sequent_testkit::{Act, ScriptedSource};
use support::{Bench, Leases, SECOND, settle, with};

/// Leases of 1000 numbers, and a reservoir over them.
fn leasing() -> (Arc<Leases>, Bench) {
    let source = Arc::new(Leases(ScriptedSource::giving(), 1000));
    let bench = with(Arc::clone(&source) as Arc<dyn Source>, ReservoirConfig::default());
    (source, bench)
}

type Caller = Pin<Box<dyn Future<Output = Result<Blocks, TakeError>>>>;

fn caller(reservoir: &Reservoir, count: u64, deadline: Option<Instant>) -> Caller {
    let reservoir = reservoir.clone();
    Box::pin(async move { reservoir.take(count, deadline).await })
}

/// Polled by nobody but the test.
fn poll(caller: &mut Caller) -> Poll<Result<Vec<u64>, TakeError>> {
    let found = caller.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    found.map_ok(|blocks| blocks.numbers().collect())
}

/// The answer of a caller that has one.
fn answer(caller: &mut Caller) -> Vec<u64> {
    match poll(caller) {
        Poll::Ready(numbers) => numbers.unwrap(),
        Poll::Pending => panic!("it waits"),
    }
}

/// Time passes, and nobody is polled meanwhile: as in a process that is suspended.
async fn suspended(bench: &Bench) {
    tokio::time::sleep(3 * SECOND).await;
    bench.reservoir.expire();
}

/// Everything that came is accounted for.
fn accounted(bench: &Bench, source: &Leases, received: u64) {
    let stats = bench.reservoir.stats();
    assert_eq!((stats.dealt, stats.burnt), (received, bench.dropped()), "{stats:?}");
    assert_eq!(stats.dealt + stats.reserve + stats.burnt, source.1 * stats.refills, "{stats:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_dealt_to_a_caller_that_slept_is_not_given_to_it() {
    let (source, bench) = leasing();
    let mut callers: Vec<Caller> = (0..3).map(|_| caller(&bench.reservoir, 2, None)).collect();
    assert!(callers.iter_mut().all(|caller| poll(caller).is_pending()));
    settle().await;
    assert_eq!(answer(&mut callers[0]), [1, 2], "at once");
    suspended(&bench).await;
    // The last one looks first: its place is behind the other's all the same.
    for caller in callers[1..].iter_mut().rev() {
        assert!(poll(caller).is_pending(), "what it was dealt has aged");
    }
    settle().await;
    assert_eq!(answer(&mut callers[1]), [1001, 1002]);
    assert_eq!(answer(&mut callers[2]), [1003, 1004]);
    accounted(&bench, &source, 6);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_slept_past_its_deadline_gets_nothing_old() {
    let (source, bench) = leasing();
    let mut late = caller(&bench.reservoir, 2, bench.within(SECOND));
    assert!(poll(&mut late).is_pending());
    settle().await;
    source.0.always(Act::Hang);
    suspended(&bench).await;
    assert!(matches!(poll(&mut late), Poll::Ready(Err(TakeError::Deadline))));
    accounted(&bench, &source, 0);
}

#[tokio::test(start_paused = true)]
async fn what_was_dealt_to_a_caller_that_slept_and_left_goes_to_nobody() {
    let (source, bench) = leasing();
    let mut gone = caller(&bench.reservoir, 2, None);
    assert!(poll(&mut gone).is_pending());
    settle().await;
    source.0.always(Act::Err(ErrorKind::Unavailable));
    suspended(&bench).await;
    drop(gone);
    assert_eq!(bench.reservoir.try_next(), None);
    accounted(&bench, &source, 0);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_slept_through_the_end_is_told() {
    let (source, bench) = leasing();
    let mut late = caller(&bench.reservoir, 2, None);
    assert!(poll(&mut late).is_pending());
    settle().await;
    bench.reservoir.close();
    suspended(&bench).await;
    assert!(matches!(poll(&mut late), Poll::Ready(Err(TakeError::Closed))));
    accounted(&bench, &source, 0);
}

#[tokio::test(start_paused = true)]
async fn a_chunk_that_comes_back_to_a_dry_reservoir_ages_all_the_same() {
    let (source, bench) = leasing();
    let mut local = bench.reservoir.local();
    local.next(None).await.unwrap();
    local.try_next().unwrap();
    source.0.always(Act::Err(ErrorKind::Unavailable));
    // All but what the handle holds is taken, and who comes next finds nothing.
    let mut taken = 2;
    while bench.reservoir.try_next().is_some() {
        taken += 1;
    }
    settle().await;
    let stats = bench.reservoir.stats();
    assert!(stats.reserve == 0 && stats.at_risk > 0, "a chunk is out: {stats:?}");
    drop(local);
    suspended(&bench).await;
    assert_eq!(bench.reservoir.try_next(), None, "none of it leaves");
    accounted(&bench, &source, taken);
}
