//! How the kind on MongoDB is opened.

use std::sync::Arc;

use sequent_core::{ErrorKind, SourceError, Store};

use super::{MongodbOptions, MongodbStore, MongodbTls, MongodbUrl, UrlError};
use crate::kinds::{Location, Opened, Role, Site, TlsWord, WrongUrl, identity};

pub(crate) fn open_store(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    let server = site.server()?;
    // What is wrong with it is said without repeating it.
    let url = server
        .url
        .parse()
        .map_err(|error: UrlError| SourceError::new(ErrorKind::Refused, error.to_string()))?;
    let options = MongodbOptions {
        create: site.create,
        pool: server.connections_max,
        connect_limit: server.connect_timeout,
        keep_alive: server.keep_alive,
        tls: match server.tls {
            TlsWord::Require => MongodbTls::Unchecked,
            TlsWord::Verify => MongodbTls::Verified { ca_file: server.tls_ca_file.clone() },
            TlsWord::Off | TlsWord::Prefer => MongodbTls::Off,
        },
        password_file: server.password_file.clone(),
        entropy: Arc::clone(&site.env.entropy),
        clock: Arc::clone(&site.env.clock),
    };
    let store = Arc::new(MongodbStore::new(url, options));
    Ok(Opened::new(Arc::clone(&store) as _, store, |store| async move { store.disconnect() }))
}

pub(crate) fn locate(_: Role, url: &str, _: Option<&str>) -> Result<Location, WrongUrl> {
    let url: MongodbUrl =
        url.parse().map_err(|error: UrlError| WrongUrl { setting: "url", cause: error.to_string() })?;
    Ok(Location {
        address: url.to_string(),
        identity: identity("mongodb", url.host(), url.port(), url.database()),
        has_password: url.has_password(),
    })
}
