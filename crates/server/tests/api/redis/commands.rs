//! Each command: what it answers, and what it refuses.

use super::Client;
use crate::{Server, raw_http};

async fn with_dense() -> (Server, Client) {
    let server = Server::with(&[("limits.define", "true"), ("ledger.allow_lossy", "true")]).await;
    let mut client = Client::to(&server).await;
    client.expect_line("SEQ.DEFINE bill placement dense", "*").await;
    (server, client)
}

/// Reads what is left of a reply, up to that of `PING`.
async fn to_pong(client: &mut Client) -> Vec<String> {
    client.send(b"PING\r\n").await;
    let mut lines = Vec::new();
    loop {
        let line = client.line().await;
        if line == "+PONG" {
            return lines;
        }
        lines.push(line);
    }
}

#[tokio::test]
async fn numbers_are_integers_and_those_of_all_apis() {
    let server = Server::start().await;
    let mut client = Client::to(&server).await;
    client.expect("INCR order", ":1\r\n").await;
    assert_eq!(server.number().await, 2);
    client.expect("incr order", ":3\r\n").await;
    client.expect("INCRBY order 1", ":4\r\n").await;
    client.expect("SEQ.NEXT order", ":5\r\n").await;
    client.expect("SEQ.NEXT order COUNT 3", "*3\r\n:6\r\n:7\r\n:8\r\n").await;
    client.expect("SEQ.NEXT order COUNT 1", "*1\r\n:9\r\n").await;
}

#[tokio::test]
async fn a_template_gives_texts_and_no_integers() {
    let server = Server::start().await;
    let mut client = Client::to(&server).await;
    let next = "SEQ.NEXT dated WITH area 010 AT 2026-04-01";
    client.expect(next, "$16\r\n20260401010\"0001\r\n").await;
    let two = "*2\r\n$16\r\n20260401010\"0002\r\n$16\r\n20260401010\"0003\r\n";
    client.expect(&format!("{next} COUNT 2"), two).await;
    for line in ["INCR dated", "INCRBY dated 1", "INCRBY dated 2"] {
        client.expect_line(line, "-ERR INVALID_ARGUMENT: key is \"dated\": it has a template").await;
    }
    client.expect(next, "$16\r\n20260401010\"0004\r\n").await;
    client
        .expect_line("SEQ.NEXT dated", "-ERR INVALID_ARGUMENT: values.area is missing: the template needs it")
        .await;
    client.expect_line("SEQ.NEXT order WITH area 010", "-ERR INVALID_ARGUMENT: values.area is \"010\"").await;
}

#[tokio::test]
async fn a_range_is_had_where_it_is_consecutive_whatever_happens() {
    let (server, mut client) = with_dense().await;
    to_pong(&mut client).await;
    client.expect("INCR bill", ":1\r\n").await;
    client.expect("INCRBY bill 5", ":6\r\n").await;
    client.expect("INCR bill", ":7\r\n").await;
    // Its numbers come from two slots, of which one may be ahead.
    let refusal = "-ERR INVALID_ARGUMENT: increment is \"5\": order is spread over shards";
    client.expect_line("INCRBY order 5", refusal).await;
    client.expect_line("INCRBY unknown 5", "-ERR INVALID_ARGUMENT: increment is \"5\": unknown is not").await;
    for amount in ["0", "-1", "x", "10001", "99999999999999999999"] {
        let refusal = format!("-ERR INVALID_ARGUMENT: increment is \"{amount}\": 1 to 10000 are allowed");
        client.expect_line(&format!("INCRBY bill {amount}"), &refusal).await;
    }
    client.expect("INCR bill", ":8\r\n").await;
    assert_eq!(server.number().await, 1, "refusals use up no number");
}

