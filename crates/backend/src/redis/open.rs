//! How the kind on Redis and Valkey is opened.

use std::sync::Arc;

use sequent_core::{SourceError, Store};

use super::{Owner, Password, RedisOptions, RedisStore, RedisTls};
use crate::kinds::{Location, Opened, Role, Site, TlsWord, WrongUrl, identity};

pub(crate) fn open_store(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    let (server, (cluster, slot)) = (site.server()?, site.owner()?);
    let from_url = RedisOptions::from_url(&server.url)?;
    let options = RedisOptions {
        password: server.password_file.clone().map_or(from_url.password, Password::File),
        tls: match server.tls {
            TlsWord::Off => RedisTls::Off,
            TlsWord::Prefer | TlsWord::Require | TlsWord::Verify => {
                RedisTls::Verify { ca_file: server.tls_ca_file.clone() }
            }
        },
        connections_max: server.connections_max,
        connect_limit: server.connect_timeout,
        keep_alive: server.keep_alive,
        entropy: Arc::clone(&site.env.entropy),
        clock: Arc::clone(&site.env.clock),
        ..from_url
    };
    let store = Arc::new(RedisStore::new(options, Owner { cluster: cluster.clone(), slot }));
    Ok(Opened::new(Arc::clone(&store) as _, store, |store| async move { store.disconnect() }))
}

pub(crate) fn locate(_: Role, url: &str, _: Option<&str>) -> Result<Location, WrongUrl> {
    let options = RedisOptions::from_url(url).map_err(|error| WrongUrl::of(&error))?;
    Ok(Location {
        address: options.address(),
        identity: identity("redis", &options.host, options.port, &options.database.to_string()),
        has_password: options.password != Password::None,
    })
}
