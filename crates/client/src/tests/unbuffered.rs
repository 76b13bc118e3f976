//! Unbuffered numbers: concurrent callers share one request.

use std::{collections::BTreeSet, time::Duration};

use crate::{
    error::Error,
    number::Number,
    tests::scripted_endpoint::{Act, Bench},
    transport::Verb,
};

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

/// Results of concurrent callers.
async fn crowd(bench: &Bench, callers: usize) -> Vec<Result<Number, Error>> {
    let orders = bench.client.sequence("order").unwrap();
    let calls: Vec<_> = (0..callers)
        .map(|_| {
            let orders = orders.clone();
            tokio::spawn(async move { orders.next_fresh().await })
        })
        .collect();
    let mut got = Vec::new();
    for call in calls {
        got.push(call.await.unwrap());
    }
    got
}

#[tokio::test(start_paused = true)]
async fn a_crowd_larger_than_a_server_allows_goes_in_parts() {
    let bench = Bench::new(1);
    for (most, requests) in [(100, 30), (7, 300), (1, 1100)] {
        bench.endpoints[0].act(Act::AtMost(most));
        let numbers: BTreeSet<_> = crowd(&bench, 1000).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(numbers.len(), 1000, "everybody has one");
        let asks = bench.endpoints[0].asks();
        assert!(asks.len() < requests, "{} requests where {most} are allowed", asks.len());
        assert!(crowd(&bench, 50).await.iter().all(Result::is_ok));
        let refused = bench.endpoints[0].asks().into_iter().filter(|(_, count)| *count > most).count();
        assert!(refused <= 1, "{refused} requests of known vanity");
    }
    bench.endpoints[0].act(Act::Give);
    for _ in 0..8 {
        crowd(&bench, 1000).await;
    }
    bench.endpoints[0].asks();
    crowd(&bench, 1000).await;
    let asks = bench.endpoints[0].asks().len();
    assert!(asks < 20, "the limit was raised, and that was noticed: {asks} requests");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_even_one_is_believed_at_once() {
    let bench = Bench::new(1);
    bench.endpoints[0].act(Act::AtMost(0));
    for refused in crowd(&bench, 1000).await {
        let error = refused.unwrap_err();
        assert_eq!((error.reason(), &*error.fields()[0].field), ("INVALID_ARGUMENT", "count"));
    }
    let asks = bench.endpoints[0].asks().len();
    assert!(asks < 20, "{asks}");
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_a_server_refuses_is_its_callers_alone() {
    let bench = Bench::new(1);
    let orders = bench.client.sequence("order").unwrap();
    bench.endpoints[0].act(Act::AtMost(10));
    let (batch, fresh) = tokio::join!(orders.next_batch(11), orders.next_fresh());
    assert_eq!(batch.unwrap_err().fields()[0].problem, "is 11: 1 to 10 are allowed");
    fresh.unwrap();
    assert_eq!(orders.next_batch(10).await.unwrap().numbers.len(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_panics_is_not_the_end_of_those_after_it() {
    let bench = Bench::new(1);
    let orders = bench.client.sequence("order").unwrap();
    orders.next_fresh().await.unwrap();
    bench.endpoints[0].act(Act::Nameless);
    let error = orders.next_fresh().await.unwrap_err();
    assert!(error.is_retryable(), "{error:?}");
    bench.endpoints[0].act(Act::Give);
    orders.next_fresh().await.unwrap();
}
