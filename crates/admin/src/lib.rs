//! Operators' commands on a cluster, which no request for numbers needs: slot commands, an examination of ledger and
//! stores, recovery, resize, advance, forget, and the origin of a number.
//!
//! Reading order: [`Admin`] (an existing cluster, by its ledger), [`doctor`] (what is wrong, changing
//! nothing), `recover` (going on after a loss), [`Resizing`], [`advance`](advance()), [`import`], `explain`.

mod admin;
mod advance;
mod ceiling_view;
mod cell_scan;
pub mod doctor;
mod explain;
mod forget;
pub mod import;
mod jumps;
mod named_floor;
mod recover;
mod resize;
mod slot_command;
mod suspect_rows;

pub use admin::Admin;
pub use advance::{AdvanceAsk, AdvanceReport, advance};
pub use explain::{DenseOrigin, EpochReport, Explained, Origin, SpreadOrigin};
pub use forget::{ForgetAsk, Forgotten};
pub use recover::{
    Answer, Answers, BUMP_MAX, CopyMade, LossEstimate, MarksReport, NamedLoss, PlannedKey, RecoveryPlan,
    UnreadMark,
};
pub use resize::{LayoutReport, ResizeReport, ResizedKey, Resizing, Wish};
/// Progress of a resize, from the crate that does it.
pub use sequent_guard::Progress;
pub use slot_command::{Saying, SlotCommandGiven, is_hidden};
