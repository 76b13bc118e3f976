//! Places that are reached over a network: where, as whom, and how.

use std::{fmt, path::PathBuf, time::Duration};

pub use sequent_backend::kinds::TlsWord;
use sequent_backend::kinds::{Driver, Kind, Location, ServerSettings, WrongUrl};

use super::{Secret, Section};

/// A database of a server, and how it is reached. Printed without what is secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerPlace {
    /// What it is used as.
    pub kind: &'static Kind,
    /// Where it is, and who asks; it may hold a password.
    pub url: Secret,
    /// The same without the password.
    pub address: String,
    /// Whose are the tables, as two URLs of one database have it.
    pub(crate) identity: String,
    /// PostgreSQL's schema that holds the tables; `None`: `sequent_store` or `sequent_ledger`.
    pub schema: Option<String>,
    /// The file that holds the password, read at each connecting; relative paths are under the data directory.
    pub password_file: Option<PathBuf>,
    /// How the line is protected.
    pub tls: TlsWord,
    /// The authority's certificates; `None`: those that everybody trusts.
    pub tls_ca_file: Option<PathBuf>,
    /// Our own certificate, where the server asks for one: etcd alone; PEM, as all of them.
    pub tls_cert_file: Option<PathBuf>,
    /// Its private key.
    pub tls_key_file: Option<PathBuf>,
    /// The most connections at once.
    pub connections_max: usize,
    /// How long connecting and login may take.
    pub connect_timeout: Duration,
    /// How long a connection may be silent before it is probed; memcached's are not.
    pub keep_alive: Duration,
}

impl fmt::Display for ServerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)
    }
}

/// How long connecting may take where nobody says: below an attempt's limit, so that a server which can't be reached is
/// said to be so.
const CONNECT_TIMEOUT_MS: u64 = 800;

impl ServerPlace {
    /// What its kind is opened by.
    pub(crate) fn settings(&self) -> ServerSettings {
        ServerSettings {
            url: self.url.reveal().to_owned(),
            schema: self.schema.clone(),
            password_file: self.password_file.clone(),
            tls: self.tls,
            tls_ca_file: self.tls_ca_file.clone(),
            tls_cert_file: self.tls_cert_file.clone(),
            tls_key_file: self.tls_key_file.clone(),
            connections_max: self.connections_max,
            connect_timeout: self.connect_timeout,
            keep_alive: self.keep_alive,
        }
    }

    /// The place that a table describes; `None` where a fault left none. No attempt lasts longer than `attempt`.
    pub(super) fn read(
        section: &mut Section<'_, '_>,
        kind: &'static Kind,
        driver: &'static Driver,
        attempt: Duration,
    ) -> Option<Self> {
        let url = section.url("url", driver.url);
        let schema = if driver.has_schema { section.text("schema") } else { None };
        let password_file = section.text("password_file").map(PathBuf::from);
        let (mut tls, mut tls_ca_file) = tls(section, driver);
        let [mut tls_cert_file, mut tls_key_file] = [None, None];
        if driver.speaks_https {
            let is_secure = url.as_ref().is_some_and(|(text, _)| text.contains("https://"));
            tls = if is_secure { TlsWord::Verify } else { TlsWord::Off };
            [tls_ca_file, tls_cert_file, tls_key_file] = papers(section, is_secure || url.is_none());
        }
        let connections_max =
            section.integer("connections_max", driver.connections_max.clone(), driver.connections_default);
        let connect_timeout = connect_timeout(section, attempt);
        let keep_alive = driver.keep_alive_default_s;
        let keep_alive = keep_alive.map(|default| section.duration("keep_alive_s", 1..=3600, default));
        let has_file = password_file.is_some();
        let located = located(section, (kind, driver), url?, schema.as_deref(), has_file)?;
        Some(Self {
            kind,
            url: located.1,
            address: located.0.address,
            identity: located.0.identity,
            schema,
            password_file,
            tls,
            tls_ca_file,
            tls_cert_file,
            tls_key_file,
            connections_max: usize::try_from(connections_max).unwrap_or(usize::MAX),
            connect_timeout,
            keep_alive: keep_alive.unwrap_or_default(),
        })
    }
}

/// How the line is protected, and by whose certificates; no key of that where there is no TLS.
fn tls(section: &mut Section<'_, '_>, driver: &Driver) -> (TlsWord, Option<PathBuf>) {
    if driver.tls_checking.is_empty() {
        return (TlsWord::Off, None);
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

/// What etcd's `https` looks at: whom to trust, and who we are.
fn papers(section: &mut Section<'_, '_>, is_secure: bool) -> [Option<PathBuf>; 3] {
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

fn connect_timeout(section: &mut Section<'_, '_>, attempt: Duration) -> Duration {
    let attempt_ms = u64::try_from(attempt.as_millis()).unwrap_or(u64::MAX);
    let limit = section.duration("connect_timeout_ms", 10..=60_000, CONNECT_TIMEOUT_MS.min(attempt_ms));
    if limit > attempt {
        let bound = format!("at most ring.attempt_timeout_ms, {attempt_ms} ms, is allowed");
        section.fault("connect_timeout_ms", limit.as_millis(), bound);
    }
    limit
}

/// What the driver makes of the URL; a fault never repeats a secret of it.
fn located(
    section: &mut Section<'_, '_>,
    (kind, driver): (&Kind, &Driver),
    (text, shown): (String, String),
    schema: Option<&str>,
    has_file: bool,
) -> Option<(Location, Secret)> {
    match driver.locate(kind.role, &text, schema) {
        Err(WrongUrl { setting, cause }) => {
            let value = if setting == "url" { shown } else { format!("{:?}", schema.unwrap_or_default()) };
            section.fault(setting, value, cause);
            None
        }
        Ok(location) => {
            if location.has_password && has_file {
                section.fault(
                    "password_file",
                    "there",
                    "the url holds a password too: one of the two is allowed",
                );
            }
            Some((location, Secret::new(text)))
        }
    }
}
