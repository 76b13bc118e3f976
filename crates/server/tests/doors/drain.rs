//! The end of a server: unready at once, still serving, then gone, with every request answered.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sequent_server::Drained;
use tokio::{io::AsyncReadExt, io::AsyncWriteExt, net::TcpStream};

use crate::{Server, ask, wire};

#[tokio::test]
async fn unready_at_once_still_serving_then_gone() {
    let mut server = Server::with(&[("limits.drain_delay_s", "1")]).await;
    assert_eq!(server.number().await, 1);
    let mut idle = TcpStream::connect(server.http).await.unwrap();
    let client = server.client().await;
    server.stop();
    while wire::get(server.admin, "/readyz").await.status == 200 {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.number().await, 2, "it still serves");
    assert_eq!(wire::get(server.admin, "/livez").await.status, 200);
    let shown = wire::get(server.admin, "/metrics").await.body;
    let value = |name: &str| {
        let found = shown.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
        found.unwrap_or_else(|| panic!("{name} is missing in\n{shown}"))
    };
    assert!(value("sequent_draining_seconds ") > 0.0);
    assert!((value("sequent_drain_limit_seconds ") - 6.0).abs() < f64::EPSILON, "{shown}");
    assert_eq!((&mut server.ended).await.unwrap(), Drained { dropped: 0 });
    assert_eq!(idle.read(&mut [0]).await.unwrap_or(0), 0, "an idle connection is closed");
    drop(client);
    assert!(TcpStream::connect(server.http).await.is_err());
    assert!(TcpStream::connect(server.admin).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_that_was_taken_goes_unanswered() {
    let mut server = Server::with(&[("limits.drain_delay_s", "1")]).await;
    let leaving = Arc::new(AtomicBool::new(false));
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..8 {
        let (leaving, mut client, http) = (Arc::clone(&leaving), server.client().await, server.http);
        callers.spawn(async move {
            let mut calls = 0;
            while !leaving.load(Ordering::Relaxed) {
                if caller % 2 == 0 {
                    client.next(ask("order", None)).await.unwrap();
                } else {
                    assert_eq!(wire::post(http, "/v1/sequences/order/next", "").await.status, 200);
                }
                calls += 1;
            }
            calls
        });
    }
    server.stop();
    while wire::get(server.admin, "/readyz").await.status == 200 {
        tokio::task::yield_now().await;
    }
    // What a balancer does once it sees that the server is not ready.
    leaving.store(true, Ordering::Relaxed);
    let calls: usize = callers.join_all().await.into_iter().sum();
    assert!(calls > 0);
    assert_eq!(server.ended.await.unwrap(), Drained { dropped: 0 });
}

#[tokio::test]
async fn a_request_in_work_is_waited_for_but_not_for_ever() {
    let mut server = Server::with(&[("limits.drain_timeout_s", "1")]).await;
    let mut slow = TcpStream::connect(server.http).await.unwrap();
    let head = b"POST /v1/sequences/order/next HTTP/1.1\r\nhost: x\r\ncontent-length: 11\r\n\r\n{\"count\"";
    slow.write_all(head).await.unwrap();
    // The request is in work once another one that came later is answered.
    server.number().await;
    let mut other = TcpStream::connect(server.http).await.unwrap();
    other.write_all(head).await.unwrap();
    server.number().await;
    server.stop();
    tokio::time::sleep(Duration::from_millis(100)).await;
    slow.write_all(b":2}").await.unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert_eq!(server.ended.await.unwrap(), Drained { dropped: 1 }, "the other never sent its body");
}
