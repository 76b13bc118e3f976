//! Input that is no request, or too much of it: an error or a close within bounds, no number, and others are served.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use super::{Client, PATIENCE};
use crate::Server;

#[tokio::test]
async fn each_is_refused_in_words_and_the_connection_ends() {
    let server = Server::start().await;
    let long = [b"*2\r\n$4\r\nINCR\r\n$70000\r\n".as_slice(), &vec![b'x'; 70_000]].concat();
    let line = vec![b'x'; 70_000];
    let nested = b"*1\r\n".repeat(5000);
    let many = b"*1000000\r\n".as_slice();
    let rows: &[(&[u8], &str)] = &[
        (b"*x\r\n", "invalid multibulk length"),
        (many, "invalid multibulk length: at most 1024 are allowed"),
        (b"*1\r\n:1\r\n", "expected '$', got ':'"),
        (&nested, "expected '$', got '*'"),
        (b"*1\r\n$-5\r\n", "invalid bulk length"),
        (b"*1\r\n$4\r\nPINGx\r\n", "a bulk string is longer than its length"),
        (&long, "invalid bulk length: a command has at most 65536 bytes"),
        (&line, "too big inline request"),
        (b"INCR 'order\r\n", "unbalanced quotes in request"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "this is the protocol of Redis, without TLS"),
        (b"\xff\xff", "the first byte begins no request"),
        (b"\x00", "the first byte begins no request"),
    ];
    for (input, expected) in rows {
        let mut client = Client::to(&server).await;
        // The server may close before it has read everything.
        drop(client.socket.write_all(input).await);
        let mut said = String::new();
        while !said.starts_with("-ERR Protocol error: ") {
            said = client.line().await;
        }
        assert!(said.contains(expected), "{}: {said}", input[..input.len().min(40)].escape_ascii());
        client.expect_end(expected).await;
    }
    assert_eq!(server.number().await, 1, "nothing was consumed");
}

/// A browser that was made to send a request here, with commands in its body.
#[tokio::test]
async fn a_request_of_http_is_not_answered_and_does_nothing() {
    let server = Server::start().await;
    let post = "POST /v1/sequences/order/next HTTP/1.1\r\nHost: x\r\n\r\nINCR order\r\n";
    let host = "Host: x\r\nINCR order\r\n";
    let words = "*2\r\n$4\r\npost\r\n$1\r\n/\r\n*2\r\n$4\r\nINCR\r\n$5\r\norder\r\n";
    let put = "PUT /INCR HTTP/1.1\r\nContent-Length: 12\r\n\r\nINCR order\r\n";
    let old = "INCR order HTTP/1.0\r\n\r\nINCR order\r\n";
    let get = "GET / HTTP/1.1\r\nHost: x\r\nINCR order\r\n";
    let http2 = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nINCR order\r\n";
    let queued = "MULTI\r\nPUT / HTTP/1.1\r\n\r\nINCR order\r\nEXEC\r\n";
    for input in [post, host, words, put, old, get, http2] {
        let mut client = Client::to(&server).await;
        client.send(input.as_bytes()).await;
        client.expect_end(input).await;
    }
    let mut client = Client::to(&server).await;
    client.expect(queued, "+OK\r\n").await;
    client.expect_end(queued).await;
    let mut client = Client::to(&server).await;
    client.send(&super::request(&["ECHO", "HTTP/1.1"])).await;
    client.expect_bytes("$8\r\nHTTP/1.1\r\n", "an argument that is no line of HTTP").await;
    assert_eq!(server.number().await, 1, "nothing was consumed");
}

#[tokio::test]
async fn half_a_command_is_waited_for_but_not_for_ever() {
    let server = Server::start().await;
    let mut client = Client::to(&server).await;
    client.send(b"*2\r\n$4\r\nINCR\r\n$5\r\nor").await;
    let mut other = Client::to(&server).await;
    other.expect("INCR order", ":1\r\n").await;
    let mut said = String::new();
    let patience = Duration::from_secs(40);
    timeout(patience, client.socket.read_to_string(&mut said)).await.expect("it is closed").unwrap();
    assert!(
        said.starts_with(
            "-ERR Protocol error: the rest of a command or transaction did not arrive within about 15s"
        ),
        "{said}"
    );
    other.expect("INCR order", ":2\r\n").await;
}

#[tokio::test]
async fn a_peer_that_sends_all_and_half_closes_is_answered() {
    let server = Server::start().await;
    let mut client = Client::to(&server).await;
    client.send(b"INCR order\r\nPING\r\n").await;
    client.socket.shutdown().await.unwrap();
    let mut said = String::new();
    timeout(PATIENCE, client.socket.read_to_string(&mut said)).await.expect("an end").unwrap();
    assert_eq!(said, ":1\r\n+PONG\r\n");
}

#[tokio::test]
async fn an_unknown_command_never_closes() {
    let server = Server::start().await;
    let mut client = Client::to(&server).await;
    let long = format!("FOO {}", "x".repeat(60_000));
    for line in ["FOO", "foo 'a\rb' \"\\n+OK\"", &long, "\"\"", "'\\''"] {
        let said = client.expect_line(line, "-ERR unknown command '").await;
        assert!(said.len() < 400, "{said}");
    }
    client.expect("", "").await;
    client.send(b"*0\r\n*-1\r\n\r\n").await;
    client.expect("PING", "+PONG\r\n").await;
}
