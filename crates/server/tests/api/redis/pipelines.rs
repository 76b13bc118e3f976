//! Pipelines: every reply in order, however the requests arrive.

use std::{collections::BTreeSet, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use super::{Client, PATIENCE, request};
use crate::{Server, raw_http};

#[tokio::test]
async fn ten_thousand_numbers_come_in_order_and_once() {
    let server = Server::start().await;
    let mut client = Client::to(&server).await;
    client.send(&request(&["INCR", "order"]).repeat(10_000)).await;
    let mut seen = BTreeSet::new();
    for _ in 0..10_000 {
        assert!(seen.insert(client.integer().await));
    }
    assert_eq!(seen.last(), Some(&10_000));
    let shown = raw_http::get(server.admin, "/metrics").await.body;
    for series in [
        "sequent_requests_total{api=\"redis\",method=\"next\",reason=\"OK\"} ",
        "sequent_connections{listener=\"redis\"} ",
    ] {
        let value = shown.lines().find_map(|line| line.strip_prefix(series)?.parse::<f64>().ok());
        assert!(value.is_some_and(|value| value >= 1.0), "{series}: {value:?}");
    }
    let sum = |name: &str| -> f64 {
        let of = |line: &str| {
            let (series, value) = line.rsplit_once(' ')?;
            let is_it = series.starts_with(name) && series.contains("api=\"redis\"");
            is_it.then(|| value.parse::<f64>().ok())?
        };
        shown.lines().filter_map(of).sum()
    };
    assert!(sum("sequent_numbers_issued_total") > 9999.5);
}

#[tokio::test]
async fn commands_of_a_pipeline_may_differ_and_arrive_in_any_pieces() {
    let server = Server::start().await;
    let one = [
        request(&["INCR", "order"]),
        request(&["INCR", "order"]),
        request(&["PING"]),
        request(&["INCR", "short"]),
        b"INCR order\r\n".to_vec(),
        request(&["GET", "order"]),
    ]
    .concat();
    for piece in [1, 2, 3, 7, 50, 1000] {
        let mut client = Client::to(&server).await;
        for piece in one.chunks(piece) {
            client.send(piece).await;
            tokio::task::yield_now().await;
        }
        let (first, second) = (client.integer().await, client.integer().await);
        assert_eq!((client.line().await.as_str(), first + 1), ("+PONG", second), "pieces of {piece}");
        client.integer().await;
        assert_eq!(client.integer().await, second + 1);
        assert_eq!(client.line().await, "$-1");
    }
}

/// Many clients send all before they read anything.
#[tokio::test]
async fn a_pipeline_larger_than_all_buffers_is_answered() {
    let server = Server::start().await;
    let client = Client::to(&server).await;
    let (mut reader, mut writer) = client.socket.into_split();
    let count = 400_000;
    let sent = tokio::spawn(async move {
        writer.write_all(&request(&["INCR", "order"]).repeat(count)).await.unwrap();
        writer
    });
    let writer = timeout(PATIENCE, sent).await;
    // It may wait for its reader, but not for ever.
    let mut said = Vec::new();
    while !said.contains(&b'\n') {
        assert_ne!(reader.read_buf(&mut said).await.unwrap(), 0);
    }
    let mut lines = 0;
    loop {
        lines += said.split(|byte| *byte == b'\n').count() - 1;
        if lines == count {
            break;
        }
        said.clear();
        assert_ne!(timeout(PATIENCE, reader.read_buf(&mut said)).await.unwrap().unwrap(), 0);
    }
    drop(writer);
}

#[tokio::test]
async fn a_peer_that_reads_nothing_is_left_and_others_are_served() {
    let server = Server::start().await;
    let client = Client::to(&server).await;
    let (mut reader, mut writer) = client.socket.into_split();
    let sending = tokio::spawn(async move {
        let pipeline = request(&["INCR", "order"]).repeat(10_000);
        while writer.write_all(&pipeline).await.is_ok() {}
    });
    let mut other = Client::to(&server).await;
    let patience = Duration::from_secs(60);
    timeout(patience, sending).await.expect("the server closes the connection").unwrap();
    other.expect_line("INCR order", ":").await;
    let mut rest = Vec::new();
    drop(timeout(PATIENCE, reader.read_to_end(&mut rest)).await);
}
