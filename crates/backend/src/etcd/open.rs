//! Opening of the etcd ledger kind.

use sequent_core::{SourceError, ledger::Ledger};

use super::EtcdLedger;
use crate::kinds::{Opened, Site, opened_ledger};

pub(crate) fn open_ledger(site: &Site<'_>) -> Result<Opened<dyn Ledger>, SourceError> {
    Ok(opened_ledger(EtcdLedger::new(site.server()?)))
}
