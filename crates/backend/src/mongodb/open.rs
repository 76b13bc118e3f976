//! Opening of the MongoDB store kind.

use sequent_core::{SourceError, Store};

use super::MongodbStore;
use crate::kinds::{Opened, Site, opened_store};

pub(crate) fn open_store(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    Ok(opened_store(MongodbStore::new(site.server()?)))
}
