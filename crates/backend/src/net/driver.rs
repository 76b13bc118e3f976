//! Driver properties: URL form, TLS modes and limits of each kind of server.

use std::ops::RangeInclusive;

use super::url::PathForm;

/// TLS mode of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// No TLS.
    Off,
    /// TLS if the server offers it. A man in the middle can switch it off.
    Prefer,
    /// TLS always; the certificate is not checked.
    Require,
    /// TLS always. The certificate must be the server's own, from a trusted authority.
    Verify,
}

/// A driver: the servers of one protocol.
#[derive(Debug)]
pub struct Driver {
    /// The name: both the cargo feature and the scheme of a URL as it is printed.
    pub name: &'static str,
    /// Accepted URL schemes, without `://`.
    pub schemes: &'static [&'static str],
    /// An example of a URL, for errors.
    pub example: &'static str,
    /// The default port.
    pub port: u16,
    /// Whether a URL must name a user.
    pub needs_user: bool,
    /// The most servers that one URL may name.
    pub hosts_max: usize,
    /// The form of the URL's path.
    pub(crate) path: PathForm,
    /// Accepted values of `tls`; the first is the default.
    pub tls: &'static [(&'static str, Tls)],
    /// TLS modes that use `tls_ca_file`; empty if `tls` is not a setting of this driver.
    pub tls_checking: &'static [Tls],
    /// Allowed pool sizes. The upper bound keeps one shard from exhausting the server's own connection limit.
    pub connections_max: RangeInclusive<u64>,
    /// Default pool size.
    pub connections_default: u64,
    /// Seconds of silence after which a connection is probed; `None` if connections are not probed.
    pub keep_alive_default_s: Option<u64>,
    /// Whether the tables are in a named schema.
    pub has_schema: bool,
    /// Whether the scheme `https` selects TLS, with an optional client certificate.
    pub speaks_https: bool,
}

/// Every driver, whether or not this build includes it.
pub static DRIVERS: [&Driver; 6] = [&MYSQL, &POSTGRES, &REDIS, &MEMCACHED, &ETCD, &MONGODB];

/// What most drivers have alike.
const COMMON: Driver = Driver {
    name: "",
    schemes: &[],
    example: "",
    port: 0,
    needs_user: false,
    hosts_max: 1,
    path: PathForm::None,
    tls: &[("off", Tls::Off)],
    tls_checking: &[],
    connections_max: 1..=64,
    connections_default: 4,
    keep_alive_default_s: None,
    has_schema: false,
    speaks_https: false,
};

/// MySQL and MariaDB.
pub(crate) static MYSQL: Driver = Driver {
    name: "mysql",
    schemes: &["mysql"],
    example: "mysql://user@host:3306/database",
    port: 3306,
    needs_user: true,
    path: PathForm::Database,
    // This driver checks a certificate whenever TLS is used, so an encrypted connection is a verified one.
    tls: &[("off", Tls::Off), ("prefer", Tls::Prefer), ("verify", Tls::Verify)],
    tls_checking: &[Tls::Prefer, Tls::Verify],
    connections_max: 1..=256,
    connections_default: 16,
    keep_alive_default_s: Some(15),
    ..COMMON
};

/// PostgreSQL.
pub(crate) static POSTGRES: Driver = Driver {
    name: "postgres",
    schemes: &["postgres", "postgresql"],
    example: "postgres://user@host:5432/database",
    port: 5432,
    needs_user: true,
    path: PathForm::Database,
    tls: &[("prefer", Tls::Prefer), ("off", Tls::Off), ("require", Tls::Require), ("verify", Tls::Verify)],
    tls_checking: &[Tls::Verify],
    keep_alive_default_s: Some(5),
    has_schema: true,
    ..COMMON
};

/// Redis and Valkey.
pub(crate) static REDIS: Driver = Driver {
    name: "redis",
    schemes: &["redis", "valkey"],
    example: "redis://user@host:6379/0",
    port: 6379,
    path: PathForm::Number,
    tls: &[("off", Tls::Off), ("verify", Tls::Verify)],
    tls_checking: &[Tls::Verify],
    connections_max: 1..=256,
    connections_default: 8,
    keep_alive_default_s: Some(15),
    ..COMMON
};

/// memcached. More connections on one key only lose more compare-and-swap races.
pub(crate) static MEMCACHED: Driver = Driver {
    name: "memcached",
    schemes: &["memcached"],
    example: "memcached://user@host:11211",
    port: 11_211,
    ..COMMON
};

/// etcd. A cluster of more than nine members is slower and no safer.
pub(crate) static ETCD: Driver = Driver {
    name: "etcd",
    schemes: &["http", "https"],
    example: "http://user@host:2379,http://host:2379/prefix",
    port: 2379,
    hosts_max: 9,
    path: PathForm::Prefix,
    connections_max: 1..=16,
    speaks_https: true,
    ..COMMON
};

/// MongoDB.
pub(crate) static MONGODB: Driver = Driver {
    name: "mongodb",
    schemes: &["mongodb"],
    example: "mongodb://user@host:27017/database",
    port: 27_017,
    needs_user: true,
    path: PathForm::DatabaseAndAuthSource,
    // A MongoDB client can't ask whether the server offers TLS, so there is no `prefer`.
    tls: &[("off", Tls::Off), ("require", Tls::Require), ("verify", Tls::Verify)],
    tls_checking: &[Tls::Verify],
    keep_alive_default_s: Some(5),
    ..COMMON
};

impl PartialEq for Driver {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Driver {}
