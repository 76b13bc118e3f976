//! Locations on a server: address, login and connection options.

use std::{fmt, path::PathBuf, time::Duration};

use sequent_backend::{
    kinds::{Kind, Role},
    net::{Driver, SchemaName, ServerOptions, ServerUrl},
};

use crate::config::TableReader;
pub use sequent_backend::net::Tls;

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

/// Default of the connection timeout, in milliseconds. It is below an attempt's limit, so that an unreachable server
/// is reported as such.
const CONNECT_TIMEOUT_MS: u64 = 800;

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

    /// The location that a table describes; `None` after a fault. No attempt lasts longer than `attempt`.
    pub(crate) fn read(
        section: &mut TableReader<'_, '_>,
        kind: &'static Kind,
        driver: &'static Driver,
        attempt: Duration,
    ) -> Option<Self> {
        let url = section.url("url", &format!("{} is expected", driver.example));
        let schema = if driver.has_schema { section.text("schema") } else { None };
        let password_file = section.text("password_file").map(PathBuf::from);
        let (mut tls, mut tls_ca_file) = tls(section, driver);
        let [mut tls_cert_file, mut tls_key_file] = [None, None];
        if driver.speaks_https {
            let is_secure = url.as_ref().is_some_and(|(text, _)| text.contains("https://"));
            tls = if is_secure { Tls::Verify } else { Tls::Off };
            [tls_ca_file, tls_cert_file, tls_key_file] = certificates(section, is_secure || url.is_none());
        }
        let connections_max =
            section.integer("connections_max", driver.connections_max.clone(), driver.connections_default);
        let connect_timeout = connect_timeout(section, attempt);
        let keep_alive = driver.keep_alive_default_s;
        let keep_alive = keep_alive.map(|default| section.duration("keep_alive_s", 1..=3600, default));
        let url = read_url(section, driver, url?, password_file.is_some());
        let has_schema = schema.is_some();
        let schema = schema.and_then(|name| read_schema(section, &name));
        if has_schema && schema.is_none() {
            return None;
        }
        let options = ServerOptions {
            schema,
            password_file,
            tls,
            tls_ca_file,
            tls_cert_file,
            tls_key_file,
            connections_max: usize::try_from(connections_max).unwrap_or(usize::MAX),
            connect_timeout,
            keep_alive: keep_alive.unwrap_or_default(),
            ..ServerOptions::new(url?)
        };
        Some(Self { kind, options })
    }
}

/// The TLS mode and the CA file; no such key is read if the driver has no TLS.
fn tls(section: &mut TableReader<'_, '_>, driver: &Driver) -> (Tls, Option<PathBuf>) {
    if driver.tls_checking.is_empty() {
        return (Tls::Off, None);
    }
    let tls = section.choice("tls", driver.tls, 0);
    let tls_ca_file = section.text("tls_ca_file").map(PathBuf::from);
    if tls_ca_file.is_some() && !driver.tls_checking.contains(&tls) {
        let checking = driver.tls.iter().filter(|(_, word)| driver.tls_checking.contains(word));
        let names: Vec<String> = checking.map(|(word, _)| format!("{word:?}")).collect();
        let bound = format!("tls = {} looks at it, and no other word does", names.join(" or "));
        section.fault("tls_ca_file", "there", bound);
    }
    (tls, tls_ca_file)
}

/// The TLS files of etcd's `https`: the trusted CA, and the client's certificate and key.
fn certificates(section: &mut TableReader<'_, '_>, is_secure: bool) -> [Option<PathBuf>; 3] {
    const KEYS: [&str; 3] = ["tls_ca_file", "tls_cert_file", "tls_key_file"];
    let files = KEYS.map(|key| section.text(key).map(PathBuf::from));
    for (key, _) in KEYS.iter().zip(&files).filter(|(_, file)| file.is_some() && !is_secure) {
        section.fault(key, "there", "https:// in the url looks at it, and http:// does not");
    }
    let missing = match (&files[1], &files[2]) {
        (Some(_), None) => Some(KEYS[2]),
        (None, Some(_)) => Some(KEYS[1]),
        _ => None,
    };
    if let Some(key) = missing {
        section.fault(key, "missing", "a certificate and its key are named together");
    }
    files
}

fn connect_timeout(section: &mut TableReader<'_, '_>, attempt: Duration) -> Duration {
    let attempt_ms = u64::try_from(attempt.as_millis()).unwrap_or(u64::MAX);
    let limit = section.duration("connect_timeout_ms", 10..=60_000, CONNECT_TIMEOUT_MS.min(attempt_ms));
    if limit > attempt {
        let bound = format!("at most ring.attempt_timeout_ms, {attempt_ms} ms, is allowed");
        section.fault("connect_timeout_ms", limit.as_millis(), bound);
    }
    limit
}

/// Reads the URL. A fault never contains a secret of it.
fn read_url(
    section: &mut TableReader<'_, '_>,
    driver: &'static Driver,
    (text, shown): (String, String),
    has_file: bool,
) -> Option<ServerUrl> {
    match ServerUrl::parse(driver, &text) {
        Ok(url) => {
            if url.has_password() && has_file {
                section.fault(
                    "password_file",
                    "there",
                    "the url holds a password too: one of the two is allowed",
                );
            }
            Some(url)
        }
        Err(error) => {
            section.fault("url", shown, error.cause());
            None
        }
    }
}

fn read_schema(section: &mut TableReader<'_, '_>, name: &str) -> Option<SchemaName> {
    match name.parse::<SchemaName>() {
        Ok(schema) => Some(schema),
        Err(error) => {
            section.fault("schema", format!("{name:?}"), error.to_string());
            None
        }
    }
}
