//! Self-description of the server: reflection, health and `/openapi.json` match what it does.

use std::collections::BTreeSet;

use serde_json::Value;
use tonic::{Code, Request, codegen::tokio_stream};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tonic_reflection::pb::v1::{
    ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
};

use crate::{Server, bad_grpc::check, raw_http};

/// One request of the reflection protocol, as grpcurl sends it.
async fn reflected(server: &Server, ask: MessageRequest) -> MessageResponse {
    let mut client = ServerReflectionClient::new(server.channel().await);
    let request = ServerReflectionRequest { host: String::new(), message_request: Some(ask) };
    let asks = Request::new(tokio_stream::once(request));
    let mut answers = client.server_reflection_info(asks).await.unwrap().into_inner();
    answers.message().await.unwrap().unwrap().message_response.unwrap()
}

#[tokio::test]
async fn reflection_lists_the_services_and_describes_their_methods() {
    let server = Server::start().await;
    let listed = reflected(&server, MessageRequest::ListServices(String::new())).await;
    let MessageResponse::ListServicesResponse(listed) = listed else { panic!("{listed:?}") };
    let names: BTreeSet<String> = listed.service.into_iter().map(|service| service.name).collect();
    for name in ["sequent.v1.Sequences", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"] {
        assert!(names.contains(name), "{name} is not in {names:?}");
    }
    for (service, words) in [
        ("sequent.v1.Sequences", ["NextRequest", "LeaseRequest", "above"]),
        ("sequent.v1.Definitions", ["DefineRequest", "PreviewResponse", "ParseRequest"]),
    ] {
        assert!(names.contains(service), "{service} is not in {names:?}");
        let symbol = MessageRequest::FileContainingSymbol(service.to_owned());
        let MessageResponse::FileDescriptorResponse(found) = reflected(&server, symbol).await else {
            panic!("no descriptor")
        };
        let text = String::from_utf8_lossy(&found.file_descriptor_proto[0]).into_owned();
        for word in words {
            assert!(text.contains(word), "{word}");
        }
    }
    let unknown = MessageRequest::FileContainingSymbol("sequent.v9.Nothing".to_owned());
    let mut client = ServerReflectionClient::new(server.channel().await);
    let asks =
        tokio_stream::once(ServerReflectionRequest { host: String::new(), message_request: Some(unknown) });
    let answer = client.server_reflection_info(asks).await;
    let status = match answer {
        Ok(answers) => answers.into_inner().message().await.unwrap_err(),
        Err(status) => status,
    };
    check("reflection", &status, Code::NotFound, "INVALID_ARGUMENT", Some(("message", "bounds")));
}

#[tokio::test]
async fn health_knows_the_service_and_no_other() {
    let server = Server::start().await;
    let mut client = HealthClient::new(server.channel().await);
    for service in ["", "sequent.v1.Sequences"] {
        let asked = client.check(HealthCheckRequest { service: service.to_owned() }).await.unwrap();
        assert_eq!(asked.into_inner().status(), ServingStatus::Serving, "{service:?}");
    }
    let status = client.check(HealthCheckRequest { service: "x".to_owned() }).await.unwrap_err();
    check("health", &status, Code::NotFound, "INVALID_ARGUMENT", Some(("message", "bounds")));
}

/// A valid value of a path parameter.
const NAME: &str = "order";

