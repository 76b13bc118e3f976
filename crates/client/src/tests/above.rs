//! Highest number in requests (`above`): a cluster that was restored is detected, and dense sequences are asked one
//! by one.

use crate::{
    error::ErrorKind,
    tests::scripted_endpoint::{AGE, Act, Bench},
    transport::Verb,
};

#[tokio::test(start_paused = true)]
async fn a_cluster_that_went_back_is_found_out_by_the_next_lease_and_is_not_asked_again() {
    let bench = Bench::new(1);
    let orders = bench.client.sequence("order").unwrap();
    // The cluster has given nothing so far, so the request carries nothing.
    bench.endpoints[0].act(Act::Behind(0));
    let first = orders.next().await.unwrap();
    let highest = bench.endpoints[0].given();
    assert!(highest >= first.get());
    bench.pass(2 * AGE).await;
    bench.endpoints[0].act(Act::Behind(highest - 1));
    bench.asks();
    let error = orders.next().await.unwrap_err();
    assert_eq!((error.kind(), error.reason()), (ErrorKind::ClusterBehind, "CLUSTER_BEHIND"));
    assert!(!error.is_retryable());
    assert_eq!(bench.asks(), 1, "it is said at once");
    for error in [
        orders.next_fresh().await.unwrap_err(),
        orders.next_batch(2).await.unwrap_err(),
        orders.next_many(2).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::ClusterBehind, "{error}");
    }
    // What an operator has done permits that much again.
    bench.endpoints[0].act(Act::Behind(highest));
    assert!(orders.next().await.unwrap().get() > highest);
}

#[tokio::test(start_paused = true)]
async fn a_sequence_without_leases_is_asked_one_by_one_and_merged() {
    let bench = Bench::new(2);
    for endpoint in &bench.endpoints {
        endpoint.act(Act::Dense);
    }
    let invoices = bench.client.sequence("invoice").unwrap();
    assert_eq!(invoices.try_next(), None);
    let mut numbers = Vec::new();
    for _ in 0..3 {
        numbers.push(invoices.next().await.unwrap().get());
    }
    assert_eq!(numbers, [1, 2, 3]);
    let asked: Vec<_> = bench.endpoints.iter().flat_map(|endpoint| endpoint.asks()).collect();
    let leases = asked.iter().filter(|(verb, _)| *verb == Verb::Lease).count();
    assert_eq!(leases, 1, "once is enough: {asked:?}");
    invoices.ready().await.unwrap();
    assert_eq!(invoices.try_next(), None, "nothing is ever held");
    let many = invoices.next_many(3).await.unwrap();
    assert_eq!(many.iter().map(|number| number.get()).collect::<Vec<_>>(), [4, 5, 6]);
    let mut local = invoices.local();
    assert_eq!((local.try_next(), local.next().await.unwrap().get()), (None, 7));
    bench.asks();
    let waiting = (0..50).map(|_| {
        tokio::spawn({
            let invoices = invoices.clone();
            async move { invoices.next().await.unwrap().get() }
        })
    });
    let mut merged = Vec::new();
    for caller in waiting.collect::<Vec<_>>() {
        merged.push(caller.await.unwrap());
    }
    merged.sort_unstable();
    assert_eq!(merged, (8..58).collect::<Vec<_>>());
    assert!(bench.asks() <= 2, "those who wait travel together");
}
