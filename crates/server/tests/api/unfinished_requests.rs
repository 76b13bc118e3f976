//! Unfinished requests: each service ends them in time with a reason, and serves others meanwhile.

use std::time::Duration;

use sequent_proto::v1::{NextRequest, NextResponse};
use tonic::{
    Code, Request, Status,
    client::Grpc,
    codegen::{http::uri::PathAndQuery, tokio_stream},
};
use tonic_prost::ProstCodec;

use crate::{Server, ask, bad_grpc::check};

/// Longer than the time limit of a body.
const WAIT: Duration = Duration::from_secs(9);

/// Outcome of a call whose message never arrives.
async fn unfinished(server: &Server, path: &'static str) -> Status {
    let mut grpc = Grpc::new(server.channel().await);
    grpc.ready().await.unwrap();
    let codec = ProstCodec::<NextRequest, NextResponse>::default();
    let never = Request::new(tokio_stream::pending());
    let call = grpc.client_streaming(never, PathAndQuery::from_static(path), codec);
    let answer = tokio::time::timeout(WAIT, call).await;
    answer.unwrap_or_else(|_| panic!("{path}: still waiting")).unwrap_err()
}

#[tokio::test]
async fn a_message_that_never_comes_is_given_up() {
    let server = Server::start().await;
    let meanwhile = async {
        for _ in 0..100 {
            server.client().await.next(ask("order", None)).await.unwrap();
        }
    };
    let (next, lease, health, watch, reflection, ()) = tokio::join!(
        unfinished(&server, "/sequent.v1.Sequences/Next"),
        unfinished(&server, "/sequent.v1.Sequences/Lease"),
        unfinished(&server, "/grpc.health.v1.Health/Check"),
        unfinished(&server, "/grpc.health.v1.Health/Watch"),
        unfinished(&server, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"),
        meanwhile,
    );
    for (case, status) in [("next", next), ("lease", lease), ("check", health), ("watch", watch)] {
        check(case, &status, Code::DeadlineExceeded, "DEADLINE_EXCEEDED", None);
        assert!(status.message().contains("did not arrive within"), "{case}: {status}");
    }
    // A stream that is silent for too long ends without a response.
    assert_eq!(reflection.code(), Code::Internal, "{reflection}");
}
