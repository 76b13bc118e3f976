//! Locations on a server: address, login and connection options.

use std::{fmt, path::PathBuf, time::Duration};

use sequent_backend::{
    kinds::{Kind, Role},
    net::{Driver, SchemaName, ServerOptions, ServerUrl},
};
use sequent_core::whole_ms;

use crate::config::reading::{
    Section, section,
    setting::{Setting, Values, choice, millis, parsed, seconds, text, whole},
};
pub use sequent_backend::net::Tls;

/// Default of the connection timeout, in milliseconds. It is below an attempt's limit, so that an unreachable server
/// is reported as such.
const CONNECT_TIMEOUT_MS: u64 = 800;

section! {
    /// The keys of a store or ledger on a server, in `[[shard]]` and `[ledger]`:
    /// [an example](../operating/stores.md#one-store).
    pub(crate) struct ServerSection(section, driver: &'static Driver, attempt_timeout: Duration) {
        /// The URL of the database. A password in it is printed nowhere.
        url: Option<ServerUrl> = url(driver).required(),

        /// The schema of the tables: by default `sequent_store`, of a ledger `sequent_ledger`.
        schema: Option<SchemaName> = parsed("schema").optional().only_if(driver.has_schema, NOT_OF_KIND),

        /// A file whose first line is the password, relative to the data directory. It is read at each connecting.
        password_file: Option<PathBuf> = file("password_file").optional().only_if(
            !url.as_ref().is_some_and(ServerUrl::has_password),
            "the url holds a password too: one of the two is allowed",
        ),

        /// Whether connections are encrypted, and the server's certificate verified.
        tls: Tls = choice("tls", driver.tls).only_if(!driver.tls_checking.is_empty(), NOT_OF_KIND),

        /// The authority's certificates, as PEM; by default those that the system trusts.
        tls_ca_file: Option<PathBuf> = file("tls_ca_file").optional()
            .only_if(verifies(driver, url.as_ref(), tls), verifying(driver)),

        /// The client's certificate, as PEM; named together with its key.
        tls_cert_file: Option<PathBuf> = client_file("tls_cert_file", driver, url.as_ref()),

        /// The key of the client's certificate.
        tls_key_file: Option<PathBuf> = client_file("tls_key_file", driver, url.as_ref()),

        /// Open connections at most.
        connections_max: u64 = whole("connections_max", driver.connections_max.clone()).or(driver.connections_default),

        /// Time limit of connecting and login together. At most `ring.attempt_timeout_ms`.
        connect_timeout: Duration =
            millis("connect_timeout_ms", CONNECT_TIMEOUT_MS.min(whole_ms(attempt_timeout)), 10..=60_000),

        /// A connection that was silent for so long is probed.
        keep_alive: Duration = seconds("keep_alive_s", driver.keep_alive_default_s.unwrap_or_default(), 1..=3600)
            .only_if(driver.keep_alive_default_s.is_some(), NOT_OF_KIND),
    }
}

/// The error text for a key that the kind of store has no use for.
const NOT_OF_KIND: &str = "this kind of store has no such key";

fn is_https(url: &ServerUrl) -> bool {
    url.hosts().iter().any(|host| host.scheme == "https")
}

/// Whether connections look at certificates, as far as the URL is known.
fn verifies(driver: &Driver, url: Option<&ServerUrl>, tls: Tls) -> bool {
    if driver.speaks_https { url.is_none_or(is_https) } else { driver.tls_checking.contains(&tls) }
}

/// The settings with which connections look at certificates.
fn verifying(driver: &Driver) -> String {
    if driver.speaks_https {
        return "https:// in the url looks at it, and http:// does not".to_owned();
    }
    let checking = driver.tls.iter().filter(|(_, word)| driver.tls_checking.contains(word));
    let words: Vec<String> = checking.map(|(word, _)| format!("{word:?}")).collect();
    if words.is_empty() {
        return NOT_OF_KIND.to_owned();
    }
    format!("tls = {} looks at it, and no other word does", words.join(" or "))
}

fn client_file(key: &'static str, driver: &Driver, url: Option<&ServerUrl>) -> Setting<Option<PathBuf>> {
    let reason = if driver.speaks_https { verifying(driver) } else { NOT_OF_KIND.to_owned() };
    file(key).optional().only_if(driver.speaks_https && verifies(driver, url, Tls::Off), reason)
}

fn url(driver: &'static Driver) -> Values<ServerUrl> {
    let parse = move |text: String| ServerUrl::parse(driver, &text).map_err(|error| Some(error.to_string()));
    text("url").secret().expecting(format!("{} is expected", driver.example)).then(parse)
}

fn file(key: &'static str) -> Values<PathBuf> {
    text(key).then(|path| Ok(path.into()))
}

/// A database of a server, and how to connect. Printed without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerPlace {
    /// The kind of store or ledger.
    pub kind: &'static Kind,
    /// The connection options; relative paths are under the data directory.
    pub options: ServerOptions,
}

impl fmt::Display for ServerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.options.url, f)
    }
}

impl ServerPlace {
    /// The identity of the tables: equal for two URLs of one database.
    pub(crate) fn identity(&self) -> String {
        let database = self.options.url.identity();
        if !self.options.url.driver().has_schema {
            return database;
        }
        // The default schema of the kind.
        let default = if self.kind.role == Role::Ledger { "sequent_ledger" } else { "sequent_store" };
        let schema = self.options.schema.as_ref().map_or(default, SchemaName::as_str);
        format!("{database} schema {schema}")
    }

    /// The location that a table describes; `None` after a fault. No attempt lasts longer than `attempt_timeout`.
    pub(crate) fn read(
        section: &mut Section<'_, '_>,
        kind: &'static Kind,
        driver: &'static Driver,
        attempt_timeout: Duration,
    ) -> Option<Self> {
        let faults = section.faults();
        let keys = ServerSection::read(section, driver, attempt_timeout);
        if keys.connect_timeout > attempt_timeout {
            let bound =
                format!("at most ring.attempt_timeout_ms, {} ms, is allowed", attempt_timeout.as_millis());
            section.fault("connect_timeout_ms", keys.connect_timeout.as_millis(), bound);
        }
        let missing = match (&keys.tls_cert_file, &keys.tls_key_file) {
            (Some(_), None) => Some("tls_key_file"),
            (None, Some(_)) => Some("tls_cert_file"),
            _ => None,
        };
        if let Some(key) = missing {
            section.fault(key, "missing", "a certificate and its key are named together");
        }
        let url = keys.url.filter(|_| section.faults() == faults)?;
        let options = ServerOptions {
            schema: keys.schema,
            password_file: keys.password_file,
            tls: if is_https(&url) { Tls::Verify } else { keys.tls },
            tls_ca_file: keys.tls_ca_file,
            tls_cert_file: keys.tls_cert_file,
            tls_key_file: keys.tls_key_file,
            connections_max: usize::try_from(keys.connections_max).unwrap_or(usize::MAX),
            connect_timeout: keys.connect_timeout,
            keep_alive: keys.keep_alive,
            ..ServerOptions::new(url)
        };
        Some(Self { kind, options })
    }
}
