//! Log lines for machines.

use serde_json::Value;

use crate::{
    place::Place,
    running::{FREE, Running, say},
};

#[test]
fn lines_in_json_name_the_request_that_they_belong_to() {
    let place = Place::with_cluster();
    let args = ["serve", "--log-format", "json", "-vv", "--set", "limits.drain_delay_s=0"];
    let server = Running::start(&place, &[&args[..], &FREE].concat());
    let asked = |count: &str, id: &str| {
        let line = format!("POST /v1/sequences/order/next?count={count} HTTP/1.1\r\nx-request-id: {id}");
        say(&server.http, &line)
    };
    assert!(asked("3", "7d1e-90").contains("x-request-id: 7d1e-90"));
    assert!(asked("0", "a-mistake").starts_with("HTTP/1.1 400"));
    let (code, err) = server.end();
    assert_eq!(code, Some(0), "{err}");
    let lines: Vec<Value> = err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |id: &str| lines.iter().find(|line| line["span"]["id"] == id).unwrap_or_else(|| panic!("{err}"));
    let answered = of("7d1e-90");
    assert_eq!((&answered["message"], &answered["numbers"]), (&"request answered".into(), &3.into()));
    assert_eq!((&answered["level"], &answered["span"]["name"]), (&"DEBUG".into(), &"request".into()));
    assert!(answered["timestamp"].as_str().unwrap().ends_with('Z') && answered["took_us"].is_u64());
    assert_eq!(of("a-mistake")["reason"], "INVALID_ARGUMENT");
}

#[test]
fn that_a_cluster_is_made_is_a_line_in_json_too() {
    let place = Place::new();
    let args = ["serve", "--log-format", "json", "--set", "limits.drain_delay_s=0"];
    let (code, err) = Running::start(&place, &[&args[..], &FREE].concat()).end();
    assert_eq!(code, Some(0), "{err}");
    let lines: Vec<Value> = err.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let made = |line: &&Value| {
        line["message"].as_str().is_some_and(|text| text.starts_with("new embedded cluster in "))
    };
    assert_eq!(lines.iter().filter(made).count(), 1, "{err}");
}

#[test]
fn another_format_is_refused_by_name() {
    let place = Place::new();
    place.run(&["list", "--log-format", "xml"]).refused(2, &["--log-format", "xml"]);
}
