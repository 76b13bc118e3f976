//! What differs between the servers that a driver reaches: the form of a URL, TLS, bounds.

use std::ops::RangeInclusive;

use super::url::PathForm;

/// How a connection to a server is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// Not at all.
    Off,
    /// Where the server can; whoever stands in between can talk it out of that.
    Prefer,
    /// Always; whoever answers is not checked.
    Require,
    /// Always, and the server's certificate is its own and of an authority that is trusted.
    Verify,
}

/// What speaks one protocol.
#[derive(Debug)]
pub struct Driver {
    /// The feature that builds it in, and the first word of a URL.
    pub name: &'static str,
    /// How a URL may begin, before `://`.
    pub schemes: &'static [&'static str],
    /// What a URL looks like.
    pub example: &'static str,
    /// Where a server listens if nothing else is said.
    pub port: u16,
    /// Whether a URL must name a user.
    pub needs_user: bool,
    /// How many servers a URL may name.
    pub hosts_max: usize,
    /// What may follow the slash of a URL.
    pub(crate) path: PathForm,
    /// The words of `tls`; the first counts where nobody says.
    pub tls: &'static [(&'static str, Tls)],
    /// Those with which certificates of one's own are looked at; none where `tls` is no setting of it.
    pub tls_checking: &'static [Tls],
    /// How many connections are allowed: beyond that a server's own limit is used up by one shard.
    pub connections_max: RangeInclusive<u64>,
    /// How many there are where nobody says.
    pub connections_default: u64,
    /// After so many seconds of silence a connection is probed; `None`: connections are not probed.
    pub keep_alive_default_s: Option<u64>,
    /// Whether its tables are in a schema that has a name.
    pub has_schema: bool,
    /// Whether `https` in the URL is its word for TLS, with a certificate of our own if need be.
    pub speaks_https: bool,
}

/// Every driver, whether this build holds it or not.
pub static DRIVERS: [&Driver; 6] = [&MYSQL, &POSTGRES, &REDIS, &MEMCACHED, &ETCD, &MONGODB];

/// MySQL and MariaDB.
pub(crate) static MYSQL: Driver = Driver {
    name: "mysql",
    schemes: &["mysql"],
    example: "mysql://user@host:3306/database",
    port: 3306,
    needs_user: true,
    hosts_max: 1,
    path: PathForm::Database,
    // Its driver looks at the certificate whenever there is one: what is encrypted is verified.
    tls: &[("off", Tls::Off), ("prefer", Tls::Prefer), ("verify", Tls::Verify)],
    tls_checking: &[Tls::Prefer, Tls::Verify],
    connections_max: 1..=256,
    connections_default: 16,
    keep_alive_default_s: Some(15),
    has_schema: false,
    speaks_https: false,
};

/// PostgreSQL.
pub(crate) static POSTGRES: Driver = Driver {
    name: "postgres",
    schemes: &["postgres", "postgresql"],
    example: "postgres://user@host:5432/database",
    port: 5432,
    needs_user: true,
    hosts_max: 1,
    path: PathForm::Database,
    tls: &[("prefer", Tls::Prefer), ("off", Tls::Off), ("require", Tls::Require), ("verify", Tls::Verify)],
    tls_checking: &[Tls::Verify],
    connections_max: 1..=64,
    connections_default: 4,
    keep_alive_default_s: Some(5),
    has_schema: true,
    speaks_https: false,
};

/// Redis and Valkey.
pub(crate) static REDIS: Driver = Driver {
    name: "redis",
    schemes: &["redis", "valkey"],
    example: "redis://user@host:6379/0",
    port: 6379,
    needs_user: false,
    hosts_max: 1,
    path: PathForm::Number,
    tls: &[("off", Tls::Off), ("verify", Tls::Verify)],
    tls_checking: &[Tls::Verify],
    connections_max: 1..=256,
    connections_default: 8,
    keep_alive_default_s: Some(15),
    has_schema: false,
    speaks_https: false,
};

/// memcached. More connections on one key only make each other lose races.
pub(crate) static MEMCACHED: Driver = Driver {
    name: "memcached",
    schemes: &["memcached"],
    example: "memcached://user@host:11211",
    port: 11_211,
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

/// etcd. A cluster of more members than nine is slower, and no safer.
pub(crate) static ETCD: Driver = Driver {
    name: "etcd",
    schemes: &["http", "https"],
    example: "http://user@host:2379,http://host:2379/prefix",
    port: 2379,
    needs_user: false,
    hosts_max: 9,
    path: PathForm::Prefix,
    tls: &[("off", Tls::Off)],
    tls_checking: &[],
    connections_max: 1..=16,
    connections_default: 4,
    keep_alive_default_s: None,
    has_schema: false,
    speaks_https: true,
};

/// MongoDB.
pub(crate) static MONGODB: Driver = Driver {
    name: "mongodb",
    schemes: &["mongodb"],
    example: "mongodb://user@host:27017/database",
    port: 27_017,
    needs_user: true,
    hosts_max: 1,
    path: PathForm::DatabaseAndAuthSource,
    // A client can't ask a server whether it can.
    tls: &[("off", Tls::Off), ("require", Tls::Require), ("verify", Tls::Verify)],
    tls_checking: &[Tls::Verify],
    connections_max: 1..=64,
    connections_default: 4,
    keep_alive_default_s: Some(5),
    has_schema: false,
    speaks_https: false,
};

impl PartialEq for Driver {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Driver {}
