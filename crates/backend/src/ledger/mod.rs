//! The ledger, once for every engine: its rules, and the few things that an engine brings.
//!
//! A call names the records that it rests on (`Selection`). The engine reads them in one transaction (`Records`), a rule
//! decides on them (`rules`) and notes what is to be written (`Changes`), and the engine writes that in the same transaction.
//! So a rule is a pure function, and an engine knows no rule.
//!
//! | file | what |
//! |---|---|
//! | `engine.rs` | what an engine implements |
//! | `records.rs`, `changes.rs` | what a call reads, and what it writes |
//! | `calls.rs`, `calls/` | the traits of `sequent_core::ledger`, each call a selection and a rule |
//! | `rules/` | the rules |

#![allow(private_bounds, reason = "engines are this crate's own")]

mod calls;
mod changes;
mod engine;
mod records;
mod rules;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub(crate) mod sql;

use std::sync::{Mutex, MutexGuard, PoisonError};

use sequent_core::{Rules, ledger::ServerId};

pub(crate) use changes::Changes;
pub(crate) use engine::{Examined, Keys, LedgerEngine, Refusal};
#[cfg(any(feature = "etcd", feature = "memory"))]
pub(crate) use records::bounded_sum;
pub(crate) use records::{DenseCount, Records, Selection, Token};

/// A ledger on an engine.
///
/// Making one touches nothing; the first call connects. Handles to the same data, in this process or another, are one ledger.
#[derive(Debug)]
pub struct CoreLedger<E> {
    pub(crate) engine: E,
    rules: Rules,
    /// The server that calls through this handle.
    enlisted: Mutex<Option<ServerId>>,
}

impl<E> CoreLedger<E> {
    /// The ledger on this engine.
    pub(crate) fn on(engine: E) -> Self {
        Self { engine, rules: Rules::ALL, enlisted: Mutex::default() }
    }

    /// The same ledger, keeping only some of the rules.
    #[must_use]
    pub fn keeping(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    fn enlisted(&self) -> MutexGuard<'_, Option<ServerId>> {
        self.enlisted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: LedgerEngine> CoreLedger<E> {
    /// Removes the row of the server that enlisted through this handle, and closes the connections; who enlists again may call
    /// again.
    pub async fn disconnect(&self) {
        let enlisted = self.enlisted().take();
        if let Some(server) = enlisted {
            // A row that can't be removed now is removed with other old ones.
            let _ = self.engine.delist(server).await;
        }
        self.engine.disconnect().await;
    }
}

impl<E: Clone> Clone for CoreLedger<E> {
    fn clone(&self) -> Self {
        Self { engine: self.engine.clone(), rules: self.rules, enlisted: Mutex::default() }
    }
}
