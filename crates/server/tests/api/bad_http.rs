//! Invalid HTTP requests: every error has a reason, a field, a value and a bound, and consumes no number.

use crate::{Server, raw_http};

/// Method, path, body, status, reason, field, part of the value, part of the bound.
type Row<'a> = (&'a str, &'a str, &'a [u8], u16, &'a str, &'a str, &'a str, &'a str);

const NEXT: &str = "/v1/sequences/order/next";
const PREVIEW: &str = "/v1/preview";
const BAD: &str = "INVALID_ARGUMENT";
const INSTANT: &str = "an instant such as 2026-04-01T09:00:00+08:00 is expected, or a date or time of the zone such as 2026-04-01; \
                       without it now counts";

#[tokio::test]
async fn each_is_refused_by_name_and_consumes_nothing() {
    let server = Server::start().await;
    assert_eq!(server.number().await, 1);
    let long = format!("/v1/sequences/{}/next", "n".repeat(300));
    let braces = "{".repeat(5000);
    let nested = format!("{{\"values\":{}", "[".repeat(5000));
    let rows: &[Row<'_>] = &[
        ("POST", "/v1/sequences/order/next?count=0", b"", 400, BAD, "count", "0", "1 to 10000"),
        (
            "POST",
            "/v1/sequences/order/next?count=4294967296",
            b"",
            400,
            BAD,
            "count",
            "4294967296",
            "1 to 10000",
        ),
        (
            "POST",
            "/v1/sequences/order/next?count=-1",
            b"",
            400,
            BAD,
            "count",
            "-1",
            "whole number is expected: 1 to 10000",
        ),
        ("POST", "/v1/sequences/order/next?count=x", b"", 400, BAD, "count", "x", "1 to 10000"),
        (
            "POST",
            "/v1/sequences/order/next?count=99999999999999999999",
            b"",
            400,
            BAD,
            "count",
            "99999999999999999999",
            "1 to 10000",
        ),
        ("POST", "/v1/sequences/order/next?cuont=1", b"", 400, BAD, "cuont", "1", "no such field: count"),
        ("POST", NEXT, br#"{"count":0}"#, 400, BAD, "count", "0", "1 to 10000"),
        ("POST", NEXT, br#"{"count":4294967296}"#, 400, BAD, "count", "4294967296", "1 to 10000"),
        ("POST", NEXT, br#"{"count":-1}"#, 400, BAD, "count", "-1", "whole number is expected: 1 to 10000"),
        ("POST", NEXT, br#"{"count":"x"}"#, 400, BAD, "count", "x", "1 to 10000"),
        ("POST", NEXT, br#"{"cuont":17}"#, 400, BAD, "cuont", "17", "no such field: count, values, at"),
        ("POST", NEXT, br#"{"count":2,"count":3}"#, 400, BAD, "count", "3", "say it once"),
        ("POST", NEXT, br#"{"count":2,"at":"x","count":2}"#, 400, BAD, "count", "2", "say it once"),
        ("POST", NEXT, br#"{"count":18446744073709551616}"#, 400, BAD, "count", "1.8", "1 to 10000"),
        ("POST", NEXT, br#"{"values":{"area":"010"}}"#, 400, BAD, "values.area", "010", "template"),
        ("POST", NEXT, br#"{"at":""}"#, 400, BAD, "at", "", INSTANT),
        ("POST", NEXT, br#"{"at":"2026-04-01T09:00:00+08:00"}"#, 400, BAD, "at", "2026", "leave it out"),
        (
            "POST",
            NEXT,
            br#"{"above":"9223372036854775808"}"#,
            400,
            BAD,
            "above",
            "5808",
            "9223372036854775807",
        ),
        ("POST", NEXT, br#"{"above":"-3"}"#, 400, BAD, "above", "-3", "0 (not told)"),
        ("POST", NEXT, b"{\"count\":\xff}", 400, BAD, "body", "", "JSON object"),
        ("POST", NEXT, braces.as_bytes(), 400, BAD, "body", "", "JSON object"),
        ("POST", NEXT, nested.as_bytes(), 400, BAD, "body", "recursion", "JSON object"),
        ("POST", &long, b"", 400, BAD, "name", "300 bytes", "at most 128"),
        ("POST", "/v1/sequences/..%2fx/next", b"", 400, BAD, "name", "../x", "A-Z"),
        ("POST", "/v1/sequences/a%00b/next", b"", 400, BAD, "name", "a\0b", "A-Z"),
        ("POST", "/v1/sequences/%ff/next", b"", 400, BAD, "name", "%ff", "UTF-8"),
        ("POST", "/v1/sequences/%2/next", b"", 400, BAD, "name", "%2", "A-Z"),
        ("GET", "/v1/sequences/a%2fb", b"", 400, BAD, "name", "a/b", "A-Z"),
        ("POST", PREVIEW, br#"{"definition":{"end":null}}"#, 400, BAD, "body", "end: null", "JSON object"),
        ("POST", PREVIEW, br#"{"sequence":"a","sequence":"a"}"#, 400, BAD, "body", "duplicate", "JSON"),
        ("POST", "/v1/sequences//next", b"", 400, BAD, "name", "", "1 to 128"),
        ("GET", NEXT, b"", 405, BAD, "method", "GET", "POST"),
        ("PUT", NEXT, b"", 405, BAD, "method", "PUT", "POST"),
        ("POST", "/v1/sequences/order/", b"", 404, BAD, "path", "/v1/sequences/order/", "POST /v1"),
        ("POST", "/v1/sequences/a/b/next", b"", 404, BAD, "path", "/v1/sequences/a/b/next", "POST /v1"),
        ("POST", "/v1/sequences/order", b"", 405, BAD, "method", "POST", "GET, HEAD, PUT is allowed"),
    ];
    for &(method, path, body, status, reason, field, value, bound) in rows {
        let said = raw_http::send(server.http, method, path, body).await;
        let shown = String::from_utf8_lossy(&body[..body.len().min(40)]);
        let case = format!("{method} {path} {shown:?} -> {said:?}");
        assert_eq!(said.status, status, "{case}");
        let json = said.json();
        assert_eq!(json["reason"], reason, "{case}");
        assert_eq!(json["errors"][0]["field"], field, "{case}");
        assert!(json["errors"][0]["value"].as_str().unwrap().contains(value), "{case}");
        assert!(json["errors"][0]["bound"].as_str().unwrap().contains(bound), "{case}");
        assert_eq!(said.header("content-type"), Some("application/problem+json"), "{case}");
        assert_eq!(said.header("cache-control"), Some("no-store"), "{case}");
    }
    assert_eq!(server.number().await, 2, "nothing was consumed");
}

#[tokio::test]
async fn an_unknown_sequence_is_not_made() {
    let server = Server::start().await;
    for _ in 0..2 {
        let said = raw_http::post(server.http, "/v1/sequences/oder/next", "").await;
        assert_eq!((said.status, &said.json()["reason"]), (404, &"SEQUENCE_NOT_FOUND".into()), "{said:?}");
    }
}

#[tokio::test]
async fn the_end_of_a_sequence_is_told_apart() {
    let server = Server::with(&[("limits.max_count", "1000")]).await;
    let said = raw_http::post(server.http, "/v1/sequences/short/next?count=1000", "").await;
    assert_eq!(said.numbers().len(), 1000);
    let said = raw_http::post(server.http, "/v1/sequences/short/next", "").await;
    assert_eq!((said.status, &said.json()["reason"]), (409, &"SEQUENCE_EXHAUSTED".into()), "{said:?}");
    assert_eq!(said.header("retry-after"), None);
}

#[tokio::test]
async fn too_much_is_refused_before_it_is_read() {
    let server = Server::start().await;
    assert_eq!(server.number().await, 1);
    let large = vec![b' '; 10 << 20];
    let said = raw_http::send(server.http, "POST", NEXT, &large).await;
    assert_eq!((said.status, &said.json()["errors"][0]["field"]), (413, &"body".into()), "{said:?}");
    let chunk = [b"10001\r\n".as_slice(), &vec![b' '; 0x1_0001], b"\r\n0\r\n\r\n"].concat();
    // The caller asks for keep-alive, and the response says that the connection closes.
    let head = format!("POST {NEXT} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n");
    let said = raw_http::raw(server.http, &[head.as_bytes(), &chunk].concat()).await;
    assert_eq!((said.status, said.header("connection")), (413, Some("close")), "{said:?}");
    let headers = |count: usize| "x: y\r\n".repeat(count);
    for head in [headers(10_000), headers(101), format!("x: {}\r\n", "y".repeat(17_000))] {
        let request = format!("POST {NEXT} HTTP/1.1\r\nhost: localhost\r\n{head}\r\n");
        let said = raw_http::raw(server.http, request.as_bytes()).await;
        assert_eq!(said.status, 431, "{said:?}");
    }
    for garbage in
        [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], b"GET\0 / HTTP/1.1\r\n\r\n", b"\xff\r\n\r\n"]
    {
        let said = raw_http::raw(server.http, garbage).await;
        assert_eq!(said.status, 400, "{said:?}");
    }
    assert_eq!(server.number().await, 2, "nothing was consumed");
}
