//! Calls that take numbers, without failures.

use std::{collections::BTreeSet, time::Duration};

use crate::{
    blocking,
    client::Client,
    error::ErrorKind,
    number::Number,
    tests::scripted_endpoint::{Act, Bench},
    transport::Verb,
};

#[tokio::test(start_paused = true)]
async fn a_lease_serves_many_takes_with_one_request() {
    let bench = Bench::new(1);
    let orders = bench.client.sequence("order").unwrap();
    assert_eq!(orders.try_next(), None, "nothing is held, and nobody waits");
    assert_eq!(orders.next().await.unwrap().get(), 1);
    orders.ready().await.unwrap();
    let asks = bench.asks();
    let more: Vec<i64> = orders.next_many(50).await.unwrap().into_iter().map(Number::get).collect();
    assert!(more.is_sorted() && more.len() == 50);
    assert!(orders.try_next().is_some(), "from memory");
    assert!(bench.asks() <= asks + 1);
    assert!(
        bench.client.sequence("order").unwrap().try_next().is_some(),
        "one lease for all handles of a name"
    );
}

#[tokio::test(start_paused = true)]
async fn a_process_that_takes_once_asks_for_one() {
    let bench = Bench::new(1);
    bench.client.sequence("order").unwrap().next().await.unwrap();
    bench.pass(Duration::from_secs(30)).await;
    assert_eq!(bench.endpoints[0].asks(), [(Verb::Lease, 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_handle_of_its_own_gives_what_no_other_gives() {
    let bench = Bench::new(1);
    let orders = bench.client.sequence("order").unwrap();
    let (mut one, mut two) = (orders.local(), orders.local());
    let mut seen = BTreeSet::new();
    for _ in 0..5000 {
        assert!(seen.insert(one.next().await.unwrap()));
        assert!(seen.insert(two.next().await.unwrap()));
        assert!(seen.insert(orders.next().await.unwrap()));
    }
    drop(one);
    assert!(two.try_next().is_none_or(|number| seen.insert(number)));
}

#[tokio::test(start_paused = true)]
async fn bad_arguments_cost_no_request() {
    let bench = Bench::new(1);
    for name in ["", "../x", "a b", &"a".repeat(129), "\0"] {
        let error = bench.client.sequence(name).unwrap_err();
        assert_eq!(
            (error.kind(), error.fields()[0].field.as_str()),
            (ErrorKind::InvalidArgument, "sequence")
        );
    }
    let orders = bench.client.sequence("order").unwrap();
    for count in [0, 1_000_001, usize::MAX] {
        let error = orders.next_many(count).await.unwrap_err();
        assert_eq!(error.fields()[0].field, "count", "{error}");
    }
    assert_eq!(bench.asks(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_gives_other_than_it_was_asked_for_is_not_believed() {
    let bench = Bench::new(1);
    bench.endpoints[0].act(Act::Short);
    let orders = bench.client.sequence("order").unwrap();
    let error = orders.next_many(2).await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Protocol, false), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_idle_sequence_is_forgotten_and_a_held_one_is_not() {
    let bench = Bench::new(1);
    let kept = bench.client.sequence("kept").unwrap();
    kept.next_many(10).await.unwrap();
    bench.client.sequence("gone").unwrap().next_many(10).await.unwrap();
    bench.pass(Duration::from_secs(60)).await;
    let count = |name: &str| {
        let sequence = bench.client.sequence(name).unwrap();
        sequence.reservoir.stats().issued
    };
    assert_eq!((count("kept"), count("gone")), (10, 0));
}

#[tokio::test]
async fn a_cluster_in_memory_counts_from_1_and_an_unruly_one_never_repeats() {
    let plain = Client::in_memory();
    let orders = plain.sequence("order").unwrap();
    for expected in 1..=300 {
        assert_eq!(orders.next().await.unwrap().get(), expected);
    }
    assert_eq!(plain.sequence("other").unwrap().next_fresh().await.unwrap().get(), 1, "each name for itself");
    let unruly = Client::in_memory().unruly(7).sequence("order").unwrap();
    let mut numbers = Vec::new();
    for _ in 0..300 {
        numbers.push(unruly.next().await.unwrap());
        numbers.push(unruly.next_fresh().await.unwrap());
        numbers.extend(unruly.next_many(3).await.unwrap());
    }
    assert!(!numbers.is_sorted());
    let distinct: BTreeSet<_> = numbers.iter().collect();
    assert_eq!(distinct.len(), numbers.len());
    assert!(numbers.iter().max().unwrap().get() > 1500, "with gaps");
}

#[test]
fn threads_that_may_wait_get_the_same() {
    let client = blocking::Client::in_memory();
    let orders = client.sequence("order").unwrap();
    assert_eq!(orders.next().unwrap().get(), 1);
    orders.ready().unwrap();
    let mut local = orders.local();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let orders = orders.clone();
            std::thread::spawn(move || (0..1000).map(|_| orders.next().unwrap()).collect::<Vec<_>>())
        })
        .collect();
    let mut seen: BTreeSet<Number> = orders.next_many(10).unwrap().into_iter().collect();
    assert!(seen.insert(orders.next_fresh().unwrap()) && seen.insert(local.next().unwrap()));
    for thread in threads {
        assert!(thread.join().unwrap().into_iter().all(|number| seen.insert(number)));
    }
    assert_eq!(client.unruly(3).sequence("x").unwrap().deadline(Duration::from_secs(1)).name(), "x");
}

#[tokio::test]
async fn a_blocking_take_within_a_runtime_only_blocks() {
    let orders = blocking::Client::in_memory().sequence("order").unwrap();
    assert_eq!(orders.next().unwrap().get(), 1);
}
