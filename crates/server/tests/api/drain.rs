//! Drain: unready at once, still serving, then gone with every request answered.

use std::time::Duration;

use sequent_server::Drained;
use tokio::{io::AsyncReadExt, io::AsyncWriteExt, net::TcpStream};

use crate::{Server, ask, http2_frames, raw_http};

#[tokio::test]
async fn unready_at_once_still_serving_then_gone() {
    let mut server = Server::with(&[("limits.drain_delay_s", "1")]).await;
    assert_eq!(server.number().await, 1);
    let mut idle = TcpStream::connect(server.http).await.unwrap();
    let client = server.client().await;
    server.stop();
    while raw_http::get(server.admin, "/readyz").await.status == 200 {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.number().await, 2, "it still serves");
    assert_eq!(raw_http::get(server.admin, "/livez").await.status, 200);
    let shown = raw_http::get(server.admin, "/metrics").await.body;
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

#[tokio::test]
async fn a_request_in_work_is_waited_for_but_not_for_ever() {
    let mut server = Server::with(&[("limits.drain_timeout_s", "1")]).await;
    let mut slow = TcpStream::connect(server.http).await.unwrap();
    let head = b"POST /v1/sequences/order/next HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{\"count\"";
    slow.write_all(head).await.unwrap();
    // A later request was answered, so the first one is in flight.
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

/// Reads the head of one response of an open connection.
async fn one_answer(socket: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    while !answer.ends_with(b"}") {
        answer.push(socket.read_u8().await.unwrap_or_else(|error| {
            panic!("{error} after {}", String::from_utf8_lossy(&answer));
        }));
    }
    String::from_utf8(answer).unwrap().to_lowercase()
}

#[tokio::test]
async fn a_draining_server_asks_kept_connections_to_leave_and_closes_none_under_a_request() {
    // Longer than any test.
    let mut server = Server::with(&[("limits.drain_delay_s", "300")]).await;
    let ask_once = b"POST /v1/sequences/order/next HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut kept = TcpStream::connect(server.http).await.unwrap();
    for _ in 0..2 {
        kept.write_all(ask_once).await.unwrap();
        let answer = one_answer(&mut kept).await;
        assert!(answer.starts_with("http/1.1 200 ") && !answer.contains("connection: close"), "{answer}");
    }
    let mut frames_of = TcpStream::connect(server.grpc).await.unwrap();
    frames_of.write_all(&[http2_frames::PREFACE, &http2_frames::settings(0)].concat()).await.unwrap();
    let mut client = server.client().await;
    client.next(ask("order", None)).await.unwrap();

    server.stop();
    while raw_http::get(server.admin, "/readyz").await.status == 200 {
        tokio::task::yield_now().await;
    }
    kept.write_all(ask_once).await.unwrap();
    let answer = one_answer(&mut kept).await;
    assert!(answer.starts_with("http/1.1 200 ") && answer.contains("connection: close"), "{answer}");
    assert_eq!(kept.read(&mut [0]).await.unwrap(), 0, "it is closed after that answer");
    // GOAWAY names the last stream that was accepted.
    while frame_kind(&mut frames_of).await != GOAWAY {}
    for _ in 0..3 {
        client.next(ask("order", None)).await.unwrap();
    }
    // A new connection is served.
    let mut late = server.client().await;
    late.next(ask("order", None)).await.unwrap();
    late.next(ask("order", None)).await.unwrap();
    assert_eq!(raw_http::post(server.http, "/v1/sequences/order/next", "").await.status, 200);
}

/// Frame type of GOAWAY.
const GOAWAY: u8 = 7;

/// Reads one frame and returns its type.
async fn frame_kind(socket: &mut TcpStream) -> u8 {
    let head = socket.read_u64().await.expect("a frame");
    let _rest_of_the_stream = socket.read_u8().await.unwrap();
    let mut payload = vec![0; usize::try_from(head >> 40).unwrap()];
    socket.read_exact(&mut payload).await.unwrap();
    head.to_be_bytes()[3]
}
