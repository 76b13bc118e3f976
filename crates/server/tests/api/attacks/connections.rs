//! Connections that ask for nothing, by as many as a listener takes and more.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

use super::{Prober, metric, start};
use crate::{ask, http2_frames, raw_http};

const ENDED: &str = "sequent_connections_ended_total";
const REFUSED: &str = "sequent_connections_refused_total";

const HALF_HEAD: &[u8] = b"GET /livez HTTP/1.1\r\nhost: ";

/// A connection from another address of this host.
async fn connect(from: [u8; 4], to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    socket.connect(to).await.unwrap()
}

async fn half_heads(from: [u8; 4], to: SocketAddr, count: usize) -> Vec<TcpStream> {
    let mut held = Vec::new();
    for _ in 0..count {
        let mut socket = connect(from, to).await;
        // It may have made room for another one already.
        drop(socket.write_all(HALF_HEAD).await);
        held.push(socket);
    }
    held
}

/// Three addresses open more half heads than the admin listener takes, again and again.
#[tokio::test(flavor = "multi_thread")]
async fn health_is_answered_while_others_fill_the_listener() {
    let server = start(&[]).await;
    let admin = server.admin;
    let flood = tokio::spawn(async move {
        loop {
            let mut held = Vec::new();
            for host in 2..5 {
                held.extend(half_heads([127, 0, 0, host], admin, 16).await);
            }
        }
    });
    let filled = half_heads([127, 0, 0, 9], admin, 48).await;
    for look in 0..60 {
        for (to, path) in
            [(admin, "/livez"), (admin, "/readyz"), (server.http, "/livez"), (server.http, "/readyz")]
        {
            let said = raw_http::get(to, path).await;
            assert_eq!(said.status, 200, "look {look}, {path}: {said:?}");
        }
    }
    flood.abort();
    drop(filled);
    let admin_only = "listener=\"admin\"";
    assert!(metric(admin, ENDED, "listener=\"admin\",why=\"made_room\"").await > 0.0);
    assert!(metric(admin, REFUSED, admin_only).await < 0.5, "nobody was refused");
}

/// The places of an address that has few are not taken by one that has many.
#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_takes_its_own_places() {
    let server =
        start(&[("limits.connections_max", "40"), ("limits.connections_per_address_max", "30")]).await;
    let mut kept = connect([127, 0, 0, 1], server.http).await;
    let ask_on = async |kept: &mut TcpStream| {
        kept.write_all(b"POST /v1/sequences/order/next HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        let mut answer = [0; 4096];
        let length = kept.read(&mut answer).await.unwrap();
        assert!(
            answer[..length].starts_with(b"HTTP/1.1 200"),
            "{}",
            String::from_utf8_lossy(&answer[..length])
        );
    };
    ask_on(&mut kept).await;
    let prober = Prober::of(&server);
    let mut held = half_heads([127, 0, 0, 2], server.http, 60).await;
    held.extend(half_heads([127, 0, 0, 3], server.http, 60).await);
    ask_on(&mut kept).await;
    prober.was_served().await;
    assert!(metric(server.admin, REFUSED, "listener=\"http\"").await < 0.5, "nobody was refused");
}

/// Greeted HTTP/2 connections that ask for nothing make room for calls.
#[tokio::test(flavor = "multi_thread")]
async fn idle_grpc_connections_make_room() {
    let server =
        start(&[("limits.connections_max", "20"), ("limits.connections_per_address_max", "20")]).await;
    let greeting = [http2_frames::PREFACE, &http2_frames::settings(65_535)].concat();
    let mut held = Vec::new();
    for _ in 0..3 {
        for _ in 0..30 {
            let mut socket = connect([127, 0, 0, 2], server.grpc).await;
            drop(socket.write_all(&greeting).await);
            held.push(socket);
        }
        server.client().await.next(ask("order", None)).await.unwrap();
    }
    assert!(metric(server.admin, ENDED, "listener=\"grpc\",why=\"made_room\"").await > 60.0);
    assert!(metric(server.admin, REFUSED, "listener=\"grpc\"").await < 0.5, "nobody was refused");
}
