//! No endpoint is live: two that fail alternately, and all of them down.

use std::time::Duration;

use sequent_core::ErrorKind;
use tokio::time::{sleep, timeout};

use super::{Act, DOWN, Fixture, SECOND};
use crate::failover::state::TRY_ALL_EVERY;

const STEP: Duration = Duration::from_millis(10);

#[tokio::test(start_paused = true)]
async fn two_endpoints_that_fail_alternately_fail_no_call() {
    let fixture = Fixture::new(2);
    fixture.watch();
    // One endpoint comes back and the other fails at once: one is always up, but often both count as out.
    for (turn, lasts_ms) in
        [900, 900, 400, 900, 300, 150, 900, 2000, 150, 1100, 900, 900].into_iter().enumerate()
    {
        let (dies, answers) = (turn % 2, 1 - turn % 2);
        fixture.set(answers, &[Act::Answer]);
        fixture.set(dies, &[DOWN]);
        for step in 0..lasts_ms / STEP.as_millis() {
            let (outcome, took) = fixture.call().await;
            assert!(outcome.is_ok() && took == 0, "turn {turn}, step {step}: {outcome:?} after {took} ms");
            sleep(STEP).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn dead_endpoints_get_little_load_and_one_that_is_back_is_found_at_once() {
    let fixture = Fixture::new(2);
    fixture.watch();
    fixture.set(0, &[DOWN]);
    fixture.set(1, &[DOWN]);
    fixture.call().await.0.unwrap_err();
    fixture.asked();
    let calls = 60 * SECOND.as_millis() / STEP.as_millis();
    for _ in 0..calls {
        fixture.call().await.0.unwrap_err();
        sleep(STEP).await;
    }
    let asks = fixture.asked().len();
    // Ten times a second at most, and checks with growing intervals.
    assert!((600..=1240).contains(&asks), "{calls} calls, {asks} asks of two endpoints");
    fixture.set(1, &[Act::Answer]);
    let found = async {
        while fixture.call().await.0.is_err() {
            sleep(STEP).await;
        }
    };
    timeout(TRY_ALL_EVERY, found).await.expect("a minute of backoff or not");
}

#[tokio::test(start_paused = true)]
async fn if_all_are_down_calls_fail_at_once_and_recover_by_themselves() {
    let fixture = Fixture::new(2);
    fixture.watch();
    fixture.set(0, &[DOWN]);
    fixture.set(1, &[DOWN]);
    for _ in 0..20 {
        let (outcome, took) = fixture.call().await;
        assert_eq!((outcome, took), (Err(vec![ErrorKind::Unavailable; 2]), 0));
    }
    assert!(fixture.asked().len() <= 4, "little load");
    sleep(SECOND * 60).await;
    fixture.set(0, &[Act::Answer]);
    sleep(SECOND * 2).await;
    assert_eq!(fixture.call().await, (Ok(0), 0), "a call tries all of them, however long the backoff is");
}
