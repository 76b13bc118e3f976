//! Ledger: the durable record of ceilings, layout, definitions and slot commands, as small traits that an engine implements.
//!
//! Reading order: [`Identity`] (instances and callers), [`Rows`] (ceilings), [`Heartbeat`] (the periodic call), [`LayoutBook`],
//! [`Catalog`] (definitions, notes), [`SlotCommands`] (slot commands), [`Dense`] (counters kept in the ledger), [`Recovery`],
//! [`Retention`] (periods that are over).
//!
//! Every call that writes carries a [`Pass`]. The engine checks it in the same transaction:
//!
//! 1. The connection's instance is `pass.under`. Otherwise the call fails with `InstanceChanged` and has written nothing.
//! 2. The caller's row holds one of `pass.nonces`, which becomes `pass.next`. Otherwise `InstanceChanged`: the ledger went back while it
//!    ran.
//! 3. The layout's generation is `pass.generation`. Otherwise `Refused`.
//! 4. The instance on record is `pass.record`. Otherwise `Refused`: another server has met another instance of this ledger.
//!
//! An unavailable ledger fails with `Unavailable`, `Timeout` or `Contended`. Its callers turn these into `NoWitness`.

mod catalog;
mod dense;
mod epochs;
mod identity;
mod layout_book;
mod notes;
mod recovery;
mod resize_step;
mod retention;
mod rows;
mod slot_commands;

pub use catalog::{Catalog, Defined, Definition};
pub use dense::{Dense, DenseAsk, DenseRow, DenseTaken};
pub use identity::{Identity, Known, LedgerInspection, Pass, RUNS_APART, ServerId, apart};
pub use layout_book::{LayoutBook, LayoutChange, LayoutPage, LayoutRecord, Rebased, other_page};
pub use notes::{LedgerNote, NoteSubject};
pub use recovery::{Loss, Recovery};
pub use resize_step::{RESIZE_TRANSITIONS, ResizeStep};
pub use retention::{Fence, PeriodUnit, Periods, Retention};
pub use rows::{
    Answer, Counter, Heartbeat, Moved, Opened, Opening, Over, PastEpoch, Presence, Raise, Raised, Reading,
    Row, Rows,
};
pub use slot_commands::{SlotCommand, SlotCommands, SlotVerb};

/// Complete ledger: all of its traits in one.
pub trait Ledger:
    Identity + Rows + Heartbeat + LayoutBook + Catalog + SlotCommands + Dense + Recovery + Retention
{
}

impl<
    L: Identity + Rows + Heartbeat + LayoutBook + Catalog + SlotCommands + Dense + Recovery + Retention + ?Sized,
> Ledger for L
{
}
