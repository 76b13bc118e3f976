//! Opening of the Redis and Valkey store kind.

use sequent_core::{SourceError, Store};

use super::RedisStore;
use crate::kinds::{Opened, Site, opened_store};

pub(crate) fn open_store(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    Ok(opened_store(RedisStore::new(site.server()?, site.owner()?)))
}
