//! Definitions by HTTP: listed, shown, and made where that is allowed.

use serde_json::json;

use crate::{Server, wire};

#[tokio::test]
async fn they_are_listed_and_shown_and_made_where_that_is_allowed() {
    let server = Server::with(&[("limits.define", "true")]).await;
    let listed = wire::get(server.http, "/v1/sequences").await.json();
    let names: Vec<&str> =
        listed["sequences"].as_array().unwrap().iter().map(|it| it["sequence"].as_str().unwrap()).collect();
    assert_eq!((names, &listed["more"]), (vec!["dated", "order", "short"], &json!(false)));
    let shown = wire::get(server.http, "/v1/sequences/dated").await.json();
    assert_eq!((&shown["version"], &shown["start"]), (&json!(2), &json!("1")), "{shown}");
    assert!(shown["definition"].as_str().unwrap().contains("Asia/Shanghai"), "{shown}");
    let put = async |name: &str, body: serde_json::Value| {
        let path = format!("/v1/sequences/{name}");
        wire::send(server.http, "PUT", &path, body.to_string().as_bytes()).await
    };
    let leave = json!({"template": "QJ@{seq,w=6}", "start": "5"});
    let said = put("leave", leave.clone()).await;
    assert_eq!(
        (said.status, &said.json()["version"], &said.json()["already"]),
        (200, &json!(1), &json!(false))
    );
    assert_eq!(put("leave", leave).await.json()["already"], true);
    let given = wire::post(server.http, "/v1/sequences/leave/next", "").await;
    assert_eq!(given.json()["texts"], json!(["QJ000005"]));
    for (name, body, status, field, bound) in [
        (
            "leave",
            json!({"template": "Q@{ctx,x,len=1}@{seq,w=6}", "start": 5}),
            409,
            "",
            "texts of a version before",
        ),
        ("leave", json!({"template": "QJ@{seq,w=6}"}), 409, "", "changes start or step"),
        ("x", json!({"template": "@{ctx,store}@{seq}"}), 400, "template", "S1, column 1"),
        ("x", json!({"template": "@{seq}", "zone": "Mars"}), 400, "template", "an IANA name such as"),
        ("x", json!({"tmplate": "@{seq}"}), 400, "body", "a JSON object with a definition"),
        ("x", json!({"zone": "UTC"}), 400, "template", "belong to one"),
        ("x", json!({"start": "one"}), 400, "start", "a whole number"),
        ("x", json!({"version": 0}), 400, "version", "at least 1"),
        ("-", json!({}), 400, "name", "A-Z"),
    ] {
        let said = put(name, body.clone()).await;
        let json = said.json();
        assert_eq!(said.status, status, "{body}: {json}");
        assert_eq!(json["errors"][0]["field"].as_str().unwrap_or_default(), field, "{body}: {json}");
        assert!(json.to_string().contains(bound), "{body}: {json}");
    }
    let said = wire::get(server.http, "/v1/sequences/x").await;
    assert_eq!(said.status, 404, "nothing was defined: {said:?}");
}

#[tokio::test]
async fn nobody_defines_where_that_is_not_allowed() {
    let server = Server::start().await;
    let said = wire::send(server.http, "PUT", "/v1/sequences/x", b"{}").await;
    assert_eq!((said.status, &said.json()["reason"]), (403, &json!("PERMISSION_DENIED")), "{said:?}");
    assert_eq!(wire::get(server.http, "/v1/sequences/x").await.status, 404);
}
