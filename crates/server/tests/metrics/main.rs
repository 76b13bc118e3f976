//! Output of `/metrics`. The process has one recorder, so these tests have a process of their own.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod descriptions;
mod promtool;
#[path = "../api/raw_http.rs"]
#[allow(dead_code, reason = "shared with the other tests of this crate")]
mod raw_http;
#[path = "../api/server.rs"]
#[allow(dead_code, reason = "shared with the other tests of this crate")]
mod server;

use sequent_core::{
    Event, Events,
    ledger::{SlotCommand, SlotVerb},
};
use sequent_proto::v1::NextRequest;
use server::Server;
use tokio::sync::mpsc;

async fn shows(server: &Server, lines: &[&str]) {
    let said = raw_http::get(server.admin, "/metrics").await;
    assert_eq!(said.status, 200, "{said:?}");
    for line in lines {
        let found = said.body.lines().any(|shown| shown.starts_with(line));
        assert!(found, "{line} is missing in\n{}", said.body);
    }
}

async fn value(server: &Server, series: &str) -> f64 {
    let said = raw_http::get(server.admin, "/metrics").await.body;
    let found = said.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    found.unwrap_or_else(|| panic!("{series} is missing in\n{said}")).parse().unwrap()
}

fn ask(count: u32) -> NextRequest {
    NextRequest { sequence: "order".to_owned(), count: Some(count), ..NextRequest::default() }
}

/// A server, and the evictions and rescues of its slots as they happen.
async fn watched() -> (Server, mpsc::UnboundedReceiver<Event>) {
    let (tell, flips) = mpsc::unbounded_channel();
    let events = Events::to(move |event| {
        if matches!(event, Event::Evicted { .. } | Event::Rescued { .. }) {
            // After the test nobody receives.
            drop(tell.send(event));
        }
    });
    (Server::telling(events).await, flips)
}

async fn say(server: &Server, verb: SlotVerb) {
    let word = SlotCommand {
        slot: 1,
        verb,
        who: "test".to_owned(),
        why: "to see".to_owned(),
        at_ms: 0,
        until_ms: None,
    };
    server.engine.cluster().ledger.say(&word).await.unwrap();
}

