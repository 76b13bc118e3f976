//! Drain: connections are served until the server closes, and then told that this is the end.

use sequent_server::Drained;

use super::{Client, request};
use crate::{Server, raw_http};

#[tokio::test]
async fn kept_connections_are_served_and_closed_after_their_last_reply() {
    let mut server = Server::with(&[("limits.drain_delay_s", "1")]).await;
    let mut kept = Client::to(&server).await;
    kept.expect("INCR order", ":1\r\n").await;
    let mut idle = Client::to(&server).await;
    idle.expect("PING", "+PONG\r\n").await;
    server.stop();
    while raw_http::get(server.admin, "/readyz").await.status == 200 {
        tokio::task::yield_now().await;
    }
    kept.expect("INCR order", ":2\r\n").await;
    kept.expect_line("INFO sequent", "$").await;
    while kept.line().await != "sequent_ready:0" {}
    let mut late = Client::to(&server).await;
    late.expect("INCR order", ":3\r\n").await;
    idle.expect_end("an idle connection").await;
    late.expect_end("a connection that was made while the server drained").await;
    assert_eq!(server.ended.await.unwrap(), Drained { dropped: 0 });
}

#[tokio::test]
async fn half_a_command_is_waited_for_and_is_the_last() {
    let mut server = Server::start().await;
    let mut client = Client::to(&server).await;
    client.expect("INCR order", ":1\r\n").await;
    let next = request(&["INCR", "order"]);
    client.send(&next[..next.len() - 4]).await;
    let mut gone = Client::to(&server).await;
    gone.expect("PING", "+PONG\r\n").await;
    server.stop();
    gone.expect_end("an idle connection").await;
    client.send(&[&next[next.len() - 4..], &next, &next].concat()).await;
    client.expect_bytes(":2\r\n:3\r\n:4\r\n", "the rest, and what came with it").await;
    client.expect_end("the last reply").await;
    assert_eq!(server.ended.await.unwrap(), Drained { dropped: 0 });
}
