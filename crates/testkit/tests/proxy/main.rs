//! Each mode of the proxy against a server that sends back what it gets.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod echo;

use std::{io::ErrorKind, sync::Arc, time::Duration};

use echo::Echo;
use sequent_core::Clock;
use sequent_testkit::{
    PausedClock,
    proxy::{Counts, Direction, Mode, Proxy},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// How long nothing has to come for it to count as nothing.
const QUIET: Duration = Duration::from_millis(100);

/// How long something may take that is sure to come.
const PATIENCE: Duration = Duration::from_secs(20);

async fn wire() -> (Arc<Echo>, Proxy) {
    let echo = Echo::start().await;
    let proxy = Proxy::to(echo.address).await;
    (echo, proxy)
}

/// A client whose first words have come back.
async fn client(proxy: &Proxy) -> TcpStream {
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    client.set_nodelay(true).unwrap();
    assert_eq!(ask(&mut client, "hello").await.unwrap(), "hello");
    client
}

async fn ask(client: &mut TcpStream, words: &str) -> std::io::Result<String> {
    client.write_all(words.as_bytes()).await?;
    let mut answer = vec![0; words.len()];
    client.read_exact(&mut answer).await?;
    Ok(String::from_utf8(answer).unwrap())
}

async fn was_reset(client: &mut TcpStream) {
    assert_eq!(client.read_u8().await.unwrap_err().kind(), ErrorKind::ConnectionReset);
}

async fn hears_nothing(client: &mut TcpStream) {
    let heard = timeout(QUIET, client.read_u8()).await;
    assert!(heard.is_err(), "{heard:?}");
}

#[tokio::test]
async fn passes_and_counts_to_both_ends() {
    let (echo, proxy) = wire().await;
    let mut client = client(&proxy).await;
    assert_eq!(proxy.counts(), Counts { accepted: 1, open: 1, bytes_there: 5, bytes_back: 5 });
    client.shutdown().await.unwrap();
    // The end goes there, and the server's comes back.
    assert_eq!(client.read_u8().await.unwrap_err().kind(), ErrorKind::UnexpectedEof);
    assert!(echo.now()[0].ended);
    let closed = async {
        while proxy.counts().open > 0 {
            tokio::task::yield_now().await;
        }
    };
    assert!(timeout(PATIENCE, closed).await.is_ok(), "{:?}", proxy.counts());
}

#[tokio::test(start_paused = true)]
async fn latency_is_added_to_each_way_and_does_not_add_up() {
    let (_echo, proxy) = wire().await;
    let mut client = client(&proxy).await;
    let clock = PausedClock::new();
    proxy.set(Mode::Latency { there: Duration::from_millis(300), back: Duration::from_millis(50) }).await;
    let before = clock.now();
    for _ in 0..10 {
        client.write_all(b"0123456789").await.unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    client.read_exact(&mut [0; 100]).await.unwrap();
    let took = (clock.now() - before).as_millis();
    // The last piece left after 90 ms. Had it waited for those before it to arrive, it had been 650.
    assert!((440..600).contains(&took), "{took} ms");
}

#[tokio::test]
async fn reset_ends_old_and_new_connections() {
    let (echo, proxy) = wire().await;
    let mut old = client(&proxy).await;
    proxy.set(Mode::Reset).await;
    was_reset(&mut old).await;
    let mut new = TcpStream::connect(proxy.address()).await.unwrap();
    was_reset(&mut new).await;
    assert!(echo.when(|heard| heard[0].ended).await.len() == 1);
    proxy.set(Mode::Pass).await;
    client(&proxy).await;
}

#[tokio::test]
async fn turned_it_ends_connections_to_the_other_server() {
    let ((first, proxy), second) = (wire().await, Echo::start().await);
    let mut old = client(&proxy).await;
    proxy.turn_to(second.address).await;
    was_reset(&mut old).await;
    assert!(first.when(|heard| heard[0].ended).await.len() == 1);
    client(&proxy).await;
    assert_eq!((first.now().len(), second.now().len()), (1, 1));
}

#[tokio::test]
async fn refuse_has_nobody_listen_until_told_otherwise() {
    let (_echo, proxy) = wire().await;
    let mut old = client(&proxy).await;
    for _ in 0..3 {
        proxy.set(Mode::Refuse).await;
        let refused = TcpStream::connect(proxy.address()).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        proxy.set(Mode::Pass).await;
        client(&proxy).await;
    }
    was_reset(&mut old).await;
}

#[tokio::test]
async fn a_black_hole_swallows_both_ways_and_neither_end_knows() {
    let (echo, proxy) = wire().await;
    let mut old = client(&proxy).await;
    proxy.set(Mode::BlackHole).await;
    old.write_all(b"lost").await.unwrap();
    let mut new = TcpStream::connect(proxy.address()).await.unwrap();
    new.write_all(b"lost").await.unwrap();
    hears_nothing(&mut old).await;
    hears_nothing(&mut new).await;
    // Nor does the server hear of a client that gives up.
    drop(new);
    old.shutdown().await.unwrap();
    tokio::time::sleep(QUIET).await;
    assert_eq!(echo.now(), [echo::Heard { bytes: b"hello".into(), ended: false }]);
    proxy.set(Mode::Pass).await;
    assert_eq!(echo.when(|heard| heard[0].ended).await[0].bytes, b"hello");
    client(&proxy).await;
}

#[tokio::test]
async fn half_open_the_server_sees_it_closed_and_the_client_does_not() {
    let (echo, proxy) = wire().await;
    let mut old = client(&proxy).await;
    proxy.set(Mode::HalfOpen).await;
    echo.when(|heard| heard[0].ended).await;
    old.write_all(b"lost").await.unwrap();
    hears_nothing(&mut old).await;
    let mut new = TcpStream::connect(proxy.address()).await.unwrap();
    hears_nothing(&mut new).await;
    assert_eq!(echo.now().len(), 1);
    proxy.set(Mode::Pass).await;
    was_reset(&mut old).await;
    was_reset(&mut new).await;
}

#[tokio::test]
async fn what_was_held_arrives_later() {
    let (echo, proxy) = wire().await;
    let mut old = client(&proxy).await;
    proxy.set(Mode::Hold).await;
    old.write_all(b"late").await.unwrap();
    hears_nothing(&mut old).await;
    assert_eq!(echo.now()[0].bytes, b"hello");
    proxy.set(Mode::Pass).await;
    let mut answer = [0; 4];
    old.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"late");
}

#[tokio::test]
async fn a_reply_is_cut_after_its_request_was_done() {
    let (echo, proxy) = wire().await;
    let mut old = client(&proxy).await;
    proxy.set(Mode::Cut { direction: Direction::Back, after_bytes: 0 }).await;
    old.write_all(b"done").await.unwrap();
    was_reset(&mut old).await;
    assert_eq!(echo.when(|heard| heard[0].ended).await[0].bytes, b"hellodone");
}

#[tokio::test]
async fn a_request_is_cut_in_the_middle_and_each_connection_has_its_own_count() {
    let (echo, proxy) = wire().await;
    let mut old = client(&proxy).await;
    proxy.set(Mode::Cut { direction: Direction::There, after_bytes: 7 }).await;
    assert_eq!(ask(&mut old, "abc").await.unwrap(), "abc");
    let mut new = client(&proxy).await;
    for (number, client) in [&mut old, &mut new].into_iter().enumerate() {
        client.write_all(b"defghij").await.unwrap();
        let heard = echo.when(|heard| heard[number].ended).await;
        assert_eq!(heard[number].bytes, [&b"helloabcdefg"[..], b"hellode"][number]);
    }
}

#[tokio::test]
async fn without_a_server_connections_are_reset() {
    let proxy = Proxy::to("127.0.0.1:1".parse().unwrap()).await;
    was_reset(&mut TcpStream::connect(proxy.address()).await.unwrap()).await;
    assert_eq!(proxy.counts().accepted, 1);
}
