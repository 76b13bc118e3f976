//! Definitions of the configuration that wait while the ledger is in doubt. The ledger may have to be replaced, so
//! nothing is written into it until then.

use std::sync::Mutex;

use sequent_core::sync;

use super::Catalog;
use crate::{config::SequencePart, error::OpenError};

/// The definitions to import after an operator has acted.
#[derive(Default)]
pub(super) struct Pending(Mutex<Option<Vec<SequencePart>>>);

impl Pending {
    pub(super) fn put(&self, parts: &[SequencePart]) {
        *sync::lock(&self.0) = Some(parts.to_vec());
    }

    /// Clears them after the import, or when a newer file replaces them.
    pub(super) fn clear(&self) {
        *sync::lock(&self.0) = None;
    }
}

impl Catalog {
    /// Imports the definitions that were held back at the start. No number is issued before: a first use could create
    /// a definition in the place of one of them.
    pub(crate) async fn bring_pending(&self) -> Result<(), OpenError> {
        let parts = sync::lock(&self.pending.0).clone();
        let Some(parts) = parts else { return Ok(()) };
        self.refresh().await?;
        self.bring_all(&parts).await?;
        self.pending.clear();
        Ok(())
    }
}
