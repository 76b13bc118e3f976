//! Tests of gRPC, HTTP and the admin listener on free ports, over an engine in memory.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod admin;
mod attacks;
mod bad_grpc;
mod bad_http;
mod connection_limits;
mod definitions;
mod drain;
#[allow(dead_code, reason = "shared with the unit tests of connections")]
mod http2_frames;
mod numbers;
mod raw_http;
mod redis;
mod request_ids;
mod self_description;
#[allow(dead_code, reason = "shared with the test of metrics")]
mod server;
mod unfinished_requests;

use sequent_proto::v1::NextRequest;

use server::Server;

fn ask(sequence: &str, count: Option<u32>) -> NextRequest {
    NextRequest { sequence: sequence.to_owned(), count, ..NextRequest::default() }
}
