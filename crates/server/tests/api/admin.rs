//! Admin listener: health and status.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{Server, raw_http};

#[tokio::test]
async fn status_is_json_with_numbers_as_strings() {
    let server = Server::start().await;
    server.number().await;
    let json = raw_http::get(server.admin, "/v1/status").await.json();
    assert_eq!((&json["phase"], &json["cluster"]), (&"serving".into(), &"test".into()));
    assert_eq!(json["shards"][1]["state"], "live");
    assert_eq!((&json["keys"][0]["key"], &json["keys"][0]["given"]), (&"order".into(), &"1".into()));
}

/// A status may be a few seconds old, and contains its age.
#[tokio::test]
async fn a_status_names_the_instant_of_its_look() {
    let server = Server::start().await;
    server.number().await;
    let first = raw_http::get(server.admin, "/v1/status").await.json();
    let instant = |json: &serde_json::Value| json["as_of"].as_str().unwrap().to_owned();
    let (then, given) = (instant(&first), |json: &serde_json::Value| json["keys"][0]["given"].clone());
    assert!(then.len() == 24 && then.starts_with("20") && then.ends_with('Z'), "{then}");
    for _ in 0..5 {
        server.number().await;
    }
    let second = raw_http::get(server.admin, "/v1/status").await.json();
    // The same snapshot, or another one if the machine was stalled for seconds.
    let same = instant(&second) == then;
    assert!(same || instant(&second) > then, "{second}");
    assert_eq!(same, given(&second) == given(&first), "{second}");
}

#[tokio::test]
async fn admin_is_read_only_and_alone_on_its_listener() {
    let server = Server::start().await;
    assert_eq!(raw_http::get(server.admin, "/livez").await.status, 200);
    assert_eq!(raw_http::get(server.admin, "/readyz").await.status, 200);
    assert_eq!(raw_http::post(server.admin, "/readyz", "").await.status, 405);
    assert_eq!(raw_http::post(server.admin, "/v1/sequences/order/next", "").await.status, 405);
    assert_eq!(raw_http::get(server.admin, "/v1/sequences/order/next").await.status, 404);
    for path in ["/metrics", "/v1/status", "/console"] {
        assert_eq!(raw_http::get(server.http, path).await.status, 404, "{path}");
    }
    for path in ["/livez", "/readyz"] {
        let said = raw_http::get(server.http, path).await;
        assert_eq!((said.status, said.header("cache-control")), (200, Some("no-store")), "{path}");
    }
}

/// Time is paused, and pauses pass at once.
#[tokio::test]
async fn an_idle_connection_of_the_admin_listener_ends_before_one_of_a_door() {
    let server = Server::start().await;
    let ask = async |line: &mut TcpStream, path: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        line.write_all(head.as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        line.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
    };
    let mut admin = TcpStream::connect(server.admin).await.unwrap();
    let mut api = TcpStream::connect(server.http).await.unwrap();
    ask(&mut admin, "/livez").await;
    ask(&mut api, "/openapi.json").await;
    tokio::time::pause();
    tokio::time::sleep(Duration::from_secs(8)).await;
    tokio::time::resume();
    let mut rest = Vec::new();
    admin.read_to_end(&mut rest).await.unwrap();
    assert!(rest.ends_with(b"live\n"), "and nothing more");
    // Bytes that were not read before belong to the previous response.
    api.write_all(b"GET /none HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut rest = Vec::new();
    api.read_to_end(&mut rest).await.unwrap();
    let rest = String::from_utf8_lossy(&rest);
    assert!(rest.contains("HTTP/1.1 404"), "it is still served: {rest}");
}

#[tokio::test]
async fn slots_without_a_store_have_no_series() {
    let server = Server::with(&[("ring.shard_bits", "3")]).await;
    server.number().await;
    let body = raw_http::get(server.admin, "/metrics").await.body;
    let of_slot = |slot: u8| body.lines().filter(|line| line.contains(&format!("slot=\"{slot}\""))).count();
    let counts: Vec<usize> = (0..8).map(of_slot).collect();
    assert!(counts[..2].iter().all(|count| *count > 20), "{counts:?}");
    assert_eq!(counts[2..], [0; 6]);
    let status: serde_json::Value =
        serde_json::from_str(&raw_http::get(server.admin, "/v1/status").await.body).unwrap();
    assert_eq!(status["shards"].as_array().unwrap().len(), 8, "people see them all the same");
}
