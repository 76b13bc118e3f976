//! Which endpoints a call asks, and how it handles their outcomes.

use std::time::Duration;

use sequent_core::{ErrorKind, Event};
use tokio::time::{sleep, timeout};

use super::{Act, DOWN, Fixture, SECOND};
use crate::{status::SlotState, sync::lock};

#[tokio::test(start_paused = true)]
async fn an_endpoint_is_used_until_it_fails_then_the_other() {
    let fixture = Fixture::new(2);
    for _ in 0..3 {
        assert_eq!(fixture.call().await, (Ok(0), 0));
    }
    fixture.set(0, &[DOWN]);
    assert_eq!(fixture.call().await, (Ok(1), 0), "at once");
    assert_eq!(fixture.states(), [SlotState::Evicted, SlotState::Live]);
    fixture.asked();
    assert_eq!(fixture.call().await, (Ok(1), 0));
    assert_eq!(fixture.asked(), [1], "who is out is not asked");
}

#[tokio::test(start_paused = true)]
async fn a_hanging_endpoint_delays_a_call_by_slow_after_at_most() {
    let fixture = Fixture::new(2);
    fixture.set(0, &[Act::Hang]);
    assert_eq!(fixture.call().await, (Ok(1), 200), "slow_after, then the other one is asked too");
    assert_eq!(fixture.call().await, (Ok(1), 0), "and is asked first from then on");
    sleep(SECOND).await;
    let counts = fixture.failover.status()[0].counts;
    assert_eq!((counts.timeouts, counts.evictions), (1, 0), "once is no habit");
}

#[tokio::test(start_paused = true)]
async fn slowness_evicts_but_the_last_that_answers_is_kept() {
    let fixture = Fixture::new(2);
    fixture.set(0, &[Act::After(300)]);
    fixture.set(1, &[Act::After(300)]);
    for _ in 0..6 {
        fixture.call().await.0.unwrap();
        sleep(SECOND).await;
    }
    assert_eq!(fixture.states().iter().filter(|state| **state == SlotState::Live).count(), 1);
    assert!(fixture.call().await.0.is_ok());
}

#[tokio::test(start_paused = true)]
async fn try_next_asks_another_endpoint_and_does_not_count() {
    let fixture = Fixture::new(2);
    fixture.set(0, &[Act::Pass]);
    assert_eq!(fixture.call().await, (Ok(1), 0));
    fixture.set(1, &[Act::Pass]);
    assert_eq!(fixture.call().await, (Ok(100), 0), "none knows better: what the last of them said");
    assert_eq!(fixture.states(), [SlotState::Live; 2]);
}

#[tokio::test(start_paused = true)]
async fn rescue_is_a_check_without_a_request() {
    let fixture = Fixture::new(2);
    fixture.watch();
    fixture.set(0, &[DOWN]);
    fixture.call().await.0.unwrap();
    fixture.asked();
    fixture.set(0, &[DOWN, Act::Answer]);
    sleep(SECOND * 20).await;
    assert_eq!(fixture.states(), [SlotState::Live; 2]);
    assert_eq!(fixture.asked(), [0, 0], "one check that failed, one that passed");
    assert_eq!(fixture.call().await, (Ok(1), 0), "who serves goes on serving");
    let rescued = |event: &Event| matches!(event, Event::Rescued { slot: 0, .. });
    assert_eq!(lock(&fixture.events).iter().filter(|event| rescued(event)).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_caller_does_not_count() {
    let fixture = Fixture::new(1);
    fixture.set(0, &[Act::After(150)]);
    for _ in 0..10 {
        let cut = timeout(Duration::from_millis(1), fixture.call()).await;
        assert!(cut.is_err());
    }
    sleep(SECOND).await;
    assert_eq!(fixture.failover.status()[0].counts, crate::status::SlotCounts::default());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_panics_is_a_fault() {
    let fixture = Fixture::new(2);
    fixture.set(0, &[Act::Panic]);
    assert_eq!(fixture.call().await, (Ok(1), 0));
    assert_eq!(fixture.states(), [SlotState::Evicted, SlotState::Live]);
    fixture.set(1, &[Act::Panic]);
    let all = timeout(SECOND * 10, fixture.call()).await.expect("it comes to an end");
    assert_eq!(all, (Err(vec![ErrorKind::Unavailable; 2]), 0));
    fixture.set(0, &[Act::Answer]);
    sleep(SECOND).await;
    assert_eq!(fixture.call().await, (Ok(0), 0), "and is no end of anything");
}
