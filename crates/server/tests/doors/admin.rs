//! Health and status.

use crate::{Server, wire};

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
