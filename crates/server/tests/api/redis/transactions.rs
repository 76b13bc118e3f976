//! `MULTI`: what pipelines of some clients are by default.

use super::{Client, request};
use crate::Server;

#[tokio::test]
async fn queued_commands_run_in_order_and_each_answers_for_itself() {
    let server = Server::start().await;
    let mut client = Client::to(&server).await;
    client.expect("MULTI", "+OK\r\n").await;
    client.expect_line("MULTI", "-ERR MULTI calls can not be nested").await;
    for line in ["INCR order", "INCR order", "SET order 7", "PING 'a b'", "INCR oder", "INCRBY order 1"] {
        client.expect_line(line, "+QUEUED").await;
    }
    assert_eq!(server.number().await, 1, "nothing has run");
    client.expect_line("EXEC", "*6").await;
    assert_eq!((client.integer().await, client.integer().await), (2, 3));
    assert!(client.line().await.starts_with("-ERR SET is not for sequences"), "in its own place");
    assert_eq!((client.line().await.as_str(), client.line().await.as_str()), ("$3", "a b"));
    assert!(client.line().await.starts_with("-ERR SEQUENCE_NOT_FOUND"));
    assert_eq!(client.integer().await, 4);
    client.expect_line("EXEC", "-ERR EXEC without MULTI").await;
}

#[tokio::test]
async fn a_transaction_with_a_command_that_is_none_runs_nothing() {
    let server = Server::start().await;
    let mut client = Client::to(&server).await;
    for bad in ["NONSENSE", "INCR", "INCRBY order"] {
        client.expect("MULTI", "+OK\r\n").await;
        client.expect("INCR order", "+QUEUED\r\n").await;
        client.expect_line(bad, "-ERR ").await;
        client.expect("INCR order", "+QUEUED\r\n").await;
        client.expect_line("EXEC", "-EXECABORT ").await;
    }
    client.expect("MULTI", "+OK\r\n").await;
    client.expect("INCR order", "+QUEUED\r\n").await;
    client.expect("DISCARD", "+OK\r\n").await;
    client.expect("MULTI", "+OK\r\n").await;
    client.expect("RESET", "+RESET\r\n").await;
    client.expect("INCR order", ":1\r\n").await;
    client.expect("MULTI", "+OK\r\n").await;
    client.expect("EXEC", "*0\r\n").await;
}

#[tokio::test]
async fn a_pipeline_of_ten_thousand_is_one_transaction_and_a_larger_one_is_refused() {
    let server = Server::start().await;
    let mut client = Client::to(&server).await;
    let pipeline = |count: usize| {
        [request(&["MULTI"]), request(&["INCR", "order"]).repeat(count), request(&["EXEC"])].concat()
    };
    client.send(&pipeline(10_000)).await;
    assert_eq!(client.line().await, "+OK");
    for _ in 0..10_000 {
        assert_eq!(client.line().await, "+QUEUED");
    }
    assert_eq!(client.line().await, "*10000");
    for at in 1..=10_000 {
        assert_eq!(client.integer().await, at);
    }
    let (mut reader, mut writer) = client.socket.into_split();
    let sent = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt as _;
        writer.write_all(&pipeline(65_537)).await.unwrap();
        writer
    });
    let mut said = Vec::new();
    let first =
        "INVALID_ARGUMENT: commands is \"65537\": at most 65536 commands are allowed between MULTI and EXEC";
    let last =
        format!("-EXECABORT Transaction discarded because of previous errors, the first: ERR {first}\r\n");
    while !said.ends_with(last.as_bytes()) {
        use tokio::io::AsyncReadExt as _;
        assert_ne!(reader.read_buf(&mut said).await.unwrap(), 0);
    }
    let said = String::from_utf8(said).unwrap();
    assert!(
        said.contains("-ERR INVALID_ARGUMENT: commands is \"65537\": at most 65536 commands are allowed")
    );
    drop(sent.await.unwrap());
    assert_eq!(server.number().await, 10_001);
}

#[tokio::test]
async fn a_command_is_refused_when_it_is_queued_or_has_its_reply() {
    let server = Server::start().await;
    let mut client = Client::to(&server).await;
    // As long as a command may be.
    let longest = "x".repeat(64 * 1024 - b"*2\r\n$4\r\nECHO\r\n$65514\r\n".len());
    client.expect("MULTI", "+OK\r\n").await;
    client.send(&request(&["ECHO", &longest])).await;
    assert_eq!(client.line().await, "+QUEUED");
    client.expect("INCR order", "+QUEUED\r\n").await;
    client.expect_line("EXEC", "*2").await;
    assert_eq!(client.line().await, format!("${}", longest.len()));
    assert_eq!(client.line().await, longest);
    assert_eq!(client.integer().await, 1);
    // An inline command that is longer than that once each argument has its length.
    client.expect("MULTI", "+OK\r\n").await;
    client.send(format!("ECHO {}\r\n", "x".repeat(65_520)).as_bytes()).await;
    assert!(client.line().await.starts_with("-ERR INVALID_ARGUMENT: bytes is \"65544\""));
    client.expect("INCR order", "+QUEUED\r\n").await;
    client.expect_line("EXEC", "-EXECABORT ").await;
    client.expect("INCR order", ":2\r\n").await;
}
