//! How the kinds on SQLite are opened.

use std::sync::Arc;

use sequent_core::{SourceError, Store, ledger::Ledger};

use super::{SqliteLedger, SqliteOptions, SqliteStore};
use crate::kinds::{Opened, Site};

pub(crate) fn open_store(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    let store = Arc::new(SqliteStore::new(site.path()?, options(site)));
    Ok(Opened::new(Arc::clone(&store) as _, store, |store| async move { store.disconnect().await }))
}

pub(crate) fn open_ledger(site: &Site<'_>) -> Result<Opened<dyn Ledger>, SourceError> {
    let ledger = Arc::new(SqliteLedger::new(site.path()?, options(site)));
    Ok(Opened::new(Arc::clone(&ledger) as _, ledger, |ledger| async move { ledger.disconnect().await }))
}

fn options(site: &Site<'_>) -> SqliteOptions {
    let (entropy, clock) = (Arc::clone(&site.env.entropy), Arc::clone(&site.env.clock));
    SqliteOptions { create: site.create, entropy, clock }
}
