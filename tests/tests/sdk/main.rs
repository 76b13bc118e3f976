//! The SDK against real servers that are killed, drained, stopped and started again, and in processes that are suspended
//! and forked.
//!
//! Suggested reading order: [`server`], [`kills`], [`everybody`], [`gone`], [`suspended`], [`forked`], [`fresh_crate`],
//! [`batch_job`], [`tree`].
#![allow(clippy::disallowed_methods, reason = "bounds of patience with real processes")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails at that place")]

mod batch_job;
mod everybody;
mod forked;
mod fresh_crate;
mod gone;
mod kills;
#[allow(dead_code, reason = "shared with the tests of processes, which use all of it")]
#[path = "../processes/place.rs"]
mod place;
mod server;
mod suspended;
mod tree;
