//! Failover: endpoints that fail, one after the other and all together.

use std::time::Duration;

use sequent_core::Clock;

use crate::{
    error::ErrorKind,
    number::Number,
    tests::scripted_endpoint::{Act, Bench},
};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn the_death_of_a_server_costs_no_call() {
    for act in [Act::Down, Act::Draining, Act::Swallow, Act::Hang, Act::Say("NO_SHARD_AVAILABLE")] {
        let bench = Bench::new(2);
        let orders = bench.client.sequence("order").unwrap();
        let mut numbers = vec![orders.next_fresh().await.unwrap()];
        bench.endpoints[0].act(act);
        for _ in 0..20 {
            let begun = bench.clock.now();
            numbers.push(orders.next_fresh().await.unwrap());
            numbers.push(orders.next().await.unwrap());
            let took = bench.clock.now() - begun;
            assert!(took <= Duration::from_millis(400), "{act:?}: {took:?}");
        }
        let before = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), before, "{act:?}: none twice");
    }
}

#[tokio::test(start_paused = true)]
async fn who_is_back_is_found_to_be_back() {
    let bench = Bench::new(2);
    let orders = bench.client.sequence("order").unwrap();
    bench.endpoints[0].act(Act::Down);
    orders.next_fresh().await.unwrap();
    assert_eq!(bench.client.endpoints()[0], ("http://0".to_owned(), false));
    bench.endpoints[0].act(Act::Give);
    bench.pass(3 * SECOND).await;
    assert!(bench.client.endpoints()[0].1, "by a check, without a call");
    bench.endpoints[1].act(Act::Down);
    orders.next_fresh().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn with_all_servers_gone_what_is_leased_is_served_then_a_typed_error_within_the_deadline() {
    let bench = Bench::new(2);
    let orders = bench.client.sequence("order").unwrap();
    orders.ready().await.unwrap();
    for endpoint in &bench.endpoints {
        endpoint.act(Act::Down);
    }
    let held = orders.reservoir.stats().reserve;
    assert!(held >= 64);
    for _ in 0..held {
        orders.next().await.unwrap();
    }
    for _ in 0..3 {
        let begun = bench.clock.now();
        let error = orders.next().await.unwrap_err();
        let took = bench.clock.now() - begun;
        assert!(took <= Duration::from_millis(1500), "{took:?}");
        assert_eq!((error.kind(), error.reason()), (ErrorKind::Unavailable, "SERVER_UNAVAILABLE"));
        assert!(error.is_retryable() && error.to_string().contains("http://1"), "{error}");
        let error = orders.next_many(3).await.unwrap_err();
        assert_eq!(error.reason(), "SERVER_UNAVAILABLE");
        assert_eq!(orders.next_fresh().await.unwrap_err().reason(), "SERVER_UNAVAILABLE");
    }
    let asks = bench.asks();
    assert!(asks < 300, "{asks} requests in 13 s to two endpoints: not hammered");
    bench.pass(90 * SECOND).await;
    bench.endpoints[1].act(Act::Give);
    let back = orders.deadline(3 * SECOND).next().await;
    assert!(back.is_ok(), "service returns by itself: {back:?}");
}

#[tokio::test(start_paused = true)]
async fn two_servers_of_which_one_is_always_up_fail_no_call() {
    let bench = Bench::new(2);
    let callers: Vec<_> = (0..9_u64)
        .map(|caller| {
            let (orders, clock) = (bench.client.sequence("order").unwrap(), bench.clock.clone());
            tokio::spawn(async move {
                let mut worst = Duration::ZERO;
                for _ in 0..500 {
                    let begun = clock.now();
                    let got = match caller % 3 {
                        0 => orders.next_fresh().await.map(|_| 1),
                        1 => orders.next_batch(7).await.map(|batch| batch.numbers.len()),
                        _ => orders.next_many(500).await.map(|numbers| numbers.len()),
                    };
                    assert!(got.unwrap() > 0);
                    worst = worst.max(clock.now() - begun);
                    tokio::time::sleep(Duration::from_millis(20 + caller)).await;
                }
                worst
            })
        })
        .collect();
    for (turn, lasts) in [900, 400, 900, 300, 900, 150, 900, 900, 150, 300, 900, 900].into_iter().enumerate()
    {
        bench.endpoints[1 - turn % 2].act(Act::Give);
        bench.endpoints[turn % 2].act(Act::Down);
        tokio::time::sleep(Duration::from_millis(lasts)).await;
    }
    for caller in callers {
        let worst = caller.await.unwrap();
        assert!(worst < Duration::from_millis(400), "{worst:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_restart_shorter_than_the_deadline_is_not_seen() {
    let bench = Bench::new(1);
    let orders = bench.client.sequence("order").unwrap();
    bench.endpoints[0].act(Act::Down);
    let endpoint = bench.endpoints[0].clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(400)).await;
        endpoint.act(Act::Give);
    });
    let calls: Vec<_> = (0..50)
        .map(|call| {
            let orders = orders.clone();
            tokio::spawn(async move {
                if call % 2 == 0 { orders.next().await } else { orders.next_fresh().await }
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn what_every_server_would_say_is_said_at_once() {
    let bench = Bench::new(2);
    let orders = bench.client.sequence("order").unwrap();
    for (reason, kind) in [
        ("SEQUENCE_NOT_FOUND", ErrorKind::NotFound),
        ("SEQUENCE_EXHAUSTED", ErrorKind::Exhausted),
        ("PERMISSION_DENIED", ErrorKind::PermissionDenied),
    ] {
        bench.endpoints[0].act(Act::Refuse(reason));
        let begun = bench.clock.now();
        for error in [orders.next().await.unwrap_err(), orders.next_fresh().await.unwrap_err()] {
            assert_eq!((error.reason(), error.kind(), error.is_retryable()), (reason, kind, false));
        }
        assert_eq!((bench.clock.now() - begun, bench.endpoints[0].asks().len()), (Duration::ZERO, 2));
    }
    assert_eq!(bench.endpoints[1].asks(), [], "and no other is asked");
}

#[tokio::test(start_paused = true)]
async fn where_a_person_must_act_on_one_server_another_is_asked() {
    let bench = Bench::new(2);
    let orders = bench.client.sequence("order").unwrap();
    bench.endpoints[0].act(Act::Say("RECOVERY_REQUIRED"));
    orders.next().await.unwrap();
    orders.next_fresh().await.unwrap();
    bench.endpoints[1].act(Act::Say("RECOVERY_REQUIRED"));
    let error = orders.next_fresh().await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::NeedsOperator, false));
}

#[tokio::test(start_paused = true)]
async fn deadlines_are_kept_whatever_hangs() {
    let bench = Bench::new(1);
    let orders = bench.client.sequence("order").unwrap().deadline(Duration::from_millis(70));
    bench.endpoints[0].act(Act::Hang);
    for _ in 0..3 {
        let begun = bench.clock.now();
        let error = orders.next().await.unwrap_err();
        assert_eq!((bench.clock.now() - begun).as_millis(), 70);
        assert_eq!((error.reason(), error.is_retryable()), ("DEADLINE_EXCEEDED", true));
        let begun = bench.clock.now();
        assert!(orders.next_fresh().await.is_err() && orders.next_many(2).await.is_err());
        assert!(bench.clock.now() - begun <= Duration::from_millis(140));
    }
    bench.endpoints[0].act(Act::Give);
    assert!(orders.deadline(3 * SECOND).next().await.map(Number::get).is_ok());
}
