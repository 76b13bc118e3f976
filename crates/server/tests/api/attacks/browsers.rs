//! Requests that a page of another site has an operator's browser send, and heads that a lax proxy passes on.

use super::{Prober, start};
use crate::{Server, raw_http};

const NEXT: &str = "POST /v1/sequences/order/next HTTP/1.1";

/// A request with further headers: status and body.
async fn ask(to: std::net::SocketAddr, line: &str, headers: &str, body: &str) -> raw_http::Said {
    let length = body.len();
    let request = format!("{line}\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{body}");
    raw_http::raw(to, request.as_bytes()).await
}

#[tokio::test]
async fn a_page_of_another_site_gets_nothing_and_burns_nothing() {
    let server =
        start(&[("listen.hosts", "sequent.shop.internal"), ("listen.origins", "https://ops.example")]).await;
    assert_eq!(server.number().await, 1);
    let prober = Prober::of(&server);
    for (headers, status, part) in [
        ("host: evil.example\r\n", 403, "host is"),
        ("host: evil.example:7421\r\n", 403, "host is"),
        ("", 400, "host is"),
        ("host: localhost\r\nhost: localhost\r\n", 400, "host is"),
        ("host: localhost\r\norigin: https://evil.example\r\n", 403, "origin is"),
        ("host: localhost\r\norigin: null\r\n", 403, "origin is"),
        ("host: localhost\r\nsec-fetch-site: cross-site\r\n", 403, "sec-fetch-site is"),
        ("host: localhost\r\nsec-fetch-site: same-site\r\n", 403, "sec-fetch-site is"),
    ] {
        let rows = [
            (server.http, NEXT),
            (server.http, "GET /v1/sequences HTTP/1.1"),
            (server.admin, "GET /v1/status HTTP/1.1"),
            (server.admin, "GET /livez HTTP/1.1"),
        ];
        for (to, line) in rows {
            let said = ask(to, line, headers, "").await;
            assert_eq!(said.status, status, "{line} {headers:?}: {said:?}");
            assert!(said.json()["detail"].as_str().unwrap().starts_with(part), "{headers:?}: {said:?}");
            assert_eq!(said.header("connection"), Some("close"), "{said:?}");
        }
    }
    let absolute = "POST http://evil.example/v1/sequences/order/next HTTP/1.1";
    assert_eq!(ask(server.http, absolute, "host: localhost\r\n", "").await.status, 403);
    prober.was_served().await;
}

#[tokio::test]
async fn nothing_is_burnt_and_own_pages_and_names_are_served() {
    let server =
        start(&[("listen.hosts", "sequent.shop.internal"), ("listen.origins", "https://ops.example")]).await;
    assert_eq!(server.number().await, 1);
    for headers in ["host: evil.example\r\n", "host: localhost\r\norigin: https://evil.example\r\n"] {
        assert_eq!(ask(server.http, NEXT, headers, "").await.status, 403);
    }
    assert_eq!(server.number().await, 2, "nothing was consumed");
    let own =
        format!("host: {}\r\norigin: http://{}\r\nsec-fetch-site: same-origin\r\n", server.http, server.http);
    for headers in [
        own.as_str(),
        "host: Sequent.Shop.Internal:7421\r\n",
        "host: [::1]:7421\r\n",
        "host: localhost\r\norigin: https://ops.example\r\nsec-fetch-site: cross-site\r\n",
    ] {
        assert_eq!(ask(server.http, NEXT, headers, "").await.status, 200, "{headers}");
    }
    let link = "host: localhost\r\nsec-fetch-site: cross-site\r\nsec-fetch-mode: navigate\r\n";
    assert_eq!(
        ask(server.admin, "GET /console HTTP/1.1", link, "").await.status,
        200,
        "a link to the console"
    );
    let old = "POST /v1/sequences/order/next HTTP/1.0";
    assert_eq!(ask(server.http, old, "", "").await.status, 200, "HTTP/1.0 has no Host");
}

#[tokio::test]
async fn a_body_says_that_it_is_json() {
    let server = start(&[]).await;
    let told = async |kind: &str| {
        let headers = format!("host: localhost\r\n{kind}");
        ask(server.http, NEXT, &headers, "{\"count\":2}").await
    };
    for kind in [
        "",
        "content-type: text/plain\r\n",
        "content-type: application/x-www-form-urlencoded\r\n",
        "content-type: application/jsonp\r\n",
    ] {
        let said = told(kind).await;
        assert_eq!(
            (said.status, &said.json()["errors"][0]["field"]),
            (415, &"content-type".into()),
            "{said:?}"
        );
    }
    assert_eq!(server.number().await, 1, "nothing was consumed");
    for kind in ["application/json", "Application/JSON; charset=utf-8"] {
        assert_eq!(told(&format!("content-type: {kind}\r\n")).await.status, 200, "{kind}");
    }
}

/// One answer, and the connection closes: what follows is read as no request.
async fn only_answer(server: &Server, head: &str) -> raw_http::Said {
    let smuggled = "POST /v1/sequences/order/next HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let said = raw_http::raw(server.http, format!("{head}0\r\n\r\n{smuggled}").as_bytes()).await;
    assert_eq!(said.body.matches("HTTP/1.1").count(), 0, "{said:?}");
    said
}

#[tokio::test]
async fn a_transfer_coding_beside_chunked_is_refused() {
    let server = start(&[]).await;
    for coding in ["identity, chunked", "chunked\r\ntransfer-encoding: chunked", "gzip, chunked"] {
        let said = only_answer(
            &server,
            &format!("{NEXT}\r\nhost: localhost\r\ntransfer-encoding: {coding}\r\n\r\n"),
        )
        .await;
        assert_eq!((said.status, said.header("connection")), (400, Some("close")), "{coding}: {said:?}");
    }
    assert_eq!(server.number().await, 1, "nothing was consumed");
}
