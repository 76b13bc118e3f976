//! Callers that travel together.

use std::{collections::BTreeSet, time::Duration};

use super::script::{Act, Bench};
use crate::transport::Verb;

#[tokio::test(start_paused = true)]
async fn callers_that_wait_together_are_answered_by_one_request() {
    let bench = Bench::new(1);
    let orders = bench.client.sequence("order").unwrap();
    bench.endpoints[0].act(Act::After(10));
    let calls: Vec<_> = (0..64)
        .map(|_| {
            let orders = orders.clone();
            tokio::spawn(async move { orders.next_fresh().await.unwrap() })
        })
        .collect();
    let mut seen = BTreeSet::new();
    for call in calls {
        assert!(seen.insert(call.await.unwrap()));
    }
    let asks = bench.endpoints[0].asks();
    assert!(asks.len() <= 2, "{asks:?}");
    assert_eq!(asks.iter().map(|(_, count)| count).sum::<u32>(), 64);
    assert!(asks.iter().all(|(verb, _)| *verb == Verb::Next));
}

#[tokio::test(start_paused = true)]
async fn nobody_asks_for_a_caller_that_is_gone() {
    let bench = Bench::new(1);
    let orders = bench.client.sequence("order").unwrap();
    bench.endpoints[0].act(Act::After(100));
    let first = orders.clone();
    let first = tokio::spawn(async move { first.next_fresh().await });
    tokio::task::yield_now().await;
    for _ in 0..10 {
        let cut = tokio::time::timeout(Duration::from_millis(1), orders.next_fresh()).await;
        assert!(cut.is_err());
    }
    first.await.unwrap().unwrap();
    orders.next_fresh().await.unwrap();
    let counts: Vec<u32> = bench.endpoints[0].asks().into_iter().map(|(_, count)| count).collect();
    assert_eq!(counts, [1, 1], "ten have left meanwhile");
}

#[tokio::test(start_paused = true)]
async fn fresh_numbers_pass_by_what_is_leased() {
    let bench = Bench::new(1);
    let orders = bench.client.sequence("order").unwrap();
    orders.ready().await.unwrap();
    let leased = orders.next().await.unwrap();
    let fresh = orders.next_fresh().await.unwrap();
    assert!(fresh > leased && fresh.get() > 64);
    assert!(orders.next().await.unwrap() < fresh);
}
