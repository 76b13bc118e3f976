//! Callers that wait: their order, their deadlines, and what becomes of them when they go away.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod support;

use std::{sync::Arc, time::Duration};

use sequent_buffer::TakeError;
use sequent_core::{Clock, ErrorKind};
use sequent_testkit::{Act, Oracle, ScriptedSource};
use support::{over, settle};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn first_come_first_served_whatever_each_wants() {
    let source = Arc::new(ScriptedSource::new([Act::late(SECOND)], Act::Give));
    let bench = over(&source);
    let served = Arc::new(std::sync::Mutex::new(Vec::new()));
    let wants = [1_u64, 500, 1, 3, 1];
    let callers: Vec<_> = wants
        .into_iter()
        .map(|want| {
            let (reservoir, served) = (bench.reservoir.clone(), Arc::clone(&served));
            tokio::spawn(async move {
                let blocks = reservoir.take(want, None).await.unwrap();
                served.lock().unwrap().extend(blocks.numbers());
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    assert_eq!(*served.lock().unwrap(), (1..=506).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_small_take_does_not_overtake_a_large_one() {
    // What is here would do for the second caller, but the first came first.
    let source = Arc::new(ScriptedSource::new([Act::Short(5), Act::late(SECOND)], Act::Give));
    let bench = over(&source);
    let large = bench.reservoir.take(8, None);
    let small = async {
        settle().await;
        let number = bench.reservoir.next(None).await.unwrap();
        (number, bench.clock.now())
    };
    let begun = bench.within(SECOND).unwrap();
    let (large, (small, at)) = tokio::join!(large, small);
    assert_eq!(large.unwrap().numbers().collect::<Vec<_>>(), (1..=8).collect::<Vec<_>>());
    assert_eq!(small, 9);
    assert!(at >= begun, "it waited its turn");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_fails_its_caller_alone_and_costs_nothing() {
    let source = Arc::new(ScriptedSource::new([Act::late(2 * SECOND)], Act::Give));
    let bench = over(&source);
    let (early, late, many) = tokio::join!(
        bench.reservoir.next(bench.within(SECOND)),
        bench.reservoir.next(bench.within(3 * SECOND)),
        bench.reservoir.take(2, bench.within(SECOND)),
    );
    assert!(matches!(early, Err(TakeError::Deadline)));
    assert!(matches!(many, Err(TakeError::Deadline)));
    assert_eq!(late.unwrap(), 1, "what the first would have had went to the second");
    assert_eq!(bench.reservoir.stats().waiting, 0);
}

#[tokio::test(start_paused = true)]
async fn a_number_that_is_ready_needs_no_time() {
    let bench = over(&Arc::new(ScriptedSource::new([], Act::Short(2))));
    let past = bench.within(Duration::ZERO);
    assert!(matches!(bench.reservoir.next(past).await, Err(TakeError::Deadline)), "dry, and no time left");
    settle().await;
    assert_eq!(bench.reservoir.next(past).await.unwrap(), 1);
}

/// Drops one of three callers after each number of polls; the others must get all that was dealt to it.
#[tokio::test(start_paused = true)]
async fn a_caller_dropped_at_any_poll_disturbs_nobody() {
    for victim in 0..3 {
        for polls in 0..6 {
            let source = Arc::new(ScriptedSource::new([Act::late(SECOND), Act::late(SECOND)], Act::Give));
            let bench = over(&source);
            let oracle = Oracle::new();
            let callers: Vec<_> = (0..3)
                .map(|index| {
                    let reservoir = bench.reservoir.clone();
                    let take =
                        async move { reservoir.take(2, None).await.map(|blocks| blocks.numbers().collect()) };
                    let polls = if index == victim { polls } else { usize::MAX };
                    tokio::spawn(polled(Box::pin(take), polls))
                })
                .collect();
            let mut numbers: Vec<u64> = Vec::new();
            for caller in callers {
                let answer: Option<Result<Vec<u64>, TakeError>> = caller.await.unwrap();
                numbers.extend(answer.map_or(Vec::new(), Result::unwrap));
            }
            settle().await;
            while let Some(number) = bench.reservoir.try_next() {
                numbers.push(number);
            }
            for number in &numbers {
                oracle.add(*number, "caller").unwrap();
            }
            let lost = bench.reservoir.stats().burnt;
            let given = source.wants().iter().sum::<u64>();
            // The last try began another refill, which has not been asked yet.
            assert_eq!(
                numbers.len() as u64 + lost,
                given,
                "victim {victim}, {polls} polls: all accounted for"
            );
        }
    }
}

/// Polls at most so often, then drops. The polls are driven by the future's own wakes and by a tick each quarter second.
async fn polled<T>(mut future: std::pin::Pin<Box<dyn Future<Output = T> + Send>>, polls: usize) -> Option<T> {
    let mut left = polls;
    let mut tick = tokio::time::interval(SECOND / 4);
    std::future::poll_fn(move |cx| {
        if left == 0 {
            return std::task::Poll::Ready(None);
        }
        left -= 1;
        if let std::task::Poll::Ready(answer) = future.as_mut().poll(cx) {
            return std::task::Poll::Ready(Some(answer));
        }
        while tick.poll_tick(cx).is_ready() {}
        std::task::Poll::Pending
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn what_was_dealt_to_a_caller_that_left_goes_to_the_next() {
    let source = Arc::new(ScriptedSource::new([Act::late(SECOND)], Act::Give));
    let bench = over(&source);
    let mut first = Box::pin(bench.reservoir.take(3, None));
    let waker = std::task::Waker::noop();
    assert!(first.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    tokio::time::sleep(2 * SECOND).await;
    assert_eq!(
        (bench.reservoir.stats().waiting, bench.reservoir.stats().reserve),
        (0, 0),
        "dealt, not fetched"
    );
    drop(first);
    assert_eq!(bench.reservoir.stats().reserve, 3);
    assert_eq!(bench.reservoir.take(3, None).await.unwrap().numbers().collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!((bench.reservoir.stats().dealt, source.takes()), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn close_fails_who_waits_and_burns_what_is_left() {
    let source = Arc::new(ScriptedSource::new([Act::Short(7), Act::Hang], Act::Give));
    let bench = over(&source);
    assert_eq!(bench.reservoir.take(2, None).await.unwrap().count(), 2);
    let source_gave = source.wants();
    assert_eq!(source_gave, [2], "the first take is asked for exactly");
    let mut local = bench.reservoir.local();
    let waiting = bench.reservoir.take(5, None);
    let closer = async {
        settle().await;
        bench.reservoir.close();
        bench.reservoir.close();
    };
    let (waiting, ()) = tokio::join!(waiting, closer);
    assert!(matches!(waiting, Err(TakeError::Closed)));
    assert!(matches!(bench.reservoir.next(None).await, Err(TakeError::Closed)));
    assert!(matches!(local.next(None).await, Err(TakeError::Closed)));
    assert_eq!((bench.reservoir.try_next(), local.try_next()), (None, None));
}

#[tokio::test(start_paused = true)]
async fn numbers_that_arrive_after_the_close_are_burnt_and_said_so() {
    let source = Arc::new(ScriptedSource::new([Act::late(SECOND)], Act::Give));
    let bench = over(&source);
    assert_eq!(bench.reservoir.try_next(), None);
    settle().await;
    bench.reservoir.close();
    tokio::time::sleep(2 * SECOND).await;
    assert_eq!((bench.dropped(), bench.reservoir.stats().burnt), (1, 1));
    assert_eq!(bench.reservoir.try_next(), None);
}

#[tokio::test(start_paused = true)]
async fn no_more_callers_are_remembered_than_allowed() {
    let bench = over(&Arc::new(ScriptedSource::new([], Act::Hang)));
    let mut callers = Vec::new();
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    for _ in 0..65_536 {
        let mut caller = Box::pin(bench.reservoir.next(None));
        assert!(caller.as_mut().poll(&mut cx).is_pending());
        callers.push(caller);
    }
    let Err(TakeError::Source(error)) = bench.reservoir.next(None).await else { panic!("one too many") };
    assert_eq!(error.kind(), ErrorKind::Contended);
    assert_eq!(error.context(), "65536 callers wait already: no more are allowed");
    drop(callers);
    assert_eq!(bench.reservoir.stats().waiting, 0);
}
