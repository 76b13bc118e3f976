//! A slot that is slow goes for being slow, and for nothing less than three times.

use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::{
    harness::{Harness, LOOK_EVERY, PATIENCE},
    server::Look,
    stalls::Stalls,
};

/// How many slow events put a slot out: the default of `ring.slow_limit`.
const SLOW_LIMIT: u64 = 3;

/// Verbs that may be under way when the last of these is counted, and end late before it is seen that the slot is out: takes,
/// a mark, a look back.
const UNDER_WAY: u64 = 4;

/// A login is two round trips of [`SLOWNESS`](crate::ring::SLOWNESS), below its limit by this: a machine that stands still for
/// longer has a store that lets nobody in, which goes at once.
const LOGIN_SLACK: Duration = Duration::from_millis(100);

/// How often each server has found each slot slow.
pub(crate) type Counts = [[u64; 4]; 2];

/// As it is now.
pub(crate) async fn counts(harness: &Harness) -> Counts {
    harness.looks().await.map(|look| [0, 1, 2, 3].map(|slot| look.slow_events(slot)))
}

/// What each server says when it is first seen that it has taken the slot out of use.
pub(crate) async fn going(harness: &Harness, slot: usize) -> [Look; 2] {
    let gone = async |server: usize| {
        let end = Instant::now() + PATIENCE;
        loop {
            let look = harness.servers[server].look().await;
            if !look.is_live(slot) {
                return look;
            }
            assert!(Instant::now() < end, "server {server} goes on with slot {slot}");
            sleep(LOOK_EVERY).await;
        }
    };
    tokio::join!(gone(0), gone(1)).into()
}

/// What is wrong with how a slot went that was made slow at `struck`: for another cause, too early, or too late. `live` are
/// the counts when it was last known to have come back, since when its window is empty.
pub(crate) fn faults(
    harness: &Harness,
    slot: usize,
    (live, at_strike, gone): (&Counts, &Counts, &[Look; 2]),
    stall: Duration,
) -> Vec<String> {
    let mut faults = Vec::new();
    for server in 0..2 {
        let cause = harness.servers[server].evicted_for(slot);
        let events = gone[server].slow_events(slot);
        let (in_all, since) = (events - live[server][slot], events - at_strike[server][slot]);
        println!("    server {server}: {since} slow events, {in_all} with those before");
        if cause.contains("not connected within") && !cause.contains("kind=timeout") && stall > LOGIN_SLACK {
            println!("    the machine stood still {stall:?}, and a login took too long: {cause}");
            continue;
        }
        if !cause.contains("kind=timeout") {
            faults.push(format!("the cause is {cause}"));
        }
        if in_all < SLOW_LIMIT {
            faults.push(format!("server {server} put it out after {in_all} slow events, not {SLOW_LIMIT}"));
        }
        if since > SLOW_LIMIT + UNDER_WAY {
            faults.push(format!("server {server} put it out after {since} slow events, not {SLOW_LIMIT}"));
        }
    }
    faults
}

/// How long the machine stood still since `struck`.
pub(crate) fn stall(stalls: &Stalls, struck: Instant) -> Duration {
    stalls.within(struck, Instant::now())
}
