//! The durable book of record, as small traits: an engine implements them a page at a time.
//!
//! Reading order: [`Identity`] (who speaks), [`Rows`] (ceilings), [`Heartbeat`] (the periodic call), [`LayoutBook`],
//! [`Catalog`] (definitions, notes), [`Words`] (what operators said), [`Dense`] (counters of the ledger's own), [`Recovery`],
//! [`Retention`] (periods that are over).
//!
//! Every call that writes carries a [`Pass`]; an engine checks it in the same transaction:
//!
//! 1. the connection speaks as `pass.under`, or the call fails with `Reborn` and has written nothing;
//! 2. the caller's row holds one of `pass.nonces`, which becomes `pass.next`; or `Reborn`: the ledger went back while it ran;
//! 3. the layout's generation is `pass.generation`, or `Refused`;
//! 4. the run on record is `pass.record`, or `Refused`: another server has met another run of this ledger.
//!
//! A ledger that is away fails with `Unavailable`, `Timeout` or `Contended`; its callers make `NoWitness` of that.

mod catalog;
mod dense;
mod epochs;
mod identity;
mod layout_book;
mod notes;
mod recovery;
mod retention;
mod rows;
mod words;

pub use catalog::{Catalog, Defined, Definition};
pub use dense::{Dense, DenseAsk, DenseRow, DenseTaken};
pub use identity::{Identity, Known, LedgerInspection, Pass, RUNS_APART, ServerId, apart};
pub use layout_book::{LayoutBook, LayoutChange, LayoutPage, LayoutRecord, Rebased, other_page};
pub use notes::{LedgerNote, NoteSubject};
pub use recovery::{Loss, Recovery};
pub use retention::{Fence, PeriodUnit, Periods, Retention};
pub use rows::{
    Answer, Counter, Heartbeat, Moved, Opened, Opening, Over, PastEpoch, Presence, Raise, Raised, Reading,
    Row, Rows,
};
pub use words::{Word, WordVerb, Words};

/// A whole ledger: every book in one.
pub trait Ledger:
    Identity + Rows + Heartbeat + LayoutBook + Catalog + Words + Dense + Recovery + Retention
{
}

impl<L: Identity + Rows + Heartbeat + LayoutBook + Catalog + Words + Dense + Recovery + Retention + ?Sized>
    Ledger for L
{
}
