//! Redis clients against real servers: connect, pipelines, a server killed and one drained, and no number twice.
//!
//! The libraries of other languages are fetched by `clients/build`. Without `SEQUENT_REDIS_CLIENTS=full` it is redis-py
//! alone, since the others need Node, Go and a JDK; the conversations of all of them are replayed by
//! `crates/server/tests/api/redis/golden.rs` besides.
//!
//! Suggested reading order: [`server`], [`driver`], [`libraries`], [`tools`].
#![allow(clippy::disallowed_methods, reason = "bounds of patience with real processes")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails at that place")]

mod driver;
mod libraries;
#[allow(dead_code, reason = "shared with the tests of processes, which use all of it")]
#[path = "../processes/place.rs"]
mod place;
mod rust;
mod server;
mod tools;
