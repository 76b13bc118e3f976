//! How the kinds on MySQL and MariaDB are opened.

use std::sync::Arc;

use sequent_core::{SourceError, Store, ledger::Ledger};

use super::{MysqlLedger, MysqlOptions, MysqlPassword, MysqlStore, MysqlTls};
use crate::kinds::{Location, Opened, Role, Site, TlsWord, WrongUrl, identity};

pub(crate) fn open_row(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    Ok(opened(MysqlStore::row(options(site)?)))
}

pub(crate) fn open_segment(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    Ok(opened(MysqlStore::segment(options(site)?)))
}

pub(crate) fn open_auto_increment(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    let (_, slot) = site.owner()?;
    Ok(opened(MysqlStore::auto_increment(options(site)?, &slot.to_string())?))
}

fn opened(store: MysqlStore) -> Opened<dyn Store> {
    let store = Arc::new(store);
    Opened::new(Arc::clone(&store) as _, store, |store| async move { store.disconnect().await })
}

pub(crate) fn open_ledger(site: &Site<'_>) -> Result<Opened<dyn Ledger>, SourceError> {
    let ledger = Arc::new(MysqlLedger::new(options(site)?));
    Ok(Opened::new(Arc::clone(&ledger) as _, ledger, |ledger| async move { ledger.disconnect().await }))
}

pub(crate) fn locate(_: Role, url: &str, _: Option<&str>) -> Result<Location, WrongUrl> {
    let options = MysqlOptions::from_url(url).map_err(|error| WrongUrl::of(&error))?;
    Ok(Location {
        address: options.address(),
        identity: identity("mysql", &options.host, options.port, &options.database),
        has_password: !matches!(options.password, MysqlPassword::None),
    })
}

fn options(site: &Site<'_>) -> Result<MysqlOptions, SourceError> {
    let server = site.server()?;
    let from_url = MysqlOptions::from_url(&server.url)?;
    let ca_file = server.tls_ca_file.clone();
    Ok(MysqlOptions {
        password: server.password_file.clone().map_or(from_url.password, MysqlPassword::File),
        create: site.create,
        connections_max: server.connections_max,
        connect_limit: server.connect_timeout,
        keep_alive: Some(server.keep_alive),
        tls: match server.tls {
            TlsWord::Off => MysqlTls::Off,
            TlsWord::Prefer => MysqlTls::Preferred { ca_file },
            TlsWord::Require | TlsWord::Verify => MysqlTls::Required { ca_file },
        },
        entropy: Arc::clone(&site.env.entropy),
        clock: Arc::clone(&site.env.clock),
        ..from_url
    })
}
