//! Restore of definitions that were in force and that the ledger has lost. They are written again unchanged.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use sequent_core::{
    SequenceName, SourceError,
    ledger::{Defined, Definition},
    sync,
};

use super::{Catalog, Entry, entry::Contents};
use crate::ledger_timeout::within;

/// Upper limit of the definitions written again at once; a further one is written at its next use.
const RESTORED_MAX: usize = 4096;

/// Definitions that the ledger had, as this process knew them.
#[derive(Default)]
pub(super) struct Lost(Mutex<BTreeMap<SequenceName, Arc<Entry>>>);

impl Lost {
    pub(super) fn get(&self, name: &SequenceName) -> Option<Arc<Entry>> {
        sync::lock(&self.0).get(name).map(Arc::clone)
    }

    pub(super) fn has(&self, name: &SequenceName) -> bool {
        sync::lock(&self.0).contains_key(name)
    }

    /// Records that the ledger no longer has this definition, or has only an older version.
    pub(super) fn miss(&self, entry: &Arc<Entry>) {
        sync::lock(&self.0).entry(entry.name().clone()).or_insert_with(|| Arc::clone(entry));
    }

    /// The entry for the ledger's `definition` in a process that had a different one, `held`, in force.
    pub(super) fn judge(&self, contents: &Contents, held: &Arc<Entry>, definition: Definition) -> Arc<Entry> {
        let name = definition.name.clone();
        let held = sync::lock(&self.0).remove(&name).unwrap_or_else(|| Arc::clone(held));
        if held.is(&definition) {
            return held;
        }
        let Ok(body) = held.known() else { return Arc::new(contents.following(&held, definition)) };
        if definition.version > held.version {
            return Arc::new(contents.following(&held, definition));
        }
        // A ledger that goes forward never replaces `held` by this one. So the ledger went back to it, or another
        // definition took the place.
        let found = contents.entry(definition.clone());
        if definition.version < held.version && found.known().is_ok_and(|found| body.may_follow(found)) {
            self.miss(&held);
            return Arc::new(found);
        }
        Arc::new(contents.usurping(&held, definition))
    }
}

impl Catalog {
    /// Writes the lost definitions again, and reads the result.
    pub(crate) async fn restore(&self) -> Result<(), SourceError> {
        let lost: Vec<Arc<Entry>> = {
            let entries = sync::lock(&self.lost.0);
            entries.values().filter(|entry| entry.known().is_ok()).take(RESTORED_MAX).cloned().collect()
        };
        if lost.is_empty() {
            return Ok(());
        }
        for entry in &lost {
            self.write_again(entry).await?;
        }
        self.refresh().await
    }

    /// The definition in force if the ledger has lost one: the lost one again, unless another took its place.
    pub(super) async fn find_again(&self, lost: &Arc<Entry>) -> Result<Arc<Entry>, SourceError> {
        if lost.known().is_ok() {
            self.write_again(lost).await?;
            self.refresh().await?;
        }
        Ok(self.find(lost.name()).unwrap_or_else(|| Arc::clone(lost)))
    }

    async fn write_again(&self, entry: &Entry) -> Result<(), SourceError> {
        let (name, version) = (entry.name(), entry.version);
        let (definition, judged) = (entry.definition(), self.find(name).map(|held| held.version));
        let step = format!("define {name} again");
        let define = self.context.ledger.define(&definition, judged);
        if within(self.context.limit, &step, define).await? == Defined::Created {
            tracing::warn!(%name, version, "definition written again: the ledger had lost it");
        }
        // If the ledger has another definition, the read that follows shows it.
        Ok(())
    }
}
