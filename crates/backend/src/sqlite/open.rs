//! Opening of the SQLite kinds.

use sequent_core::{SourceError, Store, ledger::Ledger};

use super::{SqliteLedger, SqliteOptions, SqliteStore};
use crate::kinds::{Opened, Site, opened_ledger, opened_store};

pub(crate) fn open_store(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    Ok(opened_store(SqliteStore::new(site.path()?, options(site))))
}

pub(crate) fn open_ledger(site: &Site<'_>) -> Result<Opened<dyn Ledger>, SourceError> {
    Ok(opened_ledger(SqliteLedger::new(site.path()?, options(site))))
}

fn options(site: &Site<'_>) -> SqliteOptions {
    SqliteOptions { create: site.create, env: site.env.clone() }
}
