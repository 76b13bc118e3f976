//! Opening of the MySQL and MariaDB kinds.

use sequent_core::{SourceError, Store, ledger::Ledger};

use super::{MysqlAutoIncrementStore, MysqlLedger, MysqlRowStore, MysqlSegmentStore};
use crate::kinds::{Opened, Site, opened_ledger, opened_store};

pub(crate) fn open_row(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    Ok(opened_store(MysqlRowStore::new(site.server()?)))
}

pub(crate) fn open_segment(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    Ok(opened_store(MysqlSegmentStore::new(site.server()?)))
}

pub(crate) fn open_auto_increment(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    Ok(opened_store(MysqlAutoIncrementStore::new(site.server()?, site.owner()?.slot)))
}

pub(crate) fn open_ledger(site: &Site<'_>) -> Result<Opened<dyn Ledger>, SourceError> {
    Ok(opened_ledger(MysqlLedger::new(site.server()?)))
}