#[tokio::test]
async fn what_is_read_is_what_is_known_and_nothing_is_defined_by_it() {
    let server = Server::with(&[
        ("limits.define", "true"),
        ("ledger.allow_lossy", "true"),
        ("auto_create", "[\"*\"]"),
    ])
    .await;
    let mut client = Client::to(&server).await;
    for (line, reply) in [
        ("GET __Booksleeve_TieBreak", "$-1\r\n"),
        ("MGET a b", "*2\r\n$-1\r\n$-1\r\n"),
        ("EXISTS a b", ":0\r\n"),
        ("TYPE a", "+none\r\n"),
        ("TTL a", ":-2\r\n"),
        ("PTTL a", ":-2\r\n"),
        ("EXPIRE a 7", ":0\r\n"),
        ("PERSIST a", ":0\r\n"),
        ("GET 'no name'", "$-1\r\n"),
    ] {
        client.expect(line, reply).await;
    }
    client.expect_line("SEQ.SHOW a", "-ERR SEQUENCE_NOT_FOUND: ").await;
    client.expect_line("SEQ.DEFINE bill placement dense", "*").await;
    to_pong(&mut client).await;
    client.expect("GET bill", "$-1\r\n").await;
    client.expect("INCRBY bill 3", ":3\r\n").await;
    client.expect("INCR order", ":1\r\n").await;
    for (line, reply) in [
        ("GET bill", "$1\r\n3\r\n"),
        // Not known: servers and clients hold numbers of it ready.
        ("GET order", "$-1\r\n"),
        ("MGET order bill a", "*3\r\n$-1\r\n$1\r\n3\r\n$-1\r\n"),
        ("EXISTS order bill a order", ":3\r\n"),
        ("TYPE order", "+string\r\n"),
        ("TTL order", ":-1\r\n"),
        ("INCR order", ":2\r\n"),
        ("INCR a", ":1\r\n"),
        ("EXISTS a", ":1\r\n"),
    ] {
        client.expect(line, reply).await;
    }
}

#[tokio::test]
async fn definitions_are_made_and_shown() {
    let server = Server::with(&[("limits.define", "true")]).await;
    let mut client = Client::to(&server).await;
    client.expect_line("SEQ.DEFINE parcel start 1000 step 10", "*").await;
    let said = to_pong(&mut client).await;
    assert!(said.windows(2).any(|pair| pair == ["$6", "parcel"]), "{said:?}");
    client.expect("SEQ.NEXT parcel COUNT 2", "*2\r\n:1000\r\n:1010\r\n").await;
    client
        .expect_line(
            "INCRBY parcel 2",
            "-ERR INVALID_ARGUMENT: increment is \"2\": numbers of parcel are 10 apart",
        )
        .await;
    client.expect_line("SEQ.SHOW parcel", "*").await;
    let said = to_pong(&mut client).await;
    assert!(said.windows(3).any(|pair| pair == ["step", "$2", "10"]), "{said:?}");
    client.expect_line("SEQ.DEFINE zero start 0 placement dense", "*").await;
    to_pong(&mut client).await;
    for (line, reply) in [("GET zero", "$-1\r\n"), ("INCR zero", ":0\r\n"), ("GET zero", "$1\r\n0\r\n")] {
        client.expect(line, reply).await;
    }
    client.expect_line("SEQ.DEFINE lean reserve_ms 0 numbering encoded", "*").await;
    to_pong(&mut client).await;
    for (line, reply) in [
        ("SEQ.DEFINE parcel start", "-ERR INVALID_ARGUMENT: start is \"missing\""),
        ("SEQ.DEFINE parcel step 0", "-ERR INVALID_ARGUMENT: step is \"0\""),
        ("SEQ.DEFINE parcel stpe 1", "-ERR INVALID_ARGUMENT: definition is "),
        ("SEQ.DEFINE parcel step 1 step 2", "-ERR INVALID_ARGUMENT: step is \"2\": it was said before"),
        ("SEQ.DEFINE 'a b'", "-ERR INVALID_ARGUMENT: name is \"a b\""),
        ("SEQ.DEFINE parcel start 5", "-ERR DEFINITION_CONFLICT: "),
    ] {
        client.expect_line(line, reply).await;
    }
    let shown = raw_http::get(server.http, "/v1/sequences/parcel").await.json();
    assert_eq!(shown["version"], 1, "{shown}");
    let server = Server::start().await;
    let mut client = Client::to(&server).await;
    client.expect_line("SEQ.DEFINE parcel", "-NOPERM PERMISSION_DENIED: ").await;
}

#[tokio::test]
async fn a_lease_has_blocks_and_an_age() {
    let server = Server::start().await;
    let mut client = Client::to(&server).await;
    client.expect_line("SEQ.LEASE order 10", "*8").await;
    let said = to_pong(&mut client).await;
    let at = said.iter().position(|line| line == "blocks").unwrap();
    assert_eq!(said[at + 1..at + 6], ["*1", "*3", ":1", ":1", ":10"], "{said:?}");
    assert!(said.iter().any(|line| line == "max_age_ms"), "{said:?}");
    client.expect_line("SEQ.LEASE order x", "-ERR INVALID_ARGUMENT: count is \"x\"").await;
    client
        .expect_line("SEQ.LEASE order 5 COUNT 5", "-ERR INVALID_ARGUMENT: count is \"5\": it was said before")
        .await;
    client.expect_line("SEQ.LEASE order 0", "-ERR INVALID_ARGUMENT: count is \"0\"").await;
    client.expect_line("SEQ.LEASE dated 5 WITH area 010", "*").await;
    let said = to_pong(&mut client).await;
    assert!(said.iter().any(|line| line == "template"), "{said:?}");
}

