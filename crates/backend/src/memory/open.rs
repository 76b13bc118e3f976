//! How the kinds in memory are opened.

use std::sync::Arc;

use sequent_core::{SourceError, Store, ledger::Ledger};

use super::{MemoryLedger, MemoryStore};
use crate::kinds::{Opened, Site};

#[allow(clippy::unnecessary_wraps, reason = "the other kinds may refuse")]
pub(crate) fn open_store(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    let store = Arc::new(MemoryStore::new(Arc::clone(&site.env.clock), &*site.env.entropy));
    Ok(Opened::new(store, (), |()| async {}))
}

#[allow(clippy::unnecessary_wraps, reason = "the other kinds may refuse")]
pub(crate) fn open_ledger(site: &Site<'_>) -> Result<Opened<dyn Ledger>, SourceError> {
    let ledger = Arc::new(MemoryLedger::new(Arc::clone(&site.env.clock), &*site.env.entropy));
    Ok(Opened::new(ledger, (), |()| async {}))
}
