//! Definitions of the configuration that wait while the ledger is in doubt. The ledger may have to be replaced, so
//! nothing is written into it until then.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Catalog;
use crate::{config::SequencePart, error::OpenError};

/// The definitions to import after an operator has acted.
#[derive(Default)]
pub(super) struct Pending(Mutex<Option<Vec<SequencePart>>>);

impl Pending {
    pub(super) fn put(&self, parts: &[SequencePart]) {
        *self.parts() = Some(parts.to_vec());
    }

    /// Clears them after the import, or when a newer file replaces them.
    pub(super) fn clear(&self) {
        *self.parts() = None;
    }

    fn parts(&self) -> MutexGuard<'_, Option<Vec<SequencePart>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Catalog {
    /// Imports the definitions that were held back at the start. No number is issued before: a first use could create
    /// a definition in the place of one of them.
    pub(crate) async fn bring_pending(&self) -> Result<(), OpenError> {
        let parts = self.pending.parts().clone();
        let Some(parts) = parts else { return Ok(()) };
        self.refresh().await.map_err(|error| OpenError::of_source(&error))?;
        self.bring_all(&parts).await?;
        self.pending.clear();
        Ok(())
    }
}
