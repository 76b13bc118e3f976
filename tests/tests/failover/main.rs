//! Failover on real servers: stores killed, hung, slowed down, cut off, restarted and put back under load; servers
//! killed amid their refills.
//!
//! Suggested reading order: [`ring`], [`server`], [`harness`], [`load`], [`journal`], [`stalls`], [`fault`], [`slowness`], [`faults`], [`gone`], [`ledger`], [`outage`], [`kills`], [`redis`].
#![allow(clippy::disallowed_methods, reason = "bounds of patience with real processes")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails at that place")]

#[path = "../sdk/everybody/bits.rs"]
mod bits;
mod fault;
mod faults;
mod gone;
mod harness;
mod http;
mod journal;
mod kills;
mod ledger;
mod load;
mod outage;
#[allow(dead_code, reason = "shared with the tests of stores, which use all of it")]
#[path = "../stores/paced.rs"]
mod paced;
#[allow(dead_code, reason = "shared with the tests of processes, which use all of it")]
#[path = "../processes/place.rs"]
mod place;
mod redis;
mod ring;
mod scale;
mod server;
#[allow(dead_code, reason = "shared with the tests of stores, which use all of it")]
#[path = "../stores/site.rs"]
mod site;
mod slowness;
mod stalls;
