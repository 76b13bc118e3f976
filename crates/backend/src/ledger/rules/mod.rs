//! Rules of the ledger, as functions over the records of one transaction.
//!
//! `guard.md` explains each rule. A mutation switches one off, on any engine.

pub(super) mod catalog;
pub(super) mod dense;
pub(super) mod epochs;
pub(super) mod layout;
pub(super) mod recovery;
pub(super) mod retention;
pub(super) mod session;
