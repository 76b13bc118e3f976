//! What lines and a screen say of looks.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    lines::{QUIET_LOOKS_MAX, Said, news},
    look::of_server,
    screen::{HOME, NO_WRAP, REST_OF_LINE, REST_OF_SCREEN, WRAP, draw},
    words::head,
};

fn look(state: &str, evictions: u64) -> Value {
    json!({
        "at": "2026-04-01T09:00:00Z", "cluster": "x", "phase": "serving", "rate": 12.4,
        "slots": [
            { "slot": 0, "state": "live", "store": "sqlite", "evictions": 0, "rescues": 0, "since_ms": 1234 },
            { "slot": 1, "state": state, "store": "sqlite", "evictions": evictions, "rescues": 0,
              "since_ms": 1_500, "out_ms": 61_500, "cause": { "kind": "timeout", "detail": "timeout: no answer" } },
        ],
    })
}

#[test]
fn only_what_changed_is_said_again() {
    let mut said = BTreeMap::new();
    assert_eq!(news(&mut said, &look("live", 0)).len(), 2);
    assert_eq!(news(&mut said, &look("live", 0)), Vec::<String>::new());
    assert_eq!(
        news(&mut said, &look("evicted", 1)),
        ["2026-04-01T09:00:00Z  slot 1  evicted  sqlite  evictions 1  rescues 0  timeout: no answer"]
    );
    let away = json!({ "at": "t", "error": "refused" });
    assert_eq!(news(&mut said, &away), ["t  refused"]);
    assert_eq!(news(&mut said, &away), Vec::<String>::new());
    assert_eq!(news(&mut said, &look("evicted", 1)), ["2026-04-01T09:00:00Z  answers again"]);
}

#[test]
fn a_slot_that_rests_is_told_once_and_counted() {
    let resting = |raw_ids: u64| {
        let mut look = look("live", 0);
        look["slots"][0]["resting"] = json!([{ "key": "order", "raw_ids": raw_ids }]);
        look
    };
    let mut said = BTreeMap::new();
    let told = news(&mut said, &resting(110_146));
    let line = "2026-04-01T09:00:00Z  slot 0  live  sqlite  evictions 0  rescues 0  rests until the other slots come up to it: \
                order";
    assert_eq!(told[0], line);
    assert_eq!(news(&mut said, &resting(90_000)), Vec::<String>::new(), "it goes on");
    assert!(head(&resting(9)).contains("2 of 2 live  1 of them rests"), "{}", head(&resting(9)));
    assert_eq!(news(&mut said, &look("live", 0)).len(), 1, "they came up");
}

#[test]
fn a_line_about_the_whole_comes_with_each_change_and_now_and_then() {
    let whole = "2026-04-01T09:00:00Z  x serving  2 of 2 live  12 numbers a second";
    let mut said = Said::default();
    let first = said.lines(&look("live", 0));
    assert_eq!((first.len(), first[0].as_str()), (3, whole));
    for _ in 1..QUIET_LOOKS_MAX {
        assert_eq!(said.lines(&look("live", 0)), Vec::<String>::new());
    }
    assert_eq!(said.lines(&look("live", 0)), [whole]);
    let changed = said.lines(&look("evicted", 1));
    assert!(changed[0].contains("1 of 2 live  12 numbers a second"), "{changed:?}");
    assert!(changed[1].contains("slot 1  evicted"), "{changed:?}");
    assert_eq!(said.lines(&json!({ "at": "t", "error": "refused" })), ["t  refused"]);
}

#[test]
fn an_idle_server_gives_no_numbers_rather_than_minus_none() {
    let idle = of_server(&json!({ "cluster": "x", "phase": "serving", "keys": [], "shards": [] }));
    assert!(head(&idle).contains("  0 numbers a second"), "{}", head(&idle));
}

#[test]
fn a_screen_has_a_head_and_a_row_a_slot() {
    let mut out = Vec::new();
    draw(&mut out, &look("evicted", 1), usize::MAX).unwrap();
    let text = String::from_utf8(out).unwrap();
    let cut = text.strip_prefix(HOME).unwrap().strip_prefix(NO_WRAP).unwrap().strip_suffix(WRAP).unwrap();
    let plain = cut.replace(REST_OF_LINE, "").replace(REST_OF_SCREEN, "");
    let lines: Vec<&str> = plain.lines().collect();
    assert_eq!(lines[0], "2026-04-01T09:00:00Z  x serving  1 of 2 live  12 numbers a second");
    assert_eq!(lines[4], "1     evicted for 1m 1s  sqlite  1          0        timeout: no answer");
}

#[test]
fn a_screen_is_no_taller_than_its_window_and_shows_what_is_out_first() {
    let slot = |slot: u16| {
        let state = if slot == 77 { "evicted" } else { "live" };
        json!({ "slot": slot, "state": state, "store": "sqlite", "evictions": 0, "rescues": 0 })
    };
    let look = json!({ "at": "t", "slots": (0..100).map(slot).collect::<Vec<_>>() });
    let drawn = |lines_max: usize| -> Vec<String> {
        let mut out = Vec::new();
        draw(&mut out, &look, lines_max).unwrap();
        let text = String::from_utf8(out).unwrap().replace(REST_OF_LINE, "").replace(REST_OF_SCREEN, "");
        text.replace(HOME, "").replace(NO_WRAP, "").replace(WRAP, "").lines().map(str::to_owned).collect()
    };
    let lines = drawn(23);
    assert_eq!((lines.len(), lines[0].as_str()), (23, "t  99 of 100 can serve"));
    assert!(lines[3].starts_with("77    evicted") && lines[4].starts_with("0     live"), "{lines:?}");
    assert_eq!(lines[22], "… and 81 more");
    assert_eq!((drawn(103).len(), drawn(usize::MAX).len()), (103, 103), "every slot has room");
    assert!((1..=5).all(|lines_max| drawn(lines_max).len() <= lines_max));
}
