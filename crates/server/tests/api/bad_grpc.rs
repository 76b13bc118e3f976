//! Invalid gRPC requests: every error has a reason, a field and a bound, and consumes no number.

use std::collections::HashMap;

use sequent_proto::v1::{LeaseRequest, NextRequest, NextResponse};
use tonic::{Code, Request, Status, client::Grpc, codegen::http::uri::PathAndQuery};
use tonic_prost::ProstCodec;
use tonic_types::StatusExt;

use crate::{Server, ask};

/// Bound of a lease's count, and what a lease gets.
const LEASE: &str = "1 to 4294967295 are allowed; one lease has at most 100000";

/// A request whose count is wider than its field.
#[derive(Clone, PartialEq, prost::Message)]
struct Wide {
    #[prost(string, tag = "1")]
    sequence: String,
    #[prost(uint64, optional, tag = "2")]
    count: Option<u64>,
}

pub(crate) fn check(case: &str, status: &Status, code: Code, reason: &str, field: Option<(&str, &str)>) {
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
    let values = HashMap::from([("area".to_owned(), "010".to_owned())]);
    let rows: Vec<(NextRequest, &str, &str)> = vec![
        (ask("order", Some(0)), "count", "1 to 10000"),
        (ask("order", Some(u32::MAX)), "count", "1 to 10000"),
        (ask(&"n".repeat(300), None), "sequence", "at most 128"),
        (ask("../x", None), "sequence", "A-Z"),
        (ask("a\0b", None), "sequence", "A-Z"),
        (ask("", None), "sequence", "1 to 128"),
        (NextRequest { values, ..order() }, "values.area", "template"),
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
    check("lease of 0", &status, Code::InvalidArgument, "INVALID_ARGUMENT", Some(("count", LEASE)));
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
    check("10 MB", &status, Code::InvalidArgument, "INVALID_ARGUMENT", Some(("message", "65541 bytes")));
    let mut request = Request::new(ask("order", None));
    request.metadata_mut().insert("grpc-timeout", "soon".parse().unwrap());
    let status = client.next(request).await.unwrap_err();
    check("timeout", &status, Code::InvalidArgument, "INVALID_ARGUMENT", Some(("grpc-timeout", "digits")));

    let mut request = Request::new(ask("order", None));
    for at in 0..=100 {
        let key = format!("h{at}").parse::<tonic::metadata::MetadataKey<_>>().unwrap();
        request.metadata_mut().insert(key, "x".parse().unwrap());
    }
    let status = client.next(request).await.unwrap_err();
    check("headers", &status, Code::InvalidArgument, "INVALID_ARGUMENT", Some(("headers", "at most 100")));

    // A message with invalid UTF-8 in field 1, which is a string.
    let invalid = vec![0xff_u8, 0xfe];
    let status = raw(&server, "/sequent.v1.Sequences/Next", invalid.clone()).await;
    check("invalid UTF-8", &status, Code::InvalidArgument, "INVALID_ARGUMENT", Some(("message", "bounds")));
    for path in [
        "/sequent.v1.Sequences/Nxt",
        "/sequent.v2.Sequences/Next",
        "/grpc.health.v1.Health/Chck",
        "/grpc.reflection.v1.ServerReflection/x",
        "/",
    ] {
        let status = raw(&server, path, invalid.clone()).await;
        let bound = "no such method: Next and Lease";
        check(path, &status, Code::Unimplemented, "INVALID_ARGUMENT", Some(("path", bound)));
        assert!(status.message().contains(path), "{status}");
    }
    assert_eq!(server.number().await, 1, "nothing was consumed");
}

#[tokio::test]
async fn a_count_that_its_field_has_no_room_for_is_refused() {
    let server = Server::start().await;
    assert_eq!(server.number().await, 1);
    for count in [1 << 32, (1 << 32) + 1, u64::MAX] {
        for (path, bound) in
            [("/sequent.v1.Sequences/Next", "1 to 10000"), ("/sequent.v1.Sequences/Lease", LEASE)]
        {
            let case = format!("{count} by {path}");
            let message = Wide { sequence: "order".to_owned(), count: Some(count) };
            let status = raw(&server, path, message).await;
            check(&case, &status, Code::InvalidArgument, "INVALID_ARGUMENT", Some(("count", bound)));
            assert!(status.message().contains(&format!("{count:?}")), "{case}: {status}");
        }
    }
    assert_eq!(server.number().await, 2, "nothing was consumed");
}

async fn raw<M>(server: &Server, path: &'static str, message: M) -> Status
where
    M: prost::Message + Default + 'static,
{
    let mut grpc = Grpc::new(server.channel().await);
    grpc.ready().await.unwrap();
    let codec = ProstCodec::<M, NextResponse>::default();
    grpc.unary(Request::new(message), PathAndQuery::from_static(path), codec).await.unwrap_err()
}
