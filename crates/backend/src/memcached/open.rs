//! Opening of the memcached store kind.

use sequent_core::{SourceError, Store};

use super::MemcachedStore;
use crate::kinds::{Opened, Site, opened_store};

pub(crate) fn open_store(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    Ok(opened_store(MemcachedStore::new(site.server()?, site.owner()?)))
}
