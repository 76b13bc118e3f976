//! Places that are reached over a network: where, as whom, and how.

use std::{fmt, ops::RangeInclusive, path::PathBuf, time::Duration};

use super::{
    Secret, Section, ServerKind,
    kind::Family,
    url::{self, Parts},
};

/// How a line to a server is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsWord {
    /// Not at all.
    Off,
    /// Where the server can.
    Prefer,
    /// Always; whoever answers is not checked.
    Require,
    /// Always, and the server's certificate is its own and of an authority that is trusted.
    Verify,
}

/// A database of a server, and how it is reached. Printed without what is secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerPlace {
    /// What it is used as.
    pub kind: ServerKind,
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

/// What differs between the families.
struct Ranges {
    url: &'static str,
    tls: &'static [(&'static str, TlsWord)],
    /// The words of `tls` with which certificates of one's own are looked at.
    tls_checking: &'static [TlsWord],
    connections_max: RangeInclusive<u64>,
    connections_default: u64,
    /// `None`: connections are not probed.
    keep_alive_default: Option<u64>,
}

/// The bounds are those of the backends' options: beyond them a server's own limit is used up by one shard.
const MYSQL: Ranges = Ranges {
    url: "mysql://user@host:3306/database is expected",
    // Its driver looks at the certificate whenever there is one: what is encrypted is verified.
    tls: &[("off", TlsWord::Off), ("prefer", TlsWord::Prefer), ("verify", TlsWord::Verify)],
    tls_checking: &[TlsWord::Prefer, TlsWord::Verify],
    connections_max: 1..=256,
    connections_default: 16,
    keep_alive_default: Some(15),
};

const POSTGRES: Ranges = Ranges {
    url: "postgres://user@host:5432/database is expected",
    tls: &[
        ("prefer", TlsWord::Prefer),
        ("off", TlsWord::Off),
        ("require", TlsWord::Require),
        ("verify", TlsWord::Verify),
    ],
    tls_checking: &[TlsWord::Verify],
    connections_max: 1..=64,
    connections_default: 4,
    keep_alive_default: Some(5),
};

const REDIS: Ranges = Ranges {
    url: "redis://user@host:6379/0 is expected",
    tls: &[("off", TlsWord::Off), ("verify", TlsWord::Verify)],
    tls_checking: &[TlsWord::Verify],
    connections_max: 1..=256,
    connections_default: 8,
    keep_alive_default: Some(15),
};

/// More connections on one key only make each other lose races.
const MEMCACHED: Ranges = Ranges {
    url: "memcached://host:11211 is expected",
    tls: &[("off", TlsWord::Off)],
    tls_checking: &[],
    connections_max: 1..=64,
    connections_default: 4,
    keep_alive_default: None,
};

/// `https` in the url is its word for TLS.
const ETCD: Ranges = Ranges {
    url: "http://user@host:2379,http://host:2379/prefix is expected",
    tls: &[("off", TlsWord::Off)],
    tls_checking: &[],
    connections_max: 1..=16,
    connections_default: 4,
    keep_alive_default: None,
};

const MONGODB: Ranges = Ranges {
    url: "mongodb://user@host:27017/database is expected",
    // A client can't ask a server whether it can.
    tls: &[("off", TlsWord::Off), ("require", TlsWord::Require), ("verify", TlsWord::Verify)],
    tls_checking: &[TlsWord::Verify],
    connections_max: 1..=64,
    connections_default: 4,
    keep_alive_default: Some(5),
};

/// How long connecting may take where nobody says: below an attempt's limit, so that a server which can't be reached is
/// said to be so.
const CONNECT_TIMEOUT_MS: u64 = 800;

impl ServerPlace {
    /// The place that a table describes; `None` where a fault left none. No attempt lasts longer than `attempt`.
    pub(super) fn read(section: &mut Section<'_, '_>, kind: ServerKind, attempt: Duration) -> Option<Self> {
        let ranges = match kind.family() {
            Family::Etcd => ETCD,
            Family::Mongodb => MONGODB,
            Family::Mysql => MYSQL,
            Family::Postgres => POSTGRES,
            Family::Redis => REDIS,
            Family::Memcached => MEMCACHED,
        };
        let url = section.url("url", ranges.url);
        let schema = match kind.family() {
            Family::Etcd | Family::Mongodb | Family::Mysql | Family::Redis | Family::Memcached => None,
            Family::Postgres => section.text("schema"),
        };
        let password_file = section.text("password_file").map(PathBuf::from);
        let (mut tls, mut tls_ca_file) = tls(section, &ranges);
        let [mut tls_cert_file, mut tls_key_file] = [None, None];
        if kind.family() == Family::Etcd {
            let is_secure = url.as_ref().is_some_and(|(text, _)| text.contains("https://"));
            tls = if is_secure { TlsWord::Verify } else { TlsWord::Off };
            [tls_ca_file, tls_cert_file, tls_key_file] = papers(section, is_secure || url.is_none());
        }
        let connections_max =
            section.integer("connections_max", ranges.connections_max, ranges.connections_default);
        let connect_timeout = connect_timeout(section, attempt);
        let keep_alive = ranges.keep_alive_default;
        let keep_alive = keep_alive.map(|default| section.duration("keep_alive_s", 1..=3600, default));
        let parts = parts(section, kind, url?, schema.as_deref(), password_file.is_some())?;
        Some(Self {
            kind,
            url: parts.1,
            address: parts.0.address,
            identity: parts.0.identity,
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
fn tls(section: &mut Section<'_, '_>, ranges: &Ranges) -> (TlsWord, Option<PathBuf>) {
    if ranges.tls_checking.is_empty() {
        return (TlsWord::Off, None);
    }
    let tls = section.choice("tls", ranges.tls, 0);
    let tls_ca_file = section.text("tls_ca_file").map(PathBuf::from);
    if tls_ca_file.is_some() && !ranges.tls_checking.contains(&tls) {
        let checking = ranges.tls.iter().filter(|(_, word)| ranges.tls_checking.contains(word));
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
fn parts(
    section: &mut Section<'_, '_>,
    kind: ServerKind,
    (text, shown): (String, String),
    schema: Option<&str>,
    has_file: bool,
) -> Option<(Parts, Secret)> {
    match url::parts(kind, &text, schema) {
        Err((key, cause)) => {
            let value = if key == "url" { shown } else { format!("{:?}", schema.unwrap_or_default()) };
            section.fault(key, value, cause);
            None
        }
        Ok(parts) => {
            if parts.has_password && has_file {
                section.fault(
                    "password_file",
                    "there",
                    "the url holds a password too: one of the two is allowed",
                );
            }
            Some((parts, Secret::new(text)))
        }
    }
}
