//! Opening of the memory kinds.

use std::sync::Arc;

use sequent_core::{SourceError, Store, ledger::Ledger};

use super::{MemoryLedger, MemoryStore};
use crate::kinds::{Opened, Site, opened_ledger};

#[allow(clippy::unnecessary_wraps, reason = "the other kinds may refuse")]
pub(crate) fn open_store(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    let store = Arc::new(MemoryStore::new(Arc::clone(&site.env.clock), &*site.env.entropy));
    Ok(Opened { handle: store, close: Arc::new(|| Box::pin(std::future::ready(()))) })
}

#[allow(clippy::unnecessary_wraps, reason = "the other kinds may refuse")]
pub(crate) fn open_ledger(site: &Site<'_>) -> Result<Opened<dyn Ledger>, SourceError> {
    Ok(opened_ledger(MemoryLedger::new(Arc::clone(&site.env.clock), &*site.env.entropy)))
}
