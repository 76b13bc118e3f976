//! Connection limits: a connection above the limit is served, and the one that has been idle longest ends.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{Server, raw_http};

/// A connection that was served and stays open.
async fn stay(server: &Server) -> TcpStream {
    let mut socket = TcpStream::connect(server.http).await.unwrap();
    ask(&mut socket).await;
    socket
}

async fn ask(socket: &mut TcpStream) {
    socket.write_all(b"POST /v1/sequences/order/next HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut answer = [0; 4096];
    let length = socket.read(&mut answer).await.unwrap();
    assert!(answer[..length].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer[..length]));
}

#[tokio::test]
async fn the_longest_idle_connection_of_a_full_listener_makes_room() {
    for limit in ["limits.connections_per_address_max", "limits.connections_max"] {
        let server = Server::with(&[(limit, "3")]).await;
        let mut held = [stay(&server).await, stay(&server).await, stay(&server).await];
        let answer = raw_http::post(server.http, "/v1/sequences/order/next", "").await;
        assert_eq!(answer.status, 200, "{limit}: {answer:?}");
        // The other listeners have limits of their own.
        assert_eq!(raw_http::get(server.admin, "/livez").await.status, 200);
        // The first one was looked at first, and had asked for nothing since.
        let mut rest = Vec::new();
        held[0].read_to_end(&mut rest).await.unwrap();
        for kept in &mut held[1..] {
            ask(kept).await;
        }
    }
}

/// A connection of Redis's protocol that takes one number.
async fn increment(socket: &mut TcpStream) {
    socket.write_all(b"INCR order\r\n").await.unwrap();
    let mut reply = [0; 64];
    let length = socket.read(&mut reply).await.unwrap();
    assert!(reply[..length].starts_with(b":"), "{}", String::from_utf8_lossy(&reply[..length]));
}

#[tokio::test]
async fn the_longest_idle_redis_connection_makes_room() {
    let server = Server::with(&[("limits.connections_max", "2")]).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut socket = TcpStream::connect(server.redis).await.unwrap();
        increment(&mut socket).await;
        held.push(socket);
    }
    assert_eq!(held[0].read(&mut [0; 8]).await.unwrap(), 0, "the first one had been idle longest");
    for kept in &mut held[1..] {
        increment(kept).await;
    }
}
