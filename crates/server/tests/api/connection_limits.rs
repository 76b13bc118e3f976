//! Connection limits: the newest connection above the limit is refused, and the others are served.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{Server, raw_http};

/// How often a connection is retried after another one was closed.
const TRIES_MAX: usize = 500;

/// A connection that was served and stays open.
async fn stay(server: &Server) -> TcpStream {
    let mut socket = TcpStream::connect(server.http).await.unwrap();
    socket.write_all(b"POST /v1/sequences/order/next HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut answer = [0; 12];
    socket.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    socket
}

#[tokio::test]
async fn an_address_has_its_share_of_a_door_and_gets_a_place_back() {
    for limit in ["limits.connections_per_address_max", "limits.connections_max"] {
        let server = Server::with(&[(limit, "3")]).await;
        let mut held = [stay(&server).await, stay(&server).await, stay(&server).await];
        let refused = raw_http::post(server.http, "/v1/sequences/order/next", "").await;
        assert_eq!((refused.status, refused.head.as_str()), (0, ""), "{limit}: hung up on, unread");
        // The other listeners have limits of their own.
        assert_eq!(raw_http::get(server.admin, "/livez").await.status, 200);
        held[0].shutdown().await.unwrap();
        let mut status = 0;
        for _ in 0..TRIES_MAX {
            status = raw_http::post(server.http, "/v1/sequences/order/next", "").await.status;
            if status == 200 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        assert_eq!(status, 200, "{limit}");
    }
}
