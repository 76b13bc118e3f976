//! What operators do with a cluster, and no request ever needs: words about slots, an examination of ledger and stores,
//! recovery, resize, advance, and where a number came from.
//!
//! Reading order: [`Admin`] (a cluster that exists, by its ledger), [`doctor`] (what is wrong, changing nothing), `recover`
//! (the way back after a loss), [`Resizing`], [`advance`](advance()), `explain`.

mod admin;
mod advance;
mod ceiling_view;
mod cell_scan;
pub mod doctor;
mod explain;
mod named_floor;
mod recover;
mod resize;
mod suspect_rows;

pub use admin::{Admin, Saying};
pub use advance::{AdvanceReport, advance};
pub use explain::{DenseOrigin, EpochReport, Explained, Origin, SpreadOrigin};
pub use recover::{
    Answer, Answers, BUMP_MAX, CopyMade, LossEstimate, MarksReport, NamedLoss, PlannedKey, RecoveryPlan,
    UnreadMark,
};
pub use resize::{LayoutReport, ResizeReport, ResizedKey, Resizing, Wish};
/// How far a resize has come: of the room that does it.
pub use sequent_guard::Progress;
