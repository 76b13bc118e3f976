//! None live: two that die in turns, and all that are dead.

use std::time::Duration;

use sequent_core::ErrorKind;
use tokio::time::{sleep, timeout};

use super::{Act, Bench, DOWN, SECOND};
use crate::failover::TRY_ALL_EVERY;

const STEP: Duration = Duration::from_millis(10);

#[tokio::test(start_paused = true)]
async fn two_that_die_in_turns_cost_no_call() {
    let bench = Bench::new(2);
    bench.watch();
    // One is back, and at once the other dies: one is up at any time, and both are out in the books again and again.
    for (turn, lasts_ms) in
        [900, 900, 400, 900, 300, 150, 900, 2000, 150, 1100, 900, 900].into_iter().enumerate()
    {
        let (dies, lives) = (turn % 2, 1 - turn % 2);
        bench.set(lives, &[Act::Answer]);
        bench.set(dies, &[DOWN]);
        for step in 0..lasts_ms / STEP.as_millis() {
            let (outcome, took) = bench.call().await;
            assert!(outcome.is_ok() && took == 0, "turn {turn}, step {step}: {outcome:?} after {took} ms");
            sleep(STEP).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_dead_are_not_hammered_and_who_is_back_is_found_at_once() {
    let bench = Bench::new(2);
    bench.watch();
    bench.set(0, &[DOWN]);
    bench.set(1, &[DOWN]);
    bench.call().await.0.unwrap_err();
    bench.asked();
    let calls = 60 * SECOND.as_millis() / STEP.as_millis();
    for _ in 0..calls {
        bench.call().await.0.unwrap_err();
        sleep(STEP).await;
    }
    let asks = bench.asked().len();
    // Ten times a second at most, and a check now and then, which comes ever more seldom.
    assert!((600..=1240).contains(&asks), "{calls} calls, {asks} asks of two members");
    bench.set(1, &[Act::Answer]);
    let found = async {
        while bench.call().await.0.is_err() {
            sleep(STEP).await;
        }
    };
    timeout(TRY_ALL_EVERY, found).await.expect("a minute of backoff or not");
}

#[tokio::test(start_paused = true)]
async fn with_all_gone_it_says_so_at_once_and_comes_back_by_itself() {
    let bench = Bench::new(2);
    bench.watch();
    bench.set(0, &[DOWN]);
    bench.set(1, &[DOWN]);
    for _ in 0..20 {
        let (outcome, took) = bench.call().await;
        assert_eq!((outcome, took), (Err(vec![ErrorKind::Unavailable; 2]), 0));
    }
    assert!(bench.asked().len() <= 4, "not hammered");
    sleep(SECOND * 60).await;
    bench.set(0, &[Act::Answer]);
    sleep(SECOND * 2).await;
    assert_eq!(
        bench.call().await,
        (Ok(0), 0),
        "whoever asks tries all of them, whatever the backoff has grown to"
    );
}
