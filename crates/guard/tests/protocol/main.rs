//! The protocol, one file a theme: real keepers over stores and a ledger in memory, on paused time.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod above;
mod abreast;
mod away;
mod claimed;
mod claims;
mod dense;
mod expiry;
mod first_touch;
mod forgetting;
mod gaps;
mod harness;
mod heartbeat;
mod high_water;
mod instances;
mod jump_limit;
mod ledger;
mod listening;
mod marks;
mod merging;
mod monotonicity;
#[cfg(feature = "mutation")]
mod mutations;
mod neighbours;
mod old_layout_marks;
mod open;
mod queued;
mod recover;
mod refused;
mod resize;
mod stale;
mod states;
mod twins;
