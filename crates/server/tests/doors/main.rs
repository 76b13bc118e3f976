//! Both doors and the admin listener on free ports, over an engine in memory.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod admin;
mod bad_grpc;
mod bad_http;
mod crowd;
mod definitions;
mod described;
mod drain;
#[allow(dead_code, reason = "shared with the unit tests of connections")]
mod frames;
mod given;
mod named;
#[allow(dead_code, reason = "shared with the test of metrics")]
mod server;
mod unfinished;
mod wire;

use sequent_proto::v1::NextRequest;

use server::Server;

fn ask(sequence: &str, count: Option<u32>) -> NextRequest {
    NextRequest { sequence: sequence.to_owned(), count, ..NextRequest::default() }
}
