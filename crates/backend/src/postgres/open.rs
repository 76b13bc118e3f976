//! Opening of the PostgreSQL kinds.

use sequent_core::{SourceError, Store, ledger::Ledger};

use super::{PostgresLedger, PostgresStore};
use crate::kinds::{Opened, Site, opened_ledger, opened_store};

pub(crate) fn open_store(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    Ok(opened_store(PostgresStore::new(site.server()?)))
}

pub(crate) fn open_ledger(site: &Site<'_>) -> Result<Opened<dyn Ledger>, SourceError> {
    Ok(opened_ledger(PostgresLedger::new(site.server()?)))
}
