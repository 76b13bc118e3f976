//! Redis and memcached: what they forget, and when.

use sequent_testkit::servers::{
    Engine, Memcached, RedisLike, RedisServer, Server, SpeaksRedis, ValkeyServer,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

/// The first line of the answer to a line.
async fn ask<E: Engine>(server: &Server<E>, line: &str) -> String {
    let mut stream = BufReader::new(TcpStream::connect(server.address()).await.unwrap());
    stream.write_all(format!("{line}\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_line(&mut answer).await.unwrap();
    answer.trim_end().to_owned()
}

#[tokio::test]
async fn redis_without_a_log_forgets_at_a_kill_and_with_one_it_does_not() {
    forgets_without_a_log::<RedisServer>().await;
}

#[tokio::test]
async fn so_does_valkey() {
    forgets_without_a_log::<ValkeyServer>().await;
}

async fn forgets_without_a_log<P: SpeaksRedis>() {
    let server = Server::<RedisLike<P>>::start().await;
    assert_eq!(ask(&server, "INCR n").await, ":1");
    server.kill().await;
    server.restart().await;
    assert_eq!(ask(&server, "INCR n").await, ":1");

    server.set("appendonly", "yes").await;
    server.set("appendfsync", "always").await;
    server.restart().await;
    assert_eq!(ask(&server, "INCR n").await, ":1");
    let copy = server.copy().await;
    assert_eq!(ask(&server, "INCR n").await, ":2");
    server.kill().await;
    server.restart().await;
    assert_eq!(ask(&server, "INCR n").await, ":3");
    server.restore_from(&copy).await;
    assert_eq!(ask(&server, "INCR n").await, ":2");
    assert_eq!(server.url(), format!("redis://127.0.0.1:{}/0", server.port()));
}

#[tokio::test]
async fn memcached_forgets_with_each_end() {
    let server = Memcached::start_with(&[("disable-evictions", "")]).await;
    assert_eq!(ask(&server, "set n 0 0 1\r\n7").await, "STORED");
    assert_eq!(ask(&server, "incr n 1").await, "8");
    server.restart().await;
    assert_eq!(ask(&server, "incr n 1").await, "NOT_FOUND");
}
