//! Waiting callers: their order, their deadlines, and cancellation.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod support;

use std::{sync::Arc, time::Duration};

use sequent_buffer::TakeError;
use sequent_core::{Clock, ErrorKind};
use sequent_testkit::{Act, Oracle, ScriptedSource};
use support::{over, settle};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn callers_are_served_in_order_whatever_each_wants() {
    let source = Arc::new(ScriptedSource::new([Act::late(SECOND)], Act::Give));
    let fixture = over(&source);
    let served = Arc::new(std::sync::Mutex::new(Vec::new()));
    let wants = [1_u64, 500, 1, 3, 1];
    let callers: Vec<_> = wants
        .into_iter()
        .map(|want| {
            let (reservoir, served) = (fixture.reservoir.clone(), Arc::clone(&served));
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
    // Enough is held for the second caller, but the first is served first.
    let source = Arc::new(ScriptedSource::new([Act::Short(5), Act::late(SECOND)], Act::Give));
    let fixture = over(&source);
    let large = fixture.reservoir.take(8, None);
    let small = async {
        settle().await;
        let number = fixture.reservoir.next(None).await.unwrap();
        (number, fixture.clock.now())
    };
    let began = fixture.within(SECOND).unwrap();
    let (large, (small, at)) = tokio::join!(large, small);
    assert_eq!(large.unwrap().numbers().collect::<Vec<_>>(), (1..=8).collect::<Vec<_>>());
    assert_eq!(small, 9);
    assert!(at >= began, "it waited for the first caller");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_fails_only_its_caller_and_loses_no_number() {
    let source = Arc::new(ScriptedSource::new([Act::late(2 * SECOND)], Act::Give));
    let fixture = over(&source);
    let (early, late, many) = tokio::join!(
        fixture.reservoir.next(fixture.within(SECOND)),
        fixture.reservoir.next(fixture.within(3 * SECOND)),
        fixture.reservoir.take(2, fixture.within(SECOND)),
    );
    assert!(matches!(early, Err(TakeError::Deadline)));
    assert!(matches!(many, Err(TakeError::Deadline)));
    assert_eq!(late.unwrap(), 1, "the number of the first caller went to the second");
    assert_eq!(fixture.reservoir.stats().waiting, 0);
}

#[tokio::test(start_paused = true)]
async fn a_number_that_is_ready_needs_no_time() {
    let fixture = over(&Arc::new(ScriptedSource::new([], Act::Short(2))));
    let past = fixture.within(Duration::ZERO);
    assert!(
        matches!(fixture.reservoir.next(past).await, Err(TakeError::Deadline)),
        "empty, and no time left"
    );
    settle().await;
    assert_eq!(fixture.reservoir.next(past).await.unwrap(), 1);
}

/// Drops one of three callers after each number of polls. The others must get all that was assigned to it.
#[tokio::test(start_paused = true)]
async fn a_caller_dropped_at_any_poll_disturbs_nobody() {
    for victim in 0..3 {
        for polls in 0..6 {
            let source = Arc::new(ScriptedSource::new([Act::late(SECOND), Act::late(SECOND)], Act::Give));
            let fixture = over(&source);
            let oracle = Oracle::new();
            let callers: Vec<_> = (0..3)
                .map(|index| {
                    let reservoir = fixture.reservoir.clone();
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
            while let Some(number) = fixture.reservoir.try_next() {
                numbers.push(number);
            }
            for number in &numbers {
                oracle.add(*number, "caller").unwrap();
            }
            let lost = fixture.reservoir.stats().discarded;
            let given = source.wants().iter().sum::<u64>();
            // The last try started another refill, which has not asked the source yet.
            assert_eq!(
                numbers.len() as u64 + lost,
                given,
                "victim {victim}, {polls} polls: all accounted for"
            );
        }
    }
}

/// Polls at most `polls` times, then drops. The future's own wakes and a tick each quarter second drive the polls.
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
async fn an_unfetched_answer_of_a_dropped_caller_goes_to_the_next() {
    let source = Arc::new(ScriptedSource::new([Act::late(SECOND)], Act::Give));
    let fixture = over(&source);
    let mut first = Box::pin(fixture.reservoir.take(3, None));
    let waker = std::task::Waker::noop();
    assert!(first.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    tokio::time::sleep(2 * SECOND).await;
    assert_eq!(
        (fixture.reservoir.stats().waiting, fixture.reservoir.stats().reserve),
        (0, 0),
        "assigned, not fetched"
    );
    drop(first);
    assert_eq!(fixture.reservoir.stats().reserve, 3);
    assert_eq!(fixture.reservoir.take(3, None).await.unwrap().numbers().collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!((fixture.reservoir.stats().issued, source.takes()), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn close_fails_waiters_and_discards_the_rest() {
    let source = Arc::new(ScriptedSource::new([Act::Short(7), Act::Hang], Act::Give));
    let fixture = over(&source);
    assert_eq!(fixture.reservoir.take(2, None).await.unwrap().count(), 2);
    let source_gave = source.wants();
    assert_eq!(source_gave, [2], "the first take is asked for exactly");
    let mut local = fixture.reservoir.local();
    let waiting = fixture.reservoir.take(5, None);
    let closer = async {
        settle().await;
        fixture.reservoir.close();
        fixture.reservoir.close();
    };
    let (waiting, ()) = tokio::join!(waiting, closer);
    assert!(matches!(waiting, Err(TakeError::Closed)));
    assert!(matches!(fixture.reservoir.next(None).await, Err(TakeError::Closed)));
    assert!(matches!(local.next(None).await, Err(TakeError::Closed)));
    assert_eq!((fixture.reservoir.try_next(), local.try_next()), (None, None));
}

#[tokio::test(start_paused = true)]
async fn numbers_that_arrive_after_the_close_are_reported_as_discarded() {
    let source = Arc::new(ScriptedSource::new([Act::late(SECOND)], Act::Give));
    let fixture = over(&source);
    assert_eq!(fixture.reservoir.try_next(), None);
    settle().await;
    fixture.reservoir.close();
    tokio::time::sleep(2 * SECOND).await;
    assert_eq!((fixture.dropped(), fixture.reservoir.stats().discarded), (1, 1));
    assert_eq!(fixture.reservoir.try_next(), None);
}

#[tokio::test(start_paused = true)]
async fn the_number_of_waiters_is_bounded() {
    let fixture = over(&Arc::new(ScriptedSource::new([], Act::Hang)));
    let mut callers = Vec::new();
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    for _ in 0..65_536 {
        let mut caller = Box::pin(fixture.reservoir.next(None));
        assert!(caller.as_mut().poll(&mut cx).is_pending());
        callers.push(caller);
    }
    let Err(TakeError::Source(error)) = fixture.reservoir.next(None).await else { panic!("one too many") };
    assert_eq!(error.kind(), ErrorKind::Contended);
    assert_eq!(error.context(), "65536 callers wait already: no more are allowed");
    drop(callers);
    assert_eq!(fixture.reservoir.stats().waiting, 0);
}
