//! Definitions by HTTP and gRPC: list, show, preview, parse and define.

use sequent_core::{Clock, SystemClock};
use sequent_engine::Timestamp;
use sequent_proto::v1::{
    Capacity, DefineRequest, Definition, LeaseRequest, ListRequest, ParseRequest, PreviewRequest,
    ShowRequest, Value, definitions_client::DefinitionsClient, parse_request, preview_request,
    sequences_client::SequencesClient,
};
use serde_json::json;
use tonic::{Code, Request, transport::Channel};

use crate::{Server, bad_grpc::check, raw_http};

#[tokio::test]
async fn they_are_listed_and_shown_and_made_where_that_is_allowed() {
    let server = Server::with(&[("limits.define", "true")]).await;
    let listed = raw_http::get(server.http, "/v1/sequences").await.json();
    let names: Vec<&str> =
        listed["sequences"].as_array().unwrap().iter().map(|it| it["sequence"].as_str().unwrap()).collect();
    assert_eq!((names, &listed["more"]), (vec!["dated", "order", "short"], &json!(false)));
    let shown = raw_http::get(server.http, "/v1/sequences/dated").await.json();
    assert_eq!((&shown["version"], &shown["start"]), (&json!(2), &json!("1")), "{shown}");
    assert!(shown["definition"].as_str().unwrap().contains("Asia/Shanghai"), "{shown}");
    let put = async |name: &str, body: serde_json::Value| {
        let path = format!("/v1/sequences/{name}");
        raw_http::send(server.http, "PUT", &path, body.to_string().as_bytes()).await
    };
    let leave = json!({"template": "QJ@{seq,w=6}", "start": "5"});
    let said = put("leave", leave.clone()).await;
    assert_eq!(
        (said.status, &said.json()["version"], &said.json()["already"]),
        (200, &json!(1), &json!(false))
    );
    assert_eq!(said.json()["warnings"], json!([]));
    assert_eq!(put("leave", leave).await.json()["already"], true);
    let said = put("undated", json!({"template": "@{date,yyyy}@{seq,w=6,reset=never}"})).await.json();
    let warning = said["warnings"][0].as_str().unwrap_or_else(|| panic!("{said}"));
    assert!(warning.contains("the counter does not reset with it"), "{said}");
    let given = raw_http::post(server.http, "/v1/sequences/leave/next", "").await;
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
    let said = raw_http::get(server.http, "/v1/sequences/x").await;
    assert_eq!(said.status, 404, "nothing was defined: {said:?}");
    put("steps", json!({"template": "W@{seq,start=10,step=5,w=6}"})).await;
    let preview = async |number: u32| {
        let body = json!({"sequence": "steps", "number": number});
        raw_http::post(server.http, "/v1/preview", &body.to_string()).await
    };
    assert_eq!(preview(15).await.json()["text"], "W000015");
    let said = preview(12).await;
    assert_eq!((said.status, &said.json()["errors"][0]["field"]), (400, &json!("number")), "{said:?}");
    put("few", json!({"template": "F@{seq,w=6,over=error}"})).await;
    let beyond = json!({"sequence": "few", "number": 1_000_000}).to_string();
    let said = raw_http::post(server.http, "/v1/preview", &beyond).await.json();
    assert_eq!(said["detail"], "number is 1000000: the template has texts up to 999999");
}

