//! How the kind on etcd is opened.

use std::sync::Arc;

use sequent_core::{SourceError, ledger::Ledger};

use super::{EtcdLedger, EtcdOptions, EtcdTls, Password};
use crate::kinds::{Location, Opened, Role, Site, WrongUrl, identity};

pub(crate) fn open_ledger(site: &Site<'_>) -> Result<Opened<dyn Ledger>, SourceError> {
    let server = site.server()?;
    let from_url = EtcdOptions::from_url(&server.url)?;
    let options = EtcdOptions {
        create: site.create,
        password: server.password_file.clone().map_or(from_url.password, Password::File),
        tls: EtcdTls {
            ca_file: server.tls_ca_file.clone(),
            cert_file: server.tls_cert_file.clone(),
            key_file: server.tls_key_file.clone(),
        },
        connections_max: server.connections_max,
        connect_limit: server.connect_timeout,
        entropy: Arc::clone(&site.env.entropy),
        clock: Arc::clone(&site.env.clock),
        ..from_url
    };
    let ledger = Arc::new(EtcdLedger::new(options));
    Ok(Opened::new(Arc::clone(&ledger) as _, ledger, |ledger| async move { ledger.disconnect().await }))
}

pub(crate) fn locate(_: Role, url: &str, _: Option<&str>) -> Result<Location, WrongUrl> {
    let options = EtcdOptions::from_url(url).map_err(|error| WrongUrl::of(&error))?;
    let first = options.endpoints.first().map(|member| (member.host.clone(), member.port));
    let (host, port) = first.unwrap_or_default();
    Ok(Location {
        address: options.address(),
        identity: identity("etcd", &host, port, &options.prefix),
        has_password: options.password != Password::None,
    })
}
