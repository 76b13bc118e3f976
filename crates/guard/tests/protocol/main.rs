//! The protocol, one file a theme: real keepers over stores and a ledger in memory, on paused time.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod above;
mod abreast;
mod away;
mod claimed;
mod claims;
mod dense;
mod eras;
mod first_touch;
mod forgetting;
mod harness;
mod leap;
mod ledger;
mod listening;
mod marks;
mod merging;
#[cfg(feature = "mutation")]
mod mutations;
mod neighbours;
mod opening;
mod order;
mod over;
mod queued;
mod reach;
mod record;
mod recover;
mod refused;
mod relaid;
mod resize;
mod showing_up;
mod skipped;
mod stale;
mod twins;