#[tokio::test]
async fn errors_are_those_of_the_table_and_use_up_nothing() {
    let server = Server::start().await;
    let mut client = Client::to(&server).await;
    client.expect("INCR order", ":1\r\n").await;
    for (line, reply) in [
        ("INCR oder", "-ERR SEQUENCE_NOT_FOUND: no sequence oder: define it"),
        ("INCR 'a b'", "-ERR INVALID_ARGUMENT: key is \"a b\": "),
        ("INCR \"\\xff\"", "-ERR INVALID_ARGUMENT: key is "),
        ("INCR", "-ERR wrong number of arguments for 'incr' command"),
        ("INCR a b", "-ERR wrong number of arguments for 'incr' command"),
        ("SEQ.NEXT order COUNT 0", "-ERR INVALID_ARGUMENT: count is \"0\": 1 to 10000 are allowed"),
        ("SEQ.NEXT order COUNT 10001", "-ERR INVALID_ARGUMENT: count is \"10001\": 1 to 10000"),
        ("SEQ.NEXT order CUONT 1", "-ERR INVALID_ARGUMENT: option is \"CUONT\""),
        ("SEQ.NEXT order ABOVE 9223372036854775807", "-ERR CLUSTER_BEHIND: "),
        ("foo 'a b' c", "-ERR unknown command 'foo', with args beginning with: 'a b' 'c' "),
        ("SETNX order 7", "-ERR SETNX is not for sequences: a sequence only goes up"),
        ("DECR order", "-ERR DECR is not for sequences: a number that was given is never given again"),
        ("SET order 7", "-ERR SET is not for sequences: "),
        ("DEL order", "-ERR DEL is not for sequences: "),
        ("EVAL 'return 1' 0", "-ERR EVAL is not for sequences: "),
        ("FLUSHALL", "-ERR FLUSHALL is not for sequences: "),
        ("WATCH order", "-ERR WATCH is not for sequences: "),
        ("SUBSCRIBE __Booksleeve_MasterChanged", "-ERR SUBSCRIBE is not for sequences: "),
        ("CLUSTER NODES", "-ERR This instance has cluster support disabled"),
        ("SENTINEL MASTERS", "-ERR unknown command 'SENTINEL'"),
        ("CLIENT TRACKING ON", "-ERR client-side caching is not supported"),
        ("CLIENT TRACKING", "-ERR wrong number of arguments for 'client|tracking' command"),
        ("CLIENT REPLY OFF", "-ERR only CLIENT REPLY ON is supported"),
        ("CLIENT SETINFO BAD x", "-ERR syntax error: LIB-NAME or LIB-VER is expected"),
        ("CLIENT NO-EVICT bad", "-ERR syntax error: ON or OFF is expected"),
        ("CLIENT NO-TOUCH", "-ERR wrong number of arguments for 'client|no-touch' command"),
        ("COMMAND COUNT x", "-ERR wrong number of arguments for 'command|count' command"),
        ("COMMAND LIST FILTERBY PATTERN i*", "-ERR wrong number of arguments for 'command|list' command"),
        ("CONFIG GET", "-ERR wrong number of arguments for 'config|get' command"),
        ("CLIENT MAINT_NOTIFICATIONS ON", "-ERR unknown subcommand 'MAINT_NOTIFICATIONS'"),
        ("CONFIG SET save x", "-ERR unknown subcommand 'SET'"),
        ("HELLO 4", "-NOPROTO unsupported protocol version"),
        ("HELLO x", "-ERR Protocol version is not an integer"),
        ("HELLO 3 SETNAME 'a b'", "-ERR Client names cannot contain spaces"),
        ("HELLO 3 FOO", "-ERR Syntax error in HELLO"),
        ("SELECT 1", "-ERR DB index is out of range"),
        ("SELECT x", "-ERR invalid DB index"),
        ("EXEC", "-ERR EXEC without MULTI"),
        ("DISCARD", "-ERR DISCARD without MULTI"),
    ] {
        client.expect_line(line, reply).await;
    }
    client.expect("INCR order", ":2\r\n").await;
    assert_eq!(raw_http::get(server.http, "/v1/sequences/oder").await.status, 404);
}

