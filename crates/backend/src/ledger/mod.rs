//! The ledger, written once for all engines: its rules, and the interface of an engine.
//!
//! A call names the records that it needs (`Selection`). The engine reads them in one transaction (`Records`). A rule
//! (`rules`) decides on them and notes the writes (`Changes`), and the engine writes these in the same transaction. So
//! a rule is a pure function, and an engine has no rules.
//!
//! | file | what |
//! |---|---|
//! | `engine.rs`, `pooled.rs` | what an engine implements: as a whole, or on a connection |
//! | `records.rs`, `changes.rs` | what a call reads, and what it writes |
//! | `documents.rs` | the JSON of the records that are seldom written |
//! | `calls/` | the traits of `sequent_core::ledger`, each call a selection and a rule |
//! | `rules/` | the rules |

mod calls;
mod changes;
#[cfg(any(feature = "etcd", feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub(crate) mod documents;
mod engine;
pub(crate) mod pooled;
mod records;
mod rules;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub(crate) mod sql;

use std::sync::{Mutex, MutexGuard, PoisonError};

use sequent_core::{Rules, ledger::ServerId};

pub(crate) use changes::Changes;
pub(crate) use engine::{Examined, LedgerEngine, Refusal};
pub(crate) use records::{DenseCount, Keys, Records, Scan, Selection, Token, bounded_sum};

/// A ledger on an engine.
///
/// The first call connects. All handles to the same data, in this process or another, are one ledger.
#[derive(Debug)]
pub struct CoreLedger<E> {
    pub(crate) engine: E,
    rules: Rules,
    /// The server enlisted through this handle.
    enlisted: Mutex<Option<ServerId>>,
}

impl<E> CoreLedger<E> {
    /// The ledger on this engine, with all rules.
    pub(crate) fn on(engine: E) -> Self {
        Self { engine, rules: Rules::ALL, enlisted: Mutex::default() }
    }

    /// The same ledger with only some of the rules.
    #[must_use]
    pub fn keeping(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    fn enlisted(&self) -> MutexGuard<'_, Option<ServerId>> {
        self.enlisted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: LedgerEngine> CoreLedger<E> {
    /// Removes the row of the server enlisted through this handle, and closes the connections. A server that enlists
    /// again can call again.
    pub async fn disconnect(&self) {
        let enlisted = self.enlisted().take();
        self.engine.disconnect(enlisted).await;
    }
}

impl<E: Clone> Clone for CoreLedger<E> {
    fn clone(&self) -> Self {
        Self { engine: self.engine.clone(), rules: self.rules, enlisted: Mutex::default() }
    }
}