#[tokio::test]
async fn a_body_is_an_object_and_no_list_is_taken_for_one() {
    let server = Server::with(&[("limits.define", "true")]).await;
    for (method, path, body) in [
        ("PUT", "/v1/sequences/listed", "[7]"),
        ("PUT", "/v1/sequences/listed", "[]"),
        ("PUT", "/v1/sequences/listed", "null"),
        ("POST", "/v1/preview", r#"["short"]"#),
        ("POST", "/v1/preview", r#"{"definition": [null, null, null, null, null, null, "@{seq}"]}"#),
        ("POST", "/v1/parse", r#"["short", null, "S1"]"#),
        ("POST", "/v1/parse", r#"{"definition": [], "text": "1"}"#),
        ("POST", "/v1/sequences/short/next", "[1]"),
    ] {
        let said = raw_http::send(server.http, method, path, body.as_bytes()).await;
        assert_eq!(
            (said.status, &said.json()["errors"][0]["field"]),
            (400, &json!("body")),
            "{body}: {said:?}"
        );
        assert!(said.json().to_string().contains("a JSON object"), "{body}: {said:?}");
    }
    assert_eq!(raw_http::get(server.http, "/v1/sequences/listed").await.status, 404, "nothing was defined");
}

#[tokio::test]
async fn a_version_waits_for_its_instant_and_is_shown_by_both_apis() {
    let server = Server::with(&[("limits.define", "true"), ("limits.lease_max_age_ms", "600000")]).await;
    let put = async |body: serde_json::Value| {
        let said =
            raw_http::send(server.http, "PUT", "/v1/sequences/leave", body.to_string().as_bytes()).await;
        (said.status, said.json())
    };
    put(json!({"template": "A@{seq,w=6}"})).await;
    let then = "2199-01-01T00:00:00+00:00";
    let (status, said) = put(json!({"template": "B@{seq,w=6}", "effective": "2199-01-01"})).await;
    assert_eq!((status, &said["version"], &said["effective"]), (200, &json!(2), &json!(then)), "{said}");
    let shown = raw_http::get(server.http, "/v1/sequences/leave").await.json();
    assert_eq!((&shown["version"], &shown["template"]), (&json!(1), &json!("A@{seq,w=6}")), "{shown}");
    assert_eq!(shown["waiting"], json!([{"version": 2, "effective": then, "template": "B@{seq,w=6}"}]));
    for (effective, status, field, bound) in [
        ("soon", 400, "effective", "next-period, or an instant such as"),
        ("2020-01-01", 409, "", "effective is 2020-01-01T00:00:00Z: an instant at least 10 s from now"),
        ("next-period", 409, "", "neither version has periods"),
    ] {
        let (found, said) = put(json!({"template": "C@{seq,w=6}", "effective": effective})).await;
        assert_eq!(found, status, "{effective}: {said}");
        assert_eq!(said["errors"][0]["field"].as_str().unwrap_or_default(), field, "{said}");
        assert!(said.to_string().contains(bound), "{said}");
    }
    let tried = json!({"definition": {"template": "C@{seq,w=6}", "effective": "now"}}).to_string();
    let said = raw_http::send(server.http, "POST", "/v1/preview", tried.as_bytes()).await;
    assert_eq!((said.status, &said.json()["errors"][0]["field"]), (400, &json!("effective")), "{said:?}");
    let given =
        raw_http::post(server.http, "/v1/sequences/leave/next", r#"{"at": "2199-01-01"}"#).await.json();
    assert_eq!((&given["texts"], &given["version"]), (&json!(["B000001"]), &json!(2)));
    let mut client = client(&server).await;
    let listed = client.list(ListRequest { after: "dated".to_owned() }).await.unwrap().into_inner();
    let held = &listed.sequences[0];
    assert_eq!((held.version, held.waiting[0].version, &*held.waiting[0].effective), (1, 2, then));
    let request = DefineRequest {
        sequence: "leave".to_owned(),
        definition: Some(template("D@{seq,w=6}")),
        effective: "2198-01-01".to_owned(),
        ..DefineRequest::default()
    };
    let said = client.define(request).await.unwrap().into_inner();
    assert_eq!((said.version, &*said.effective), (3, "2198-01-01T00:00:00+00:00"));
    let mut sequences = SequencesClient::new(server.channel().await);
    let ask = LeaseRequest { sequence: "leave".to_owned(), count: 1, ..LeaseRequest::default() };
    let lease = sequences.lease(ask).await.unwrap().into_inner();
    assert_eq!((lease.version, &*lease.version_end), (1, "2198-01-01T00:00:00Z"));
    assert_eq!(lease.max_age_ms, 600_000, "its end is far");
    // A lease ends when another version takes effect.
    let define = |text: &str, effective: String| DefineRequest {
        sequence: "soon".to_owned(),
        definition: Some(template(text)),
        effective,
        ..DefineRequest::default()
    };
    client.define(define("A@{seq,w=6}", String::new())).await.unwrap();
    let end_ms = i64::try_from(SystemClock.wall_ms()).unwrap() + 300_000;
    let end = Timestamp::from_millisecond(end_ms).unwrap().to_string();
    client.define(define("B@{seq,w=6}", end.clone())).await.unwrap();
    let ask = LeaseRequest { sequence: "soon".to_owned(), count: 1, ..LeaseRequest::default() };
    let lease = sequences.lease(ask).await.unwrap().into_inner();
    assert_eq!((lease.version, &lease.version_end), (1, &end));
    assert!(lease.max_age_ms <= 300_000, "{} ms", lease.max_age_ms);
}

#[tokio::test]
async fn nobody_defines_where_that_is_not_allowed() {
    let server = Server::start().await;
    let said = raw_http::send(server.http, "PUT", "/v1/sequences/x", b"{}").await;
    assert_eq!((said.status, &said.json()["reason"]), (403, &json!("PERMISSION_DENIED")), "{said:?}");
    assert_eq!(raw_http::get(server.http, "/v1/sequences/x").await.status, 404);
}

#[tokio::test]
async fn what_is_tried_out_by_http_consumes_nothing() {
    let server = Server::start().await;
    let send = async |path: &str, body: serde_json::Value| {
        let said = raw_http::send(server.http, "POST", path, body.to_string().as_bytes()).await;
        (said.status, said.json())
    };
    let order = json!({"template": "@{date,yyyyMMdd}@{seq,order,w=5}", "zone": "Asia/Shanghai"});
    for (body, text) in [
        (json!({"definition": order, "at": "2017-03-04"}), "2017030400001"),
        (json!({"definition": {"template": "QJ@{seq,w=6}"}, "number": "42"}), "QJ000042"),
        (json!({"definition": {"template": "QJ@{seq,w=6}", "start": "7"}}), "QJ000007"),
        (
            json!({"sequence": "dated", "at": "2026-04-01", "number": 3, "values": {"area": "010"}}),
            "20260401010\"0003",
        ),
    ] {
        let (status, said) = send("/v1/preview", body.clone()).await;
        assert_eq!((status, &said["text"], &said["preview"]), (200, &json!(text), &json!(true)), "{said}");
        let mut asked = body;
        asked["text"] = json!(text);
        asked.as_object_mut().unwrap().retain(|field, _| !["at", "number", "values"].contains(&&**field));
        let (status, read) = send("/v1/parse", asked).await;
        assert_eq!((status, &read["number"], &read["text"]), (200, &said["number"], &said["text"]), "{read}");
    }
    let (_, said) = send("/v1/preview", json!({"definition": {"template": "S@{seq,w=6,over=error}"}})).await;
    assert_eq!(
        (&said["capacity"]["numbers"], &said["capacity"]["servers"]),
        (&json!("999999"), &json!(1)),
        "{said}"
    );
    for (path, body, status, field, bound) in [
        (
            "preview",
            json!({"definition": {"template": "@{ctx,store}@{seq}"}}),
            400,
            "template",
            "S1, column 1",
        ),
        ("preview", json!({"definition": order, "number": "0"}), 400, "number", "numbers begin at 1"),
        ("preview", json!({"definition": order, "at": "soon"}), 400, "at", "an instant such as"),
        (
            "preview",
            json!({"definition": order, "at": ""}),
            400,
            "at",
            "a date or time of the zone such as 2026-04-01; without it now",
        ),
        ("preview", json!({"sequence": "dated"}), 400, "values.area", "the template needs it"),
        (
            "preview",
            json!({"sequence": "dated", "values": {"area": 10}}),
            400,
            "values.area",
            "a text is expected",
        ),
        ("preview", json!({"sequence": "order"}), 400, "sequence", "with a template"),
        ("preview", json!({"definition": {}}), 400, "template", "a template is expected"),
        ("preview", json!({}), 400, "sequence", "a sequence or a definition"),
        ("preview", json!({"sequence": "dated", "definition": order}), 400, "sequence", "say one of them"),
        ("preview", json!({"sequence": "x"}), 404, "sequence", "a defined sequence"),
        ("parse", json!({"sequence": "dated", "text": "20260401010"}), 400, "text", "column"),
        ("parse", json!({"sequence": "dated"}), 400, "text", "a text is expected"),
        ("parse", json!({"sequence": "dated", "txt": ""}), 400, "body", "a JSON object with a text"),
    ] {
        let (found, said) = send(&format!("/v1/{path}"), body.clone()).await;
        assert_eq!((found, &said["errors"][0]["field"]), (status, &json!(field)), "{body}: {said}");
        assert!(said.to_string().contains(bound), "{body}: {said}");
    }
    let given =
        raw_http::post(server.http, "/v1/sequences/dated/next", r#"{"values": {"area": "010"}}"#).await;
    assert_eq!(given.numbers(), [1], "nothing was consumed");
    let listed = raw_http::get(server.http, "/v1/sequences?after=dated").await.json();
    assert_eq!(listed["sequences"][0]["sequence"], "order", "{listed}");
    assert_eq!(raw_http::get(server.http, "/v1/sequences?from=dated").await.status, 400);
}

/// Number 0, encoded numbers and a shared counter, by each API.
#[tokio::test]
async fn numbers_from_zero_encoded_ones_and_a_shared_counter_by_http_and_grpc() {
    let server = Server::with(&[("limits.define", "true")]).await;
    let put = async |name: &str, body: serde_json::Value| {
        let path = format!("/v1/sequences/{name}");
        raw_http::send(server.http, "PUT", &path, body.to_string().as_bytes()).await
    };
    let next = async |name: &str| {
        raw_http::post(server.http, &format!("/v1/sequences/{name}/next"), "").await.json()
    };
    assert_eq!(put("zero", json!({"start": "0"})).await.status, 200);
    assert_eq!(next("zero").await["numbers"], json!(["0"]));
    assert_eq!(put("strict", json!({"start": 0, "placement": "dense"})).await.status, 200);
    assert_eq!(next("strict").await["numbers"], json!(["0"]));
    let encoded = json!({"numbering": "encoded", "reserve_ms": 0, "at_risk_max": 64});
    let said = put("sto", encoded).await.json();
    let definition = said["definition"].as_str().unwrap_or_else(|| panic!("{said}"));
    assert!(definition.contains(r#""numbering":"encoded","reserve_ms":0,"at_risk_max":64"#), "{definition}");
    let origin = server.engine.cluster().layout().origin();
    assert_eq!(next("sto").await["numbers"], json!([origin.to_string()]), "raw id 1 of slot 0");
    let mut client = client(&server).await;
    let define = |sequence: &str, definition| DefineRequest {
        sequence: sequence.to_owned(),
        version: None,
        definition: Some(definition),
        effective: String::new(),
    };
    let grpc = Definition {
        numbering: "encoded".to_owned(),
        reserve_ms: Some(0),
        at_risk_max: Some(64),
        ..Definition::default()
    };
    assert!(client.define(define("sto", grpc)).await.unwrap().into_inner().already, "the same content");
    let zero = Definition { start: Some(0), ..template("Z@{seq,start=0,w=3}") };
    client.define(define("text", zero)).await.unwrap();
    assert_eq!(next("text").await["texts"], json!(["Z000"]));
    let preview = json!({"sequence": "text", "number": 0}).to_string();
    assert_eq!(raw_http::post(server.http, "/v1/preview", &preview).await.json()["text"], "Z000");
    let parsed = json!({"sequence": "text", "text": "Z000"}).to_string();
    assert_eq!(raw_http::post(server.http, "/v1/parse", &parsed).await.json()["number"], "0");
    client
        .define(define("credit", Definition { start: Some(0), ..template("C@{seq,ref=zero,start=0}") }))
        .await
        .unwrap();
    assert_eq!(next("credit").await["texts"], json!(["C1"]), "zero gave 0");
    assert_eq!(next("zero").await["numbers"], json!(["2"]));
    for (name, body, field, bound) in [
        ("x", json!({"numbering": "other"}), "numbering", "ordinal and encoded"),
        ("x", json!({"numbering": "encoded", "start": 7}), "start", "leave it out"),
        ("x", json!({"placement": "dense", "reserve_ms": 5}), "reserve_ms", "holds nothing ready"),
        ("x", json!({"reserve_ms": 600_001}), "reserve_ms", "0 to 600000"),
    ] {
        let said = put(name, body.clone()).await;
        let json = said.json();
        assert_eq!((said.status, json["errors"][0]["field"].as_str()), (400, Some(field)), "{body}: {json}");
        assert!(json.to_string().contains(bound), "{body}: {json}");
    }
    let said = put("y", json!({"template": "Y@{seq,ref=nobody}"})).await;
    assert_eq!(said.status, 409, "{said:?}");
    assert!(said.json().to_string().contains("no such sequence is defined"), "{said:?}");
}

async fn client(server: &Server) -> DefinitionsClient<Channel> {
    DefinitionsClient::new(server.channel().await)
}

fn template(template: &str) -> Definition {
    Definition { template: template.to_owned(), ..Definition::default() }
}

/// Compares each field of a capacity with the one in the HTTP response.
async fn told_by_http_too(server: &Server, sum: &Capacity) {
    let asked = json!({"sequence": "leave"}).to_string();
    let told = raw_http::post(server.http, "/v1/preview", &asked).await.json();
    for (field, number) in [
        ("numbers", sum.numbers),
        ("skipped", sum.skipped),
        ("reserve", sum.reserve),
        ("ceilings", sum.ceilings),
        ("lease", sum.lease),
    ] {
        assert_eq!(told["capacity"][field], json!(number.to_string()), "{field}: {told}");
    }
    assert_eq!(told["capacity"]["is_bounded"], json!(sum.is_bounded), "{told}");
}

#[tokio::test]
async fn grpc_defines_lists_shows_and_tries_out() {
    let server = Server::with(&[("limits.define", "true"), ("reservoir.servers", "4")]).await;
    let mut client = client(&server).await;
    let define = |sequence: &str, version, definition| DefineRequest {
        sequence: sequence.to_owned(),
        version,
        definition: Some(definition),
        effective: String::new(),
    };
    let leave = Definition { start: Some(5), ..template("QJ@{seq,w=6}") };
    let said = client.define(define("leave", None, leave.clone())).await.unwrap().into_inner();
    let sum = said.capacity.unwrap();
    assert_eq!((said.version, said.already, sum.may_be_spread), (1, false, true));
    assert_eq!((sum.skipped, sum.servers), (4 * (sum.reserve + sum.lease) + sum.ceilings, 4), "{sum:?}");
    assert!(sum.reserve > 0 && sum.ceilings > 0 && sum.lease > 0, "{sum:?}");
    told_by_http_too(&server, &sum).await;
    assert!(said.warnings.is_empty(), "{said:?}");
    let undated = define("undated", None, template("@{date,yyyy}@{seq,w=6,reset=never}"));
    let warnings = client.define(undated).await.unwrap().into_inner().warnings;
    assert!(warnings[0].contains("the counter does not reset with it"), "{warnings:?}");
    assert!(client.define(define("leave", None, leave.clone())).await.unwrap().into_inner().already);
    let listed = client.list(ListRequest { after: "dated".to_owned() }).await.unwrap().into_inner();
    let names: Vec<&str> = listed.sequences.iter().map(|it| it.sequence.as_str()).collect();
    assert_eq!((names, listed.more), (vec!["leave", "order", "short", "undated"], false));
    let shown = client.show(ShowRequest { sequence: "leave".to_owned() }).await.unwrap().into_inner();
    assert_eq!((shown.sequence.unwrap().start, shown.definition), (5, said.definition));
    let by = Some(preview_request::By::Sequence("dated".to_owned()));
    let values = [("area".to_owned(), "010".to_owned())].into();
    let at = "2026-04-01T09:00:00+08:00".to_owned();
    let preview = client.preview(PreviewRequest { by, values, at, ..PreviewRequest::default() }).await;
    let preview = preview.unwrap().into_inner();
    assert_eq!((&*preview.text, &*preview.period), ("20260401010\"0001", "20260401"));
    assert_eq!(preview.partition, [Value { name: "area".to_owned(), value: "010".to_owned() }]);
    for by in [
        preview_request::By::Definition(template("@{ctx,area,len=3}@{seq,w=6}")),
        preview_request::By::Sequence("leave".to_owned()),
    ] {
        let asked = PreviewRequest { by: Some(by), capacity_only: true, ..PreviewRequest::default() };
        let told = client.preview(asked).await.unwrap().into_inner();
        assert_eq!(
            (told.capacity.map(|sum| (sum.lease, sum.servers)), &*told.text),
            (Some((100_000, 4)), "")
        );
    }
    let by = Some(parse_request::By::Sequence("dated".to_owned()));
    let parsed = client.parse(ParseRequest { by, text: preview.text }).await.unwrap().into_inner();
    assert_eq!((parsed.number, parsed.period.as_deref()), (1, Some("20260401")));
    let wide = u64::from(u32::MAX) + 2;
    for (request, code, reason, field, bound) in [
        (
            define("leave", Some(1), template("QJ@{seq,w=6}")),
            Code::FailedPrecondition,
            "DEFINITION_CONFLICT",
            "",
            "",
        ),
        (
            define("x", None, template("@{ctx,store}@{seq}")),
            Code::InvalidArgument,
            "INVALID_ARGUMENT",
            "template",
            "S1",
        ),
        (
            define("x", Some(0), leave.clone()),
            Code::InvalidArgument,
            "INVALID_ARGUMENT",
            "version",
            "at least 1",
        ),
        (
            define("x", Some(wide), leave.clone()),
            Code::InvalidArgument,
            "INVALID_ARGUMENT",
            "version",
            "at most",
        ),
        (define("../x", None, leave.clone()), Code::InvalidArgument, "INVALID_ARGUMENT", "sequence", "A-Z"),
        (
            define("x", None, Definition { start: Some(-1), ..Definition::default() }),
            Code::InvalidArgument,
            "INVALID_ARGUMENT",
            "start",
            "0 to",
        ),
    ] {
        let case = format!("{request:?}");
        let status = client.define(request).await.unwrap_err();
        check(&case, &status, code, reason, Some((field, bound)).filter(|(field, _)| !field.is_empty()));
    }
    let status = client.show(ShowRequest { sequence: "x".to_owned() }).await.unwrap_err();
    check("x", &status, Code::NotFound, "SEQUENCE_NOT_FOUND", None);
    let status = client.preview(PreviewRequest::default()).await.unwrap_err();
    let field = Some(("sequence", "a sequence or a definition"));
    check("nothing", &status, Code::InvalidArgument, "INVALID_ARGUMENT", field);
    let mut late = Request::new(ListRequest::default());
    late.metadata_mut().insert("grpc-timeout", "soon".parse().unwrap());
    let status = client.list(late).await.unwrap_err();
    check("timeout", &status, Code::InvalidArgument, "INVALID_ARGUMENT", Some(("grpc-timeout", "digits")));
}

#[tokio::test]
async fn nobody_defines_by_grpc_where_that_is_not_allowed() {
    let server = Server::start().await;
    let request = DefineRequest { sequence: "x".to_owned(), ..DefineRequest::default() };
    let status = client(&server).await.define(request).await.unwrap_err();
    check("define", &status, Code::PermissionDenied, "PERMISSION_DENIED", None);
    assert_eq!(raw_http::get(server.http, "/v1/sequences/x").await.status, 404);
}
