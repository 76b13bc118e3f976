//! The guard: the protocol that keeps numbers unique although stores forget.
//!
//! One counter is one key in one slot; counters share no state. A counter has three parts: a *cell* in the store (epoch, open
//! or closed, value), a *row* in the ledger (epoch, instances, base, ceiling, seen), and a *grant* in a server's memory, its
//! copy of the row. Within an epoch only the cell counts. From one epoch to the next, only the ledger's ceiling is trusted.
//!
//! | step | where |
//! |---|---|
//! | the states of a counter, and their transitions | `counter/state.rs` |
//! | join an epoch, or close, open, install | `counter/acquire.rs` |
//! | the first value of a new counter | `counter/first_value.rs` |
//! | take, and retry after an epoch or an instance ended | `counter/mod.rs` |
//! | release of a block: only at or below an acknowledged ceiling | `counter/judge_block.rs` |
//! | plausibility of a row, a value or a block | `counter/checks/`, `plausibility.rs` |
//! | raising ceilings ahead, and reports | `counter/ceiling/`, `jump_limit.rs` |
//! | one ledger call for many counters | `guard/batching.rs` |
//! | the heartbeat, and the counters with changes to send | `guard/heartbeat.rs`, `counter/dirty_sets.rs` |
//! | nonces, instances of the ledger, detection of an outage | `ledger_client/` |
//! | marks on other shards and in the data directory | `marks/`, `old_layout_marks.rs` |
//! | stamps, layout, a copied directory | `guard/open.rs`, `admission.rs`, `shard.rs`, `stamps.rs` |
//! | commands of operators: recover, advance | `recover.rs`, `counter/advance.rs`, `guard/advance.rs` |
//! | dense numbers | `guard/dense.rs`, `guard/dense_issued.rs` |
//! | change of the layout: plan, fence, write rows, in force | `resize/` |
//!
//! `model/guard.py` beside this crate is the same protocol as a program that searches every interleaving. To change the
//! protocol, change the model first.
//!
//! This crate contains no store or ledger engine, no ring arithmetic and no templates.

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
pub use counter::{CELL_AS_FAR, COUNTER_TRANSITIONS, DOUBTED_ROW, FAR_BOTH, UNKNOWN_COUNTER};
pub use guard::{Guard, Headroom};
pub use jump_limit::{JumpBound, ahead_max as ceiling_ahead_max};
pub use ledger_client::{LAYOUT_CHANGED, LedgerFault, all_forget, forgets, lossy};
pub use old_layout_marks::other_era;
pub use plausibility::{Plausibility, ended_in};
pub use recover::{MarksRead, VERSION_JUMP, not_newest, read_marks, recover};
pub use resize::{COUNTERS_MAX, KeyPlan, Placed, Plan, Progress, Resize};
pub use scan_rows::all_rows;
pub use stamps::{belongs, misfit};
pub use status::{CounterStatus, GuardStatus};

/// The widest jump above a ceiling that is ever followed, in raw ids. A value beyond it was set by hand.
pub const JUMP_MAX: u64 = jump_limit::JUMP_CAP;
