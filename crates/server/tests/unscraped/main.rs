//! Memory of a server that nobody scrapes: it does not grow over a day. The whole heap of the process is counted.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod day;
#[path = "../api/raw_http.rs"]
#[allow(dead_code, reason = "shared with the other tests of this crate")]
mod raw_http;
#[path = "../api/server.rs"]
#[allow(dead_code, reason = "shared with the other tests of this crate")]
mod server;

use std::alloc::System;

use day::{CYCLE_S, Day};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Before the first measurement every key, command and error has occurred, and bounded histories are full.
const WARM_UP_S: u64 = 4 * CYCLE_S;

const DAY_S: u64 = 24 * 60 * 60;

/// How much the heap may grow.
const GROWTH_MAX: f64 = 1.05;

/// Bytes of the heap in use.
#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
fn held() -> f64 {
    let stats = HEAP.stats();
    (stats.bytes_allocated - stats.bytes_deallocated) as f64
}

#[tokio::test]
async fn a_day_that_nobody_looks_costs_no_memory() {
    let mut day = Day::begin().await;
    day.pass(WARM_UP_S).await;
    let before = held();
    day.pass(DAY_S).await;
    let after = held();
    println!("{before} bytes after {WARM_UP_S} s, {after} after {DAY_S} s more, of {} requests", day.asked());
    // The first measurement also checks the day.
    day.was_a_day(WARM_UP_S + DAY_S).await;
    assert!(after <= before * GROWTH_MAX, "{before} bytes, and {after} a day later");
}
