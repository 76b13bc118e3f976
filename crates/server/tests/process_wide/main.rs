//! Tests of process-wide state: metrics and the tracing subscriber. They run one at a time, in a process of their
//! own.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod drain;
#[path = "../api/raw_http.rs"]
#[allow(dead_code, reason = "shared with the other tests of this crate")]
mod raw_http;
#[path = "../api/server.rs"]
#[allow(dead_code, reason = "shared with the other tests of this crate")]
mod server;
#[cfg(feature = "otel")]
mod traces;

/// Held by each test while it runs.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