#[tokio::test]
async fn each_path_of_the_description_is_served_by_its_methods_and_by_no_other() {
    const METHODS: [&str; 5] = ["get", "post", "put", "delete", "patch"];
    let server = Server::start().await;
    let described = raw_http::get(server.http, "/openapi.json").await.json();
    let paths = described["paths"].as_object().unwrap();
    let known = [
        "/openapi.json",
        "/v1/parse",
        "/v1/preview",
        "/v1/sequences",
        "/v1/sequences/{name}",
        "/v1/sequences/{name}/next",
    ];
    assert_eq!(paths.keys().collect::<Vec<_>>(), known);
    for (path, item) in paths {
        let real = path.replace("{name}", NAME);
        for method in METHODS {
            let said = raw_http::send(server.http, &method.to_uppercase(), &real, body_of(path)).await;
            let told = item.get(method);
            let case = format!("{method} {path}: {said:?}");
            if item.get("get").is_none() {
                assert_eq!(raw_http::send(server.http, "HEAD", &real, b"").await.status, 405, "{case}");
            }
            assert_eq!(said.status == 405, told.is_none(), "{case}");
            let Some(told) = told else {
                assert!(said.header("allow").is_some(), "{case}");
                continue;
            };
            if method == "put" {
                assert_eq!(said.status, 403, "definitions are not made here unless configured: {case}");
                continue;
            }
            assert_eq!(said.status, 200, "{case}");
            if method == "get" {
                let head = raw_http::send(server.http, "HEAD", &real, b"").await;
                let same = |name| assert_eq!(head.header(name), said.header(name), "{head:?}: {case}");
                ["content-type", "content-length", "cache-control"].into_iter().for_each(same);
                assert_eq!((head.status, &*head.body), (200, ""), "{case}");
            }
            let content = &told["responses"]["200"]["content"];
            assert!(content.get(said.header("content-type").unwrap()).is_some(), "{case}");
        }
    }
    for unknown in ["/", "/v1/sequences/", "/v1/sequences/a/b", "/openapi.yaml"] {
        assert_eq!(raw_http::get(server.http, unknown).await.status, 404, "{unknown}");
    }
}

/// A body that the path requires.
fn body_of(path: &str) -> &'static [u8] {
    match path {
        "/v1/preview" => br#"{"definition": {"template": "QJ@{seq,w=6}"}}"#,
        "/v1/parse" => br#"{"definition": {"template": "QJ@{seq,w=6}"}, "text": "QJ000001"}"#,
        _ => b"",
    }
}

/// The schema that a `$ref` points to.
fn resolved<'a>(described: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(reference) => described.pointer(reference.strip_prefix('#').unwrap()).unwrap(),
        None => schema,
    }
}

#[tokio::test]
async fn the_fields_of_requests_and_answers_are_those_of_the_description() {
    let server = Server::start().await;
    let described = raw_http::get(server.http, "/openapi.json").await.json();
    let post = &described["paths"]["/v1/sequences/{name}/next"]["post"];
    let fields = |schema: &Value| -> BTreeSet<String> {
        resolved(&described, schema)["properties"].as_object().unwrap().keys().cloned().collect()
    };
    let asked = fields(&post["requestBody"]["content"]["application/json"]["schema"]);
    assert_eq!(asked, ["above", "at", "count", "values"].map(str::to_owned).into());
    for field in &asked {
        // A value of the wrong type: the error of a known field says what it expects, that of an unknown one which
        // fields are known.
        let body = format!("{{\"{field}\": [1]}}");
        let said = raw_http::post(server.http, "/v1/sequences/order/next", &body).await.json();
        assert_eq!(said["errors"][0]["field"], field.as_str(), "{said}");
        assert!(!said["errors"][0]["bound"].as_str().unwrap().contains("no such field"), "{said}");
    }
    let answer = fields(&post["responses"]["200"]["content"]["application/json"]["schema"]);
    let said = raw_http::post(server.http, "/v1/sequences/order/next", "").await.json();
    for field in said.as_object().unwrap().keys() {
        assert!(answer.contains(field), "{field} is not described");
    }
    let problem = fields(&post["responses"]["400"]["content"]["application/problem+json"]["schema"]);
    let said = raw_http::post(server.http, "/v1/sequences/order/next?count=0", "").await.json();
    for field in said.as_object().unwrap().keys() {
        assert!(problem.contains(field), "{field} is not described");
    }
    for (path, asked) in [("/v1/preview", "number"), ("/v1/parse", "text")] {
        let post = &described["paths"][path]["post"];
        assert!(fields(&post["requestBody"]["content"]["application/json"]["schema"]).contains(asked));
        let answer = fields(&post["responses"]["200"]["content"]["application/json"]["schema"]);
        let said = raw_http::send(server.http, "POST", path, body_of(path)).await.json();
        let told: BTreeSet<String> = said.as_object().unwrap().keys().cloned().collect();
        assert_eq!(told, answer, "{path}");
    }
    for status in ["404", "405", "413", "408"] {
        assert!(post["responses"][status].is_object() || status == "404", "{status} is not described");
    }
}

