//! Health, metrics, status, reflection.

use crate::{Server, ask, wire};

#[tokio::test]
async fn metrics_show_requests_numbers_slots_and_lives() {
    let server = Server::start().await;
    let mut client = server.client().await;
    client.next(ask("order", Some(30))).await.unwrap();
    client.next(ask("order", Some(0))).await.unwrap_err();
    server.number().await;
    let said = wire::get(server.admin, "/metrics").await;
    assert_eq!(said.status, 200, "{said:?}");
    for line in [
        r#"sequent_requests_total{door="grpc",method="next",reason="OK"} 1"#,
        r#"sequent_requests_total{door="grpc",method="next",reason="INVALID_ARGUMENT"} 1"#,
        r#"sequent_requests_total{door="grpc",method="lease",reason="NO_SHARD_AVAILABLE"} 0"#,
        r#"sequent_requests_total{door="http",method="next",reason="OK"} 1"#,
        r#"sequent_numbers_issued_total{door="grpc",method="next"} 30"#,
        r#"sequent_slot_state{slot="0",state="live"} 1"#,
        r#"sequent_slot_state{slot="1",state="evicted"} 0"#,
        r#"sequent_request_duration_seconds_bucket{door="http",method="next",le="+Inf"} 1"#,
        r#"sequent_connections{listener="grpc"} 1"#,
        "sequent_lives_opened_total{",
        "sequent_reserve_numbers ",
        "sequent_ready 1",
        "# HELP sequent_requests_total ",
    ] {
        assert!(said.body.contains(line), "{line} is missing in\n{}", said.body);
    }
}

#[tokio::test]
async fn status_is_json_with_numbers_as_strings() {
    let server = Server::start().await;
    server.number().await;
    let json = wire::get(server.admin, "/v1/status").await.json();
    assert_eq!((&json["phase"], &json["cluster"]), (&"serving".into(), &"test".into()));
    assert_eq!(json["shards"][1]["state"], "live");
    assert_eq!((&json["keys"][0]["key"], &json["keys"][0]["given"]), (&"order".into(), &"1".into()));
}

#[tokio::test]
async fn admin_is_read_only_and_alone_on_its_listener() {
    let server = Server::start().await;
    assert_eq!(wire::get(server.admin, "/livez").await.status, 200);
    assert_eq!(wire::get(server.admin, "/readyz").await.status, 200);
    assert_eq!(wire::post(server.admin, "/readyz", "").await.status, 405);
    assert_eq!(wire::post(server.admin, "/v1/sequences/order/next", "").await.status, 405);
    assert_eq!(wire::get(server.admin, "/v1/sequences/order/next").await.status, 404);
    for path in ["/metrics", "/v1/status", "/readyz"] {
        assert_eq!(wire::get(server.http, path).await.status, 404, "{path}");
    }
}
