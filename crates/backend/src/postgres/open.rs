//! How the kinds on PostgreSQL are opened.

use std::sync::Arc;

use sequent_core::{ErrorKind, SourceError, Store, ledger::Ledger};

use super::{
    PostgresLedger, PostgresOptions, PostgresStore, PostgresTls, PostgresUrl, SchemaName, SchemaNameError,
    TlsMode, UrlError,
};
use crate::kinds::{Location, Opened, Role, Site, TlsWord, WrongUrl, identity};

pub(crate) fn open_store(site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
    let (url, options) = options(site)?;
    let store = Arc::new(PostgresStore::new(url, options));
    Ok(Opened::new(Arc::clone(&store) as _, store, |store| async move { store.disconnect() }))
}

pub(crate) fn open_ledger(site: &Site<'_>) -> Result<Opened<dyn Ledger>, SourceError> {
    let (url, options) = options(site)?;
    let ledger = Arc::new(PostgresLedger::new(url, options));
    Ok(Opened::new(Arc::clone(&ledger) as _, ledger, |ledger| async move { ledger.disconnect().await }))
}

pub(crate) fn locate(role: Role, url: &str, schema: Option<&str>) -> Result<Location, WrongUrl> {
    let url: PostgresUrl =
        url.parse().map_err(|error: UrlError| WrongUrl { setting: "url", cause: error.to_string() })?;
    let checked = schema.map(str::parse::<SchemaName>).transpose();
    checked.map_err(|error: SchemaNameError| WrongUrl { setting: "schema", cause: error.to_string() })?;
    // As it is named where nobody does.
    let default = if role == Role::Ledger { "sequent_ledger" } else { "sequent_store" };
    let identity = identity("postgres", url.host(), url.port(), url.database());
    Ok(Location {
        address: url.to_string(),
        identity: format!("{identity} schema {}", schema.unwrap_or(default)),
        has_password: url.has_password(),
    })
}

fn options(site: &Site<'_>) -> Result<(PostgresUrl, PostgresOptions), SourceError> {
    let server = site.server()?;
    // What is wrong with either is said without repeating it.
    let url = server.url.parse().map_err(|error: UrlError| refused(&error))?;
    let schema = server.schema.as_deref().map(str::parse).transpose();
    let mode = match server.tls {
        TlsWord::Off => TlsMode::Disable,
        TlsWord::Prefer => TlsMode::Prefer,
        TlsWord::Require => TlsMode::Require,
        TlsWord::Verify => TlsMode::VerifyFull,
    };
    let options = PostgresOptions {
        create: site.create,
        schema: schema.map_err(|error: SchemaNameError| refused(&error))?,
        pool: server.connections_max,
        connect_limit: server.connect_timeout,
        keep_alive: server.keep_alive,
        tls: PostgresTls { mode, ca_file: server.tls_ca_file.clone() },
        password_file: server.password_file.clone(),
        entropy: Arc::clone(&site.env.entropy),
        clock: Arc::clone(&site.env.clock),
    };
    Ok((url, options))
}

fn refused(error: &dyn std::error::Error) -> SourceError {
    SourceError::new(ErrorKind::Refused, error.to_string())
}
