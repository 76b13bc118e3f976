//! Whom a call asks, and what it makes of what they do.

use std::time::Duration;

use sequent_core::{ErrorKind, Event};
use tokio::time::{sleep, timeout};

use super::{Act, Bench, DOWN, SECOND};
use crate::{SlotState, lock};

#[tokio::test(start_paused = true)]
async fn one_is_used_until_it_fails_and_the_other_from_then_on() {
    let bench = Bench::new(2);
    for _ in 0..3 {
        assert_eq!(bench.call().await, (Ok(0), 0));
    }
    bench.set(0, &[DOWN]);
    assert_eq!(bench.call().await, (Ok(1), 0), "at once");
    assert_eq!(bench.states(), [SlotState::Evicted, SlotState::Live]);
    bench.asked();
    assert_eq!(bench.call().await, (Ok(1), 0));
    assert_eq!(bench.asked(), [1], "who is out is not asked");
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_one_that_hangs() {
    let bench = Bench::new(2);
    bench.set(0, &[Act::Hang]);
    assert_eq!(bench.call().await, (Ok(1), 200), "slow_after, and the other one besides");
    assert_eq!(bench.call().await, (Ok(1), 0), "and is asked first from then on");
    sleep(SECOND).await;
    let counts = bench.failover.status()[0].counts;
    assert_eq!((counts.timeouts, counts.evictions), (1, 0), "once is no habit");
}

#[tokio::test(start_paused = true)]
async fn slowness_evicts_but_the_last_that_answers_is_kept() {
    let bench = Bench::new(2);
    bench.set(0, &[Act::After(300)]);
    bench.set(1, &[Act::After(300)]);
    for _ in 0..6 {
        bench.call().await.0.unwrap();
        sleep(SECOND).await;
    }
    assert_eq!(bench.states().iter().filter(|state| **state == SlotState::Live).count(), 1);
    assert!(bench.call().await.0.is_ok());
}

#[tokio::test(start_paused = true)]
async fn who_passes_is_not_blamed_and_another_is_asked() {
    let bench = Bench::new(2);
    bench.set(0, &[Act::Pass]);
    assert_eq!(bench.call().await, (Ok(1), 0));
    bench.set(1, &[Act::Pass]);
    assert_eq!(bench.call().await, (Ok(100), 0), "none knows better: what the last of them said");
    assert_eq!(bench.states(), [SlotState::Live; 2]);
}

#[tokio::test(start_paused = true)]
async fn rescue_is_a_check_that_takes_nothing_from_callers() {
    let bench = Bench::new(2);
    bench.watch();
    bench.set(0, &[DOWN]);
    bench.call().await.0.unwrap();
    bench.asked();
    bench.set(0, &[DOWN, Act::Answer]);
    sleep(SECOND * 20).await;
    assert_eq!(bench.states(), [SlotState::Live; 2]);
    assert_eq!(bench.asked(), [0, 0], "one check that failed, one that passed");
    assert_eq!(bench.call().await, (Ok(1), 0), "who serves goes on serving");
    let rescued = |event: &Event| matches!(event, Event::Rescued { slot: 0, .. });
    assert_eq!(lock(&bench.events).iter().filter(|event| rescued(event)).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_is_held_against_nobody() {
    let bench = Bench::new(1);
    bench.set(0, &[Act::After(150)]);
    for _ in 0..10 {
        let cut = timeout(Duration::from_millis(1), bench.call()).await;
        assert!(cut.is_err());
    }
    sleep(SECOND).await;
    assert_eq!(bench.failover.status()[0].counts, crate::SlotCounts::default());
}

#[tokio::test(start_paused = true)]
async fn an_ask_that_panics_is_a_fault_and_nobody_waits_for_it() {
    let bench = Bench::new(2);
    bench.set(0, &[Act::Panic]);
    assert_eq!(bench.call().await, (Ok(1), 0));
    assert_eq!(bench.states(), [SlotState::Evicted, SlotState::Live]);
    bench.set(1, &[Act::Panic]);
    let all = timeout(SECOND * 10, bench.call()).await.expect("it comes to an end");
    assert_eq!(all, (Err(vec![ErrorKind::Unavailable; 2]), 0));
    bench.set(0, &[Act::Answer]);
    sleep(SECOND).await;
    assert_eq!(bench.call().await, (Ok(0), 0), "and is no end of anything");
}
