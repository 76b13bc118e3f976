//! Numbers that expire outside the reserve: assigned to a caller and not fetched, or lent to a local handle.

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
use support::{Fixture, Leases, SECOND, settle, with};

/// Leases of 1000 numbers, and a reservoir over them.
fn leasing() -> (Arc<Leases>, Fixture) {
    let source = Arc::new(Leases(ScriptedSource::giving(), 1000));
    let fixture = with(Arc::clone(&source) as Arc<dyn Source>, ReservoirConfig::default());
    (source, fixture)
}

type Caller = Pin<Box<dyn Future<Output = Result<Blocks, TakeError>>>>;

fn caller(reservoir: &Reservoir, count: u64, deadline: Option<Instant>) -> Caller {
    let reservoir = reservoir.clone();
    Box::pin(async move { reservoir.take(count, deadline).await })
}

/// Polls a caller, which nobody but the test does.
fn poll(caller: &mut Caller) -> Poll<Result<Vec<u64>, TakeError>> {
    let found = caller.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    found.map_ok(|blocks| blocks.numbers().collect())
}

/// The answer of a caller that must have one.
fn answer(caller: &mut Caller) -> Vec<u64> {
    match poll(caller) {
        Poll::Ready(numbers) => numbers.unwrap(),
        Poll::Pending => panic!("it waits"),
    }
}

/// Time passes and nobody is polled, as in a suspended process.
async fn suspended(fixture: &Fixture) {
    tokio::time::sleep(3 * SECOND).await;
    fixture.reservoir.expire();
}

/// Every number of the source was issued, is held, or was reported as discarded.
fn accounted(fixture: &Fixture, source: &Leases, received: u64) {
    let stats = fixture.reservoir.stats();
    assert_eq!((stats.issued, stats.discarded), (received, fixture.dropped()), "{stats:?}");
    assert_eq!(stats.issued + stats.reserve + stats.discarded, source.1 * stats.refills, "{stats:?}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_expired_before_it_was_fetched_is_replaced() {
    let (source, fixture) = leasing();
    let mut callers: Vec<Caller> = (0..3).map(|_| caller(&fixture.reservoir, 2, None)).collect();
    assert!(callers.iter_mut().all(|caller| poll(caller).is_pending()));
    settle().await;
    assert_eq!(answer(&mut callers[0]), [1, 2], "at once");
    suspended(&fixture).await;
    // The last caller polls first, but keeps its position behind the other.
    for caller in callers[1..].iter_mut().rev() {
        assert!(poll(caller).is_pending(), "its answer has expired");
    }
    settle().await;
    assert_eq!(answer(&mut callers[1]), [1001, 1002]);
    assert_eq!(answer(&mut callers[2]), [1003, 1004]);
    accounted(&fixture, &source, 6);
}

#[tokio::test(start_paused = true)]
async fn a_caller_past_its_deadline_gets_no_expired_answer() {
    let (source, fixture) = leasing();
    let mut late = caller(&fixture.reservoir, 2, fixture.within(SECOND));
    assert!(poll(&mut late).is_pending());
    settle().await;
    source.0.always(Act::Hang);
    suspended(&fixture).await;
    assert!(matches!(poll(&mut late), Poll::Ready(Err(TakeError::Deadline))));
    accounted(&fixture, &source, 0);
}

#[tokio::test(start_paused = true)]
async fn an_expired_answer_of_a_dropped_caller_goes_to_nobody() {
    let (source, fixture) = leasing();
    let mut gone = caller(&fixture.reservoir, 2, None);
    assert!(poll(&mut gone).is_pending());
    settle().await;
    source.0.always(Act::Err(ErrorKind::Unavailable));
    suspended(&fixture).await;
    drop(gone);
    assert_eq!(fixture.reservoir.try_next(), None);
    accounted(&fixture, &source, 0);
}

#[tokio::test(start_paused = true)]
async fn a_caller_with_an_expired_answer_learns_of_the_close() {
    let (source, fixture) = leasing();
    let mut late = caller(&fixture.reservoir, 2, None);
    assert!(poll(&mut late).is_pending());
    settle().await;
    fixture.reservoir.close();
    suspended(&fixture).await;
    assert!(matches!(poll(&mut late), Poll::Ready(Err(TakeError::Closed))));
    accounted(&fixture, &source, 0);
}

#[tokio::test(start_paused = true)]
async fn a_chunk_returned_to_an_empty_reservoir_still_expires() {
    let (source, fixture) = leasing();
    let mut local = fixture.reservoir.local();
    local.next(None).await.unwrap();
    local.try_next().unwrap();
    source.0.always(Act::Err(ErrorKind::Unavailable));
    // All but the handle's chunk is taken, and the next caller finds nothing.
    let mut taken = 2;
    while fixture.reservoir.try_next().is_some() {
        taken += 1;
    }
    settle().await;
    let stats = fixture.reservoir.stats();
    assert!(stats.reserve == 0 && stats.at_risk > 0, "a chunk is lent: {stats:?}");
    drop(local);
    suspended(&fixture).await;
    assert_eq!(fixture.reservoir.try_next(), None, "none of it leaves");
    accounted(&fixture, &source, taken);
}
