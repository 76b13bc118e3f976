//! All servers gone, and back; and what a server itself has to say.

use std::time::{Duration, Instant};

use sequent_client::{Client, ErrorKind, Number};

use crate::{
    place::Place,
    server::{Server, dev},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_leased_is_served_then_a_typed_error_and_service_returns_by_itself() {
    let place = Place::new();
    place.numbers(&["next", "order", "-n", "5"]);
    let mut server = Server::start(&place);
    let deadline = Duration::from_millis(600);
    let client = Client::builder().deadline(deadline).connect(&server.address()).await.unwrap();
    let orders = client.sequence("order").unwrap();
    orders.ready().await.unwrap();
    let mut last = orders.next().await.unwrap();
    server.kill();
    let mut used = 0;
    let error = loop {
        let begun = Instant::now();
        match orders.next().await {
            Ok(number) => {
                assert!(number > last);
                (used, last) = (used + 1, number);
            }
            Err(error) => {
                assert!(begun.elapsed() < deadline * 2, "{:?}", begun.elapsed());
                break error;
            }
        }
    };
    assert!(used >= 10, "a lease was held: {used} numbers of it were served");
    assert_eq!((error.kind(), error.reason()), (ErrorKind::Unavailable, "SERVER_UNAVAILABLE"), "{error}");
    assert!(error.is_retryable() && error.to_string().contains(&server.address()), "{error}");
    assert!(orders.next_fresh().await.unwrap_err().is_retryable());

    server.restart(&place);
    let number = orders.deadline(Duration::from_secs(30)).next().await.unwrap();
    assert!(number > last, "no call but the usual one brought it back");
}

#[tokio::test]
async fn connecting_to_nobody_is_a_retryable_error_in_time() {
    let begun = Instant::now();
    let error = Client::builder()
        .deadline(Duration::from_millis(300))
        .connect("http://127.0.0.1:1,http://127.0.0.1:2")
        .await
        .unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert!(error.is_retryable() && error.to_string().contains("http://127.0.0.1:2"), "{error}");
}

#[tokio::test]
async fn a_servers_own_errors_come_through_typed() {
    let place = Place::new();
    place.numbers(&["next", "order", "-n", "5"]);
    std::fs::write(
        place.path("x.toml"),
        "cluster = \"embedded\"\nauto_create = [\"order\"]\n[listen]\ngrpc = \"127.0.0.1:0\"\nhttp = \"127.0.0.1:0\"\nredis = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n",
    )
    .unwrap();
    let process = place.start(&["serve", "--json", "--config", "x.toml"]);
    let address = process.until("a server says where it is", |process| {
        let out = process.out();
        let line = out.lines().next().filter(|_| out.contains('\n'))?;
        let addresses: serde_json::Value = serde_json::from_str(line).unwrap();
        Some(format!("http://{}", addresses["grpc"].as_str().unwrap()))
    });
    let client = Client::connect(&address).await.unwrap();
    for error in [
        client.sequence("unheard-of").unwrap().next().await.unwrap_err(),
        client.sequence("unheard-of").unwrap().next_fresh().await.unwrap_err(),
    ] {
        assert_eq!((error.kind(), error.reason()), (ErrorKind::NotFound, "SEQUENCE_NOT_FOUND"), "{error}");
        assert!(!error.is_retryable());
    }
    assert!(client.sequence("order").unwrap().next().await.map(Number::get).unwrap() > 5);
}

#[tokio::test]
async fn more_than_one_lease_holds_is_all_or_nothing() {
    let place = Place::new();
    let (_server, address) = dev(&place);
    let orders = Client::connect(&address).await.unwrap().sequence("order").unwrap();
    // Three times what a server gives at once.
    let numbers = orders.deadline(Duration::from_secs(30)).next_many(30_000).await.unwrap();
    assert_eq!(numbers.len(), 30_000);
    assert!(numbers.is_sorted_by(|a, b| a < b));
}