#[tokio::test]
async fn what_somebody_on_call_needs_first() {
    let (server, mut flips) = watched().await;
    promtool::is_content(&raw_http::get(server.admin, "/metrics").await.body);
    let first = descriptions::everything_is(&server).await;
    shows(
        &server,
        &[
            // Zero before the first event, so that it is an increase.
            r#"sequent_requests_total{api="grpc",method="next",reason="OK"} 0"#,
            r#"sequent_requests_total{api="grpc",method="lease",reason="NO_SHARD_AVAILABLE"} 0"#,
            r#"sequent_requests_total{api="http",method="next",reason="QUOTA_EXCEEDED"} 0"#,
            r#"sequent_slot_evictions_total{slot="1",kind="timeout"} 0"#,
            r#"sequent_slot_rescues_total{slot="1"} 0"#,
            r#"sequent_epochs_opened_total{slot="0"} 0"#,
            r#"sequent_connections_refused_total{listener="http",reason="too_many"} 0"#,
            r#"sequent_connections_refused_total{listener="grpc",reason="too_many_of_one_address"} 0"#,
            "sequent_live_keys 0",
            "sequent_reserve_numbers 0",
            "sequent_ready 1",
        ],
    )
    .await;
    let mut client = server.client().await;
    client.next(ask(30)).await.unwrap();
    client.next(ask(0)).await.unwrap_err();
    // The first requests take the slow path until numbers are ready, the later ones the fast path.
    for _ in 0..5 {
        server.number().await;
    }
    shows(
        &server,
        &[
            r#"sequent_requests_total{api="grpc",method="next",reason="OK"} 1"#,
            r#"sequent_requests_total{api="grpc",method="next",reason="INVALID_ARGUMENT"} 1"#,
            r#"sequent_requests_total{api="http",method="next",reason="OK"} 5"#,
            r#"sequent_numbers_issued_total{api="grpc",method="next",path="direct"} 30"#,
            r#"sequent_numbers_issued_total{api="grpc",method="lease",path="lease"} 0"#,
            r#"sequent_headroom_ratio{sequence="order"} 0.9999"#,
            r#"sequent_exhaustion_seconds{sequence="order"} 3153600000"#,
            "sequent_outage_seconds 600",
            "sequent_outage_left_seconds ",
            r#"sequent_layout_info{shard_bits="1",memory_bits="0",generation="1"} 1"#,
            r#"sequent_slot_durability_info{slot="0",store="memory",class="volatile"} 1"#,
            r#"sequent_slot_state{slot="0",state="live"} 1"#,
            r#"sequent_slot_state{slot="1",state="evicted"} 0"#,
            r#"sequent_request_duration_seconds_bucket{api="http",method="next",le="+Inf"} 5"#,
            r#"sequent_request_duration_seconds_bucket{api="grpc",method="next",le="+Inf"} 2"#,
            r#"sequent_connections{listener="grpc"} 1"#,
            r#"sequent_epochs_opened_total{slot="0"} 1"#,
            "sequent_live_keys 1",
            "# HELP sequent_requests_total ",
            r#"sequent_slot_slow_events_total{slot="1"} "#,
        ],
    )
    .await;
    let ways = ["reservoir", "direct"]
        .map(|way| format!(r#"sequent_numbers_issued_total{{api="http",method="next",path="{way}"}}"#));
    let given = value(&server, &ways[0]).await + value(&server, &ways[1]).await;
    assert!((given - 5.0).abs() < 1e-9, "{given}");
    let one_or_more = [
        r#"sequent_slot_takes_total{slot="0",outcome="ok"}"#,
        r#"sequent_slot_take_duration_seconds_count{slot="0"}"#,
        r#"sequent_refills_total{outcome="ok"}"#,
        "sequent_refill_duration_seconds_count",
        "sequent_refill_waits_total",
        "sequent_refill_wait_seconds_count",
        r#"sequent_ledger_calls_total{call="open",outcome="ok"}"#,
        "sequent_ceilings",
        "sequent_numbers_at_risk",
        "process_resident_memory_bytes",
        "sequent_runtime_workers",
    ];
    for series in one_or_more {
        assert!(value(&server, series).await >= 1.0, "{series}");
    }
    // The first scrape after an event shows it and its new state. Nothing waits for a tick.
    say(&server, SlotVerb::Evict).await;
    assert!(matches!(flips.recv().await, Some(Event::Evicted { slot: 1, .. })));
    let evicted = [
        r#"sequent_slot_state{slot="1",state="evicted"} 1"#,
        r#"sequent_slot_state{slot="1",state="live"} 0"#,
        r#"sequent_slot_evictions_total{slot="1",kind="command"} 1"#,
    ];
    shows(&server, &evicted).await;
    say(&server, SlotVerb::Rescue).await;
    assert!(matches!(flips.recv().await, Some(Event::Rescued { slot: 1, .. })));
    let rescued = [
        r#"sequent_slot_state{slot="1",state="evicted"} 0"#,
        r#"sequent_slot_state{slot="1",state="live"} 1"#,
        r#"sequent_slot_rescues_total{slot="1"} 1"#,
    ];
    shows(&server, &rescued).await;
    for what in ["unheard-of/next", "order/next?count=0", "short/next?count=1001", "order/elsewhere"] {
        let said = raw_http::post(server.http, &format!("/v1/sequences/{what}"), "").await;
        assert!(said.status >= 400, "{what}: {said:?}");
    }
    descriptions::nothing_is_new(&server, &first, &["order", "short"]).await;
    promtool::is_content(&raw_http::get(server.admin, "/metrics").await.body);
    // A reload ends the series of a sequence that the configuration no longer names, even if it is used.
    server.reload_without(r#"{ name = "order", version = 1 },"#).await;
    server.number().await;
    descriptions::nothing_is_new(&server, &first, &["short"]).await;
}