/// For each keyword of `/openapi.json` that forbids something: a request that violates it, and the error.
#[tokio::test]
async fn what_the_description_forbids_is_refused() {
    let server = Server::start().await;
    let described = raw_http::get(server.http, "/openapi.json").await.json();
    for (path, body, keyword) in [
        ("/v1/parse", r#"{"sequence": "order", "definition": {}, "text": "1"}"#, "/ParseRequest/oneOf"),
        ("/v1/parse", r#"{"text": "1"}"#, "/ParseRequest/oneOf"),
        ("/v1/parse", r#"{"sequence": "", "text": "1"}"#, "/ParseRequest/properties/sequence/pattern"),
        ("/v1/preview", r#"{"sequence": "order", "definition": {}}"#, "/PreviewRequest/oneOf"),
        ("/v1/preview", r#"{"sequence": ""}"#, "/PreviewRequest/properties/sequence/pattern"),
        ("/v1/preview", r#"{"definition": {"template": ""}}"#, "/Definition/properties/template/minLength"),
        ("/v1/preview", r#"{"definition": {"template": "@{seq,w=6}", "start": ""}}"#, "/FirstNumber/pattern"),
        ("/v1/preview", r#"{"definition": {"template": "@{seq,w=6}", "step": "0"}}"#, "/Number/pattern"),
        ("/v1/preview", r#"{"definition": {"template": "@{seq,w=6}", "step": "+1"}}"#, "/Number/pattern"),
        ("/v1/preview", r#"{"definition": {"template": "@{seq,w=6}", "end": 0}}"#, "/Number/minimum"),
        (
            "/v1/preview",
            r#"{"definition": {"template": "@{seq,w=6}", "numbering": "x"}}"#,
            "/Definition/properties/numbering/enum",
        ),
        (
            "/v1/preview",
            r#"{"definition": {"template": "@{seq,w=6}", "at_risk_max": 0}}"#,
            "/Definition/properties/at_risk_max/minimum",
        ),
        (
            "/v1/preview",
            r#"{"definition": {"template": "@{seq,w=6}", "zone": ""}}"#,
            "/Definition/properties/zone/minLength",
        ),
        (
            "/v1/preview",
            r#"{"definition": {"template": "@{seq,w=6}"}, "at": ""}"#,
            "/PreviewRequest/properties/at/pattern",
        ),
        (
            "/v1/preview",
            r#"{"definition": {"template": "@{seq,w=6}", "version": null}}"#,
            "/Definition/properties/version/type",
        ),
        ("/v1/preview", r#"{"definition": {"template": "@{seq,w=6}", "end": null}}"#, "/Number/type"),
        (
            "/v1/preview",
            r#"{"definition": {"template": "@{seq,w=6}"}, "values": null}"#,
            "/PreviewRequest/properties/values/type",
        ),
        ("/v1/preview", r#"{"definition": null, "sequence": "order"}"#, "/PreviewRequest/oneOf"),
        ("/v1/sequences/order/next", r#"{"at": ""}"#, "/NextRequest/properties/at/pattern"),
    ] {
        let said = raw_http::post(server.http, path, body).await;
        assert_eq!(said.status, 400, "{path} {body}: {said:?}");
        let said = described.pointer(&format!("/components/schemas{keyword}"));
        assert!(said.is_some(), "{keyword}");
    }
    let body = r#"{"definition": {"template": "@{seq,w=6}", "start": 7}, "number": "7"}"#;
    assert_eq!(raw_http::post(server.http, "/v1/preview", body).await.status, 200, "numbers may be integers");
}
