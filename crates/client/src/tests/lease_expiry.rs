//! Lease expiry: no number leaves after the age of its lease.

use std::time::Duration;

use crate::{
    client::{
        Client,
        options::{AGELESS, Options},
    },
    tests::scripted_endpoint::{AGE, Act, Bench},
};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn what_is_held_is_dropped_before_it_is_too_old() {
    let bench = Bench::new(1);
    let orders = bench.client.sequence("order").unwrap();
    orders.ready().await.unwrap();
    bench.pass(9 * SECOND).await;
    assert!(orders.try_next().is_some(), "still good");
    let mut local = orders.local();
    local.next().await.unwrap();
    bench.endpoints[0].act(Act::Down);
    bench.pass(SECOND).await;
    assert_eq!((orders.try_next(), local.try_next()), (None, None), "nothing of it leaves any more");
    assert_eq!(orders.reservoir.stats().reserve, 0);
}

#[tokio::test(start_paused = true)]
async fn a_lease_ages_from_when_it_was_asked_for() {
    let options = Options { lease_age_max: 2 * SECOND, ..Options::default() };
    let bench = Bench::with(1, options);
    let orders = bench.client.sequence("order").unwrap();
    bench.endpoints[0].act(Act::After(900));
    orders.ready().await.unwrap();
    bench.endpoints[0].act(Act::Down);
    bench.pass(SECOND).await;
    assert_eq!(orders.try_next(), None, "1.9 s after the request");
}

#[tokio::test(start_paused = true)]
async fn an_idle_client_lets_its_lease_lapse_and_a_busy_one_does_not_run_dry() {
    let bench = Bench::new(1);
    let orders = bench.client.sequence("order").unwrap();
    orders.ready().await.unwrap();
    orders.next_many(64).await.unwrap();
    bench.pass(AGE * 2).await;
    bench.asks();
    bench.pass(AGE * 6).await;
    assert_eq!(bench.asks(), 0, "nobody takes, nobody asks");
    for _ in 0..600 {
        orders.next().await.unwrap();
        bench.pass(SECOND / 10).await;
    }
    let waits = orders.reservoir.stats().waits;
    for _ in 0..600 {
        orders.next().await.unwrap();
        bench.pass(SECOND / 10).await;
    }
    assert_eq!(orders.reservoir.stats().waits, waits, "filled ahead of what ages");
}

#[tokio::test(start_paused = true)]
async fn a_suspension_is_noticed_at_the_next_tick() {
    let bench = Bench::new(1);
    let orders = bench.client.sequence("order").unwrap();
    orders.ready().await.unwrap();
    // No tick happens while a process is suspended.
    tokio::time::sleep(AGE * 3).await;
    bench.endpoints[0].act(Act::Down);
    bench.client.state().tick();
    assert_eq!(orders.try_next(), None);
}

#[tokio::test]
async fn in_memory_nothing_ages() {
    let client = Client::in_memory();
    let age = client.state().options.lease_age(AGELESS);
    assert!(age + SECOND > AGELESS, "{age:?}");
}
