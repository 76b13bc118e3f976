//! What a principal may see and draw from, by the scopes of its token.

use std::fs;

use serde_json::Value;

use super::site::{ALL, NARROW, Site, principal};
use crate::{place::Place, running::said};

#[test]
fn a_list_has_what_may_be_listed_and_a_report_is_believed_of_few() {
    let place = Place::new();
    let parts = [
        principal(&place, "some", &["--allow", "list:o*", "--deny", "list:other", "--allow", "next:*"]),
        principal(&place, "tells", &["--allow", "next,tell:*"]),
        principal(&place, "sees", &["--allow", "next,tell,show:*", "--allow", "metrics"]),
    ];
    let site = Site::serve(place, &parts.concat());
    let ask = |whose: &str, line: &str| {
        let head = format!("{line} HTTP/1.1\r\nauthorization: Bearer {}", site.token(whose));
        let answer = said(&site.server.http, &head, "");
        serde_json::from_str::<Value>(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    };
    let listed = ask("some", "GET /v1/sequences");
    let names: Vec<&str> =
        listed["sequences"].as_array().unwrap().iter().map(|it| it["sequence"].as_str().unwrap()).collect();
    assert_eq!(names, ["order"]);
    let far = "POST /v1/sequences/plain/next?above=9000000000000000000";
    assert!(ask("some", far)["numbers"].is_array(), "the report of a caller without tell is not heard");
    let told = ask("tells", far);
    assert_eq!(told["reason"], "CLUSTER_BEHIND");
    assert!(!told["detail"].as_str().unwrap().contains("at most"), "{told}");
    assert!(ask("sees", far)["detail"].as_str().unwrap().contains("at most"));
    let behind = site.metric("sees", "sequent_cluster_behind_total", "");
    assert!((behind - 2.0).abs() < 0.1, "{behind}");
}

#[test]
fn hidden_numbers_are_revealed_to_those_alone_who_may() {
    let place = Place::new();
    fs::create_dir_all(place.path("sequent-data")).unwrap();
    fs::write(place.path("sequent-data/hide.key"), "00112233445566778899aabbccddeeff\n").unwrap();
    let hidden = "[[obf_key]]\nname = \"hide\"\nfile = \"hide.key\"\n\
                  [[sequence]]\nname = \"coupon\"\ntemplate = \"C@{seq,w=9,obf=ff1:hide}\"\n";
    let parts = [
        hidden.to_owned(),
        principal(&place, "shop", &["--allow", "next,preview,parse:*"]),
        principal(&place, "audit", &["--allow", "next,preview,parse,reveal:*"]),
    ];
    let site = Site::serve(place, &parts.concat());
    let preview = r#"{"sequence": "coupon", "number": "7"}"#;
    let parse = r#"{"sequence": "coupon", "text": "C000000001"}"#;
    for (line, body) in [("POST /v1/preview", preview), ("POST /v1/parse", parse)] {
        assert_eq!(site.http("shop", line, body), "PERMISSION_DENIED", "{line}");
        assert_eq!(site.http("audit", line, body), "OK", "{line}");
    }
    assert_eq!(site.http("shop", "POST /v1/preview", r#"{"sequence": "order", "number": "7"}"#), "OK");
}

/// Whatever comes after it is what a file that is cut lacks.
#[test]
fn a_table_of_a_token_ends_with_what_is_allowed() {
    let place = Place::new();
    let table =
        place.text(&["token", "new", "shop", "--allow", "next:*", "--deny", "next:secret*", "--out", "t"]);
    assert!(table.ends_with("deny = [\"next:secret*\"]\nallow = [\"next:*\"]\n"), "{table}");
}

#[test]
fn nobody_draws_from_a_counter_that_is_not_theirs() {
    let place = Place::new();
    let parts =
        principal(&place, "narrow", &["--allow", NARROW]) + &principal(&place, "right", &["--allow", ALL]);
    let site = Site::serve(place, &parts);
    let define = |whose: &str, name: &str, counter: &str| {
        let body = format!("{{\"template\": \"X@{{seq,ref={counter},w=9}}\"}}");
        site.http(whose, &format!("PUT /v1/sequences/{name}"), &body)
    };
    assert_eq!(define("narrow", "other-a", "plain"), "PERMISSION_DENIED");
    assert_eq!(define("narrow", "other-a", "other"), "OK");
    assert_eq!(define("right", "other-b", "plain"), "OK");
}
