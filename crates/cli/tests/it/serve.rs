//! `serve` and `dev`: processes that answer until they are told to stop.

use std::{
    io::{BufRead, BufReader},
    time::{Duration, Instant},
};

use crate::{
    place::Place,
    running::{FREE, Running, say},
};

#[test]
fn a_server_goes_on_where_the_command_line_ended_and_the_other_way_round() {
    let place = Place::with_cluster();
    let args = [&["serve", "--set", "limits.drain_delay_s=0"][..], &FREE].concat();
    let server = Running::start(&place, &args);
    let number: u64 = server.next()["numbers"][0].as_str().unwrap().parse().unwrap();
    assert!(number > 5, "{number}");
    assert!(say(&server.admin, "GET /readyz HTTP/1.1").starts_with("HTTP/1.1 200 "));
    let (code, err) = server.end();
    assert_eq!(code, Some(0), "{err}");
    let after = place.numbers(&["next", "order"])[0];
    assert!(after > number, "{after}");
}

#[test]
fn dev_writes_nothing_and_starts_at_1() {
    let place = Place::new();
    for _ in 0..2 {
        let server = Running::start(&place, &["dev", "--json"]);
        assert_eq!(server.next()["numbers"], serde_json::json!(["1"]));
        let (code, err) = server.end();
        assert_eq!(code, Some(0), "{err}");
        assert!(place.content(".").is_empty());
    }
}

#[test]
fn a_port_that_is_taken_is_named_and_leaves_the_cluster_whole() {
    let place = Place::with_cluster();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let setting = format!("listen.grpc={}", taken.local_addr().unwrap());
    place.run(&["serve", "--set", &setting]).refused(1, &["listen.grpc is 127.0.0.1:"]);
    assert_eq!(place.numbers(&["next", "order"]), [6]);
}

#[test]
fn a_reload_checks_the_whole_file_and_says_what_needs_a_restart() {
    let place = Place::new();
    let text = |deadline: &str, slow: u8| {
        format!(
            "cluster = \"x\"\nauto_create = [\"order\"]\n[ring]\nslow_limit = {slow}\n[limits]\ndrain_delay_s = 0\ndeadline_ms = {deadline}\n"
        )
    };
    place.write("x.toml", &text("1500", 3));
    let mut server = Running::start(&place, &[&["serve", "--config", "x.toml"][..], &FREE].concat());
    let mut lines = BufReader::new(server.child.stderr.take().unwrap()).lines();
    let mut heard = |words: &[&str]| {
        let until = Instant::now() + Duration::from_secs(20);
        let mut said = lines.by_ref().map(Result::unwrap);
        said.find(|line| words.iter().all(|word| line.contains(word)) || Instant::now() > until).unwrap()
    };
    place.write("x.toml", &text("\"soon\"", 3));
    server.signal("HUP");
    heard(&["not reloaded", "limits.deadline_ms"]);
    place.write("x.toml", &text("900", 4));
    server.signal("HUP");
    heard(&["in force", "limits.deadline_ms", "900"]);
    heard(&["needs a restart", "ring.slow_limit"]);
    assert_eq!(server.next()["numbers"], serde_json::json!(["1"]));
    let other = || say(&server.http, "POST /v1/sequences/other/next?count=2 HTTP/1.1");
    let refused = other();
    assert!(refused.contains("SEQUENCE_NOT_FOUND"), "{refused}");
    assert!(refused.contains(r#""errors":[{"field":"sequence","value":"other","bound":""#), "{refused}");
    let url = format!("http://{}", server.grpc);
    let ran = place.run(&["next", "other", "--server", &url, "--json"]).refused(1, &["SEQUENCE_NOT_FOUND"]);
    let field = &ran.error()["errors"][0];
    assert_eq!((&field["field"], &field["value"]), (&"sequence".into(), &"other".into()), "{ran:?}");
    let more = "max_count = 1\n[[sequence]]\nname = \"other\"\nversion = 1\nstart = 500\n";
    // A changed file is noticed without a signal.
    place.write("x.toml", &format!("{}{more}", text("900", 4)));
    heard(&["in force", "limits.max_count"]);
    assert!(other().contains("1 to 1 are allowed"), "{}", other());
    let one = say(&server.http, "POST /v1/sequences/other/next HTTP/1.1");
    assert!(one.contains("[\"500\"]"), "{one}");
    place.write("x.toml", &format!("{}{}", text("900", 4), more.replace("500", "600")));
    server.signal("HUP");
    heard(&["not reloaded", "other"]);
    server.signal("TERM");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}
