//! A slot that is slow goes for being slow, and for nothing less than three times.

use std::time::{Duration, Instant};

use crate::{
    harness::{Harness, PATIENCE, until},
    stalls::Stalls,
};

/// How many slow events put a slot out: the default of `ring.slow_limit`.
const SLOW_LIMIT: u64 = 3;

/// Within what time they count: the default of `ring.slow_window_s`.
const SLOW_WINDOW_MS: u64 = 60_000;

/// A login is two round trips of [`SLOWNESS`](crate::ring::SLOWNESS), below its limit by this: a machine that stands still for
/// longer has a store that lets nobody in, which goes at once.
const LOGIN_SLACK: Duration = Duration::from_millis(100);

/// Until each server is seen to have taken the slot out of use.
pub(crate) async fn going(harness: &Harness, slot: usize) {
    let gone = async |server: usize| {
        let is_out = async || !harness.servers[server].look().await.is_live(slot);
        assert!(until(PATIENCE, is_out).await, "server {server} goes on with slot {slot}");
    };
    tokio::join!(gone(0), gone(1));
}

/// What is wrong with how a slot went that was made slow: for another cause, too early, or too late. What its metrics count says
/// neither: verbs that were under way, marks and probes go on being slow after it went, and its window may reach back to before
/// anybody looked. How many put it out, and how close to each other, the server itself tells.
pub(crate) fn faults(harness: &Harness, slot: usize, stall: Duration) -> Vec<String> {
    let mut faults = Vec::new();
    for server in 0..2 {
        let cause = harness.servers[server].evicted_for(slot);
        println!("    server {server}: {cause}");
        if cause.contains("not connected within") && !cause.contains("kind=timeout") && stall > LOGIN_SLACK {
            println!("    the machine stood still {stall:?}, and a login took too long");
            continue;
        }
        if !cause.contains("kind=timeout") {
            faults.push(format!("the cause is {cause}"));
        }
        match told(&cause) {
            Some((times, ms)) if times == SLOW_LIMIT && ms < SLOW_WINDOW_MS => {}
            _ => faults
                .push(format!("server {server} does not say that it was slow {SLOW_LIMIT} times: {cause}")),
        }
    }
    faults
}

/// How often it was slow, and within how many milliseconds, by the cause that the server tells.
fn told(cause: &str) -> Option<(u64, u64)> {
    let (times, rest) = cause.split_once("; slow ")?.1.split_once(" times within ")?;
    Some((times.parse().ok()?, rest.split_once(" ms")?.0.parse().ok()?))
}

/// How long the machine stood still since `struck`.
pub(crate) fn stall(stalls: &Stalls, struck: Instant) -> Duration {
    stalls.within(struck, Instant::now())
}
