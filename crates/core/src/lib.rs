//! Core types and traits of Sequent: numbers, the contracts of stores and ledgers, and kinds of failure.
//!
//! Suggested reading order: [`Block`], [`Source`], [`Store`], [`ledger`], [`SourceError`], [`Layout`]. This crate contains no
//! runtime, store, ring, API or configuration.

mod block;
mod blocks;
mod clock;
mod condition;
mod debug;
mod entropy;
mod env;
mod epoch;
mod error;
mod event;
mod examine;
mod field_fault;
mod key;
mod kind;
mod layout;
pub mod ledger;
mod mark;
mod merge;
mod metric;
mod name;
mod rules;
mod source;
mod span;
mod stamp;
mod store;
pub mod sync;
mod transitions;
mod why;
mod words;

pub use block::{Block, BlockError};
pub use blocks::{BLOCKS_MAX, Blocks};
pub use clock::{Clock, SystemClock, whole_ms};
pub use condition::Condition;
pub use entropy::{Entropy, OsEntropy};
pub use env::Env;
pub use epoch::{Epoch, InstanceId};
pub use error::SourceError;
pub use event::{Event, Events};
pub use examine::{
    CellPage, Examination, Examine, ExamineLedger, Fact, FactClass, LedgerExamination, Sight, other_master,
};
pub use field_fault::FieldFault;
pub use key::{Key, KeyError};
pub use kind::{Action, ErrorKind, Scope, Verdict};
pub use layout::{Layout, LayoutError, MEMORY_BITS_MAX, SHARD_BITS_MAX};
pub use mark::{Era, Mark, MarkPlace};
pub use merge::{Merge, MergeClosed};
pub use metric::{Label, Metric, MetricGroup, MetricKind};
pub use name::{NAME_LENGTH_MAX, NameError, SequenceName};
pub use rules::{Rule, Rules};
pub use source::{BoxFuture, Reply, Source};
pub use span::{Fits, Numbering, Span};
pub use stamp::{LedgerId, Stamp, StampError};
pub use store::{Cell, Durability, DurabilityClass, Inspection, Store, mark_of};
pub use transitions::Transitions;
pub use why::{SlotFailure, Why, line_of};

/// Index of a slot in the ring, `0 .. 2^n`.
pub type SlotIndex = u16;
