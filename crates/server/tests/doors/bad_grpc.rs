//! Bad input by gRPC: the table's reason in every error, field and bound in its details; nothing consumed.

use std::collections::HashMap;

use sequent_proto::v1::{LeaseRequest, NextRequest, NextResponse};
use tonic::{Code, Request, Status, client::Grpc, codegen::http::uri::PathAndQuery};
use tonic_prost::ProstCodec;
use tonic_types::StatusExt;

use crate::{Server, ask};

fn check(case: &str, status: &Status, code: Code, reason: &str, field: Option<(&str, &str)>) {
    assert_eq!(status.code(), code, "{case}: {status}");
    let info = status.get_details_error_info().unwrap_or_else(|| panic!("{case}: no ErrorInfo: {status}"));
    assert_eq!((info.reason.as_str(), info.domain.as_str()), (reason, "sequent"), "{case}");
    let Some((field, bound)) = field else { return };
    let violation = status.get_details_bad_request().unwrap().field_violations.remove(0);
    assert_eq!(violation.field, field, "{case}");
    assert!(violation.description.contains(bound), "{case}: {}", violation.description);
}

#[tokio::test]
async fn each_is_refused_by_name_and_consumes_nothing() {
    let server = Server::start().await;
    let mut client = server.client().await;
    assert_eq!(server.number().await, 1);
    let order = || ask("order", None);
    let with = HashMap::from([("area".to_owned(), "010".to_owned())]);
    let rows: Vec<(NextRequest, &str, &str)> = vec![
        (ask("order", Some(0)), "count", "1 to 10000"),
        (ask("order", Some(u32::MAX)), "count", "1 to 10000"),
        (ask(&"n".repeat(300), None), "sequence", "at most 128"),
        (ask("../x", None), "sequence", "A-Z"),
        (ask("a\0b", None), "sequence", "A-Z"),
        (ask("", None), "sequence", "1 to 128"),
        (NextRequest { with, ..order() }, "with.area", "template"),
        (NextRequest { at: "now".to_owned(), ..order() }, "at", "leave it out"),
        (NextRequest { above: -1, ..order() }, "above", "0 (not told)"),
    ];
    for (request, field, bound) in rows {
        let case = format!("{request:?}");
        let status = client.next(request).await.unwrap_err();
        check(&case, &status, Code::InvalidArgument, "INVALID_ARGUMENT", Some((field, bound)));
    }
    let lease = LeaseRequest { sequence: "order".to_owned(), ..LeaseRequest::default() };
    let status = client.lease(lease).await.unwrap_err();
    check("lease of 0", &status, Code::InvalidArgument, "INVALID_ARGUMENT", Some(("count", "1 to 10000")));
    let status = client.next(ask("oder", None)).await.unwrap_err();
    check("unknown", &status, Code::NotFound, "SEQUENCE_NOT_FOUND", None);
    assert_eq!(server.number().await, 2, "nothing was consumed");
}

#[tokio::test]
async fn what_the_protocol_refuses_has_a_reason_too() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let large = ask(&"n".repeat(10 << 20), None);
    let status = client.next(large).await.unwrap_err();
    check("10 MB", &status, Code::InvalidArgument, "INVALID_ARGUMENT", Some(("message", "bounds")));
    let mut request = Request::new(ask("order", None));
    request.metadata_mut().insert("grpc-timeout", "soon".parse().unwrap());
    let status = client.next(request).await.unwrap_err();
    check("timeout", &status, Code::InvalidArgument, "INVALID_ARGUMENT", Some(("grpc-timeout", "digits")));

    // A message of one field of bytes, number 1: where a text is expected.
    let invalid = vec![0xff_u8, 0xfe];
    let status = raw(&server, "/sequent.v1.Sequences/Next", invalid.clone()).await;
    check("invalid UTF-8", &status, Code::InvalidArgument, "INVALID_ARGUMENT", Some(("message", "bounds")));
    for path in ["/sequent.v1.Sequences/Nxt", "/sequent.v2.Sequences/Next", "/"] {
        let status = raw(&server, path, invalid.clone()).await;
        check(path, &status, Code::Unimplemented, "INVALID_ARGUMENT", None);
    }
    assert_eq!(server.number().await, 1, "nothing was consumed");
}

async fn raw(server: &Server, path: &'static str, message: Vec<u8>) -> Status {
    let mut grpc = Grpc::new(server.channel().await);
    grpc.ready().await.unwrap();
    let codec = ProstCodec::<Vec<u8>, NextResponse>::default();
    grpc.unary(Request::new(message), PathAndQuery::from_static(path), codec).await.unwrap_err()
}
