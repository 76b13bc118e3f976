//! What lies in `deploy/`: each file is read by the program that it is for, and what one file says of another is true.
//!
//! Suggested reading order: [`tree`], [`tool`], [`rules`], [`metrics`], [`dashboards`], [`configs`], [`pages`], [`inhibited`], [`first_steps`], [`live`].
#![allow(clippy::disallowed_methods, reason = "bounds of patience with real processes")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails at that place")]

mod configs;
mod dashboards;
mod first_steps;
mod http;
mod inhibited;
mod live;
mod metrics;
mod pages;
#[allow(dead_code, reason = "shared with the tests of processes, which use all of it")]
#[path = "../processes/place.rs"]
mod place;
mod rules;
mod server;
mod tool;
mod tree;
