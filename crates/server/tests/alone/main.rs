//! Tests of what a whole process counts, or tells its subscriber: one at a time, in a process of their own.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod drain;
#[path = "../doors/server.rs"]
#[allow(dead_code, reason = "shared with the other tests of this room")]
mod server;
#[cfg(feature = "otel")]
mod traces;
#[path = "../doors/wire.rs"]
#[allow(dead_code, reason = "shared with the other tests of this room")]
mod wire;

/// Held by each test while it runs.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