#[tokio::test]
async fn the_end_of_a_sequence_is_told_apart_and_the_last_numbers_are_given() {
    let server = Server::start().await;
    let mut client = Client::to(&server).await;
    client.expect_line("SEQ.NEXT short COUNT 997", "*997").await;
    for at in 1..=997 {
        assert_eq!(client.integer().await, at);
    }
    client.send(&super::request(&["INCR", "short"]).repeat(5)).await;
    for at in 998..=1000 {
        assert_eq!(client.integer().await, at);
    }
    for _ in 0..2 {
        let line = client.line().await;
        assert!(line.starts_with("-EXHAUSTED SEQUENCE_EXHAUSTED: "), "{line}");
    }
}

#[tokio::test]
async fn the_connection_is_described_as_clients_expect_it() {
    let server = Server::start().await;
    let mut client = Client::to(&server).await;
    for (line, reply) in
        [("PING", "+PONG\r\n"), ("PING 'a b'", "$3\r\na b\r\n"), ("ECHO \"\\x00\\xff\"", "$2\r\n")]
    {
        client.expect(line, reply).await;
    }
    let mut bytes = [0; 4];
    tokio::io::AsyncReadExt::read_exact(&mut client.socket, &mut bytes).await.unwrap();
    assert_eq!(bytes, *b"\x00\xff\r\n", "the same bytes");
    for (line, reply) in [
        ("SELECT 0", "+OK\r\n"),
        ("CLIENT ID", ":1\r\n"),
        ("CLIENT GETNAME", "$-1\r\n"),
        ("CLIENT SETNAME me", "+OK\r\n"),
        ("CLIENT GETNAME", "$2\r\nme\r\n"),
        ("CLIENT SETINFO LIB-NAME x", "+OK\r\n"),
        ("CLIENT NO-EVICT ON", "+OK\r\n"),
        ("CLIENT REPLY ON", "+OK\r\n"),
        ("CLIENT TRACKING OFF", "+OK\r\n"),
        (
            "config help",
            "*2\r\n+CONFIG <subcommand> [argument ...]. Subcommands are:\r\n+GET pattern ...\r\n",
        ),
        ("CONFIG GET save", "*2\r\n$4\r\nsave\r\n$0\r\n\r\n"),
        ("CONFIG GET appendonly", "*2\r\n$10\r\nappendonly\r\n$3\r\nyes\r\n"),
        ("CONFIG GET databases", "*2\r\n$9\r\ndatabases\r\n$1\r\n1\r\n"),
        ("CONFIG GET replica-read-only", "*0\r\n"),
        ("CONFIG GET *", "*8\r\n"),
    ] {
        client.expect(line, reply).await;
    }
    to_pong(&mut client).await;
    client.expect_line("INFO", "$").await;
    let said = to_pong(&mut client).await;
    for line in [
        "redis_version:7.2.0",
        "redis_mode:standalone",
        "role:master",
        "loading:0",
        "cluster_enabled:0",
        "sequent_ready:1",
    ] {
        assert!(said.iter().any(|found| found == line), "{line}: {said:?}");
    }
    client.expect_line("INFO replication", "$").await;
    assert_eq!(to_pong(&mut client).await, ["# Replication", "role:master", "connected_slaves:0", ""]);
    client.expect_line("COMMAND COUNT", ":").await;
    client.expect_line("COMMAND INFO incr nonsense set", "*3").await;
    let said = to_pong(&mut client).await;
    assert_eq!(said[2..4], ["incr", ":2"], "{said:?}");
    assert_eq!(said.iter().filter(|line| *line == "$-1").count(), 2, "{said:?}");
    client.expect_line("COMMAND DOCS incr", "*2").await;
    to_pong(&mut client).await;
    for (line, listed) in [("CLIENT HELP", "SETNAME"), ("COMMAND HELP", "DOCS")] {
        client.expect_line(line, "*2").await;
        let said = to_pong(&mut client).await;
        assert!(said.last().is_some_and(|line| line.contains(listed)), "{said:?}");
    }
    client.expect_line("TIME", "*2").await;
    to_pong(&mut client).await;
    client.expect("RESET", "+RESET\r\n").await;
    client.expect("CLIENT GETNAME", "$-1\r\n").await;
    client.expect("QUIT", "+OK\r\n").await;
    client.expect_end("QUIT").await;
}
