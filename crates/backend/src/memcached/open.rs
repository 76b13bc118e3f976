//! How the kind on memcached is opened.

use std::sync::Arc;

use sequent_core::{SourceError, Store};

use super::{MemcachedOptions, MemcachedStore, Owner, Password};
use crate::kinds::{Location, Opened, Role, Site, WrongUrl, identity};

pub(crate) fn open_store(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    let (server, (cluster, slot)) = (site.server()?, site.owner()?);
    let from_url = MemcachedOptions::from_url(&server.url)?;
    let options = MemcachedOptions {
        password: server.password_file.clone().map_or(from_url.password, Password::File),
        connections_max: server.connections_max,
        connect_limit: server.connect_timeout,
        entropy: Arc::clone(&site.env.entropy),
        clock: Arc::clone(&site.env.clock),
        ..from_url
    };
    let store = Arc::new(MemcachedStore::new(options, Owner { cluster: cluster.clone(), slot }));
    Ok(Opened::new(Arc::clone(&store) as _, store, |store| async move { store.disconnect() }))
}

pub(crate) fn locate(_: Role, url: &str, _: Option<&str>) -> Result<Location, WrongUrl> {
    let options = MemcachedOptions::from_url(url).map_err(|error| WrongUrl::of(&error))?;
    Ok(Location {
        address: options.address(),
        identity: identity("memcached", &options.host, options.port, ""),
        has_password: options.password != Password::None,
    })
}
