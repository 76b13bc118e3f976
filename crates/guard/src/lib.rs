//! The guard: how a cluster whose stores forget never repeats a number.
//!
//! One counter is one slot and one key; counters share nothing. Three things stand for it: a *cell* in the store
//! (epoch, open, value), a *row* in the ledger (epoch, instances, base, ceiling, seen), and a *grant* in a server's
//! memory, its copy of the row. Within an epoch the store alone counts; from one epoch to the next only the ledger's
//! ceiling counts.
//!
//! | step | where |
//! |---|---|
//! | join an epoch, or close, open, install | `counter/acquire.rs` |
//! | where a new counter begins | `counter/first_value.rs` |
//! | take, and begin again when an epoch or an instance ended | `counter/mod.rs` |
//! | whether a block may leave: only at or under an acknowledged ceiling | `counter/judge_block.rs` |
//! | whether a row, a value or a block can be true | `counter/checks/`, `plausibility.rs` |
//! | how far ahead a ceiling is raised, and what is reported | `counter/ceiling/`, `jump_limit.rs` |
//! | one ledger call for many counters | `guard/batching.rs` |
//! | the heartbeat, and which counters it has to look at | `guard/heartbeat.rs`, `counter/dirty_sets.rs` |
//! | nonces, instances of the ledger, its loss noticed once | `ledger_client/` |
//! | marks on other shards and in the data directory | `marks/`, `old_layout_marks.rs` |
//! | stamps, layout, a directory that moved | `guard/open.rs`, `admission.rs`, `shard.rs`, `stamps.rs` |
//! | what an operator says | `recover.rs`, `counter/advance.rs`, `guard/advance.rs` |
//! | dense numbers | `guard/dense.rs`, `guard/dense_issued.rs` |
//! | another layout: plan, fence, write rows, in force | `resize/` |
//!
//! `model/guard.py` beside this crate is the same protocol as a program that searches every interleaving. Whoever
//! changes the protocol changes the model first.
//!
//! This crate knows no engine, no ring arithmetic and no template.

mod admission;
mod config;
mod counter;
mod guard;
mod jump_limit;
mod ledger_client;
mod marks;
mod old_layout_marks;
mod plausibility;
mod recover;
mod resize;
mod scan_rows;
mod shard;
mod stamps;
mod status;
mod timeouts;

pub use admission::all_moved;
pub use config::{GuardConfig, Opening};
pub use counter::{CELL_AS_FAR, DOUBTED_ROW, Doubt, Evidence, FAR_BOTH, FAR_CEILING, UNKNOWN_COUNTER};
pub use guard::{Guard, Headroom};
pub use jump_limit::{LeapBound, ahead_max as ceiling_ahead_max};
pub use ledger_client::{LAYOUT_CHANGED, LedgerFault, all_forget, forgets, lossy};
pub use old_layout_marks::other_era;
pub use plausibility::{Plausibility, ended_in};
pub use recover::{MarksRead, VERSION_LEAP, not_newest, read_marks, recover};
pub use resize::{COUNTERS_MAX, KeyPlan, Placed, Plan, Progress, Resize};
pub use scan_rows::all_rows;
pub use stamps::{belongs, misfit};
pub use status::{CounterStatus, GuardStatus};

/// No leap above a ceiling is ever wider, in raw ids: a value beyond was set by a hand.
pub const LEAP_MAX: u64 = jump_limit::LEAP_CAP;
