//! What differs between the servers that a driver reaches: URLs, TLS, bounds.

use std::ops::RangeInclusive;

use super::{Location, Role, TlsWord, WrongUrl, where_built};

/// What speaks one protocol.
#[derive(Debug)]
pub struct Driver {
    /// The feature that builds it in.
    pub feature: &'static str,
    /// What a URL looks like.
    pub url: &'static str,
    /// The words of `tls`; the first counts where nobody says.
    pub tls: &'static [(&'static str, TlsWord)],
    /// Those with which certificates of one's own are looked at; none where `tls` is no setting of it.
    pub tls_checking: &'static [TlsWord],
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
    locate: Option<Locate>,
}

type Locate = fn(Role, &str, Option<&str>) -> Result<Location, WrongUrl>;

impl Driver {
    /// What a URL and the name of a schema say.
    ///
    /// # Errors
    ///
    /// What is wrong with either; also where the build leaves the driver out.
    pub fn locate(&self, role: Role, url: &str, schema: Option<&str>) -> Result<Location, WrongUrl> {
        let absent = || WrongUrl {
            setting: "url",
            cause: format!("this build holds no driver for it: its feature {} is off", self.feature),
        };
        self.locate.ok_or_else(absent)?(role, url, schema)
    }
}

pub(super) static MYSQL: Driver = Driver {
    feature: "mysql",
    url: "mysql://user@host:3306/database is expected",
    // Its driver looks at the certificate whenever there is one: what is encrypted is verified.
    tls: &[("off", TlsWord::Off), ("prefer", TlsWord::Prefer), ("verify", TlsWord::Verify)],
    tls_checking: &[TlsWord::Prefer, TlsWord::Verify],
    connections_max: 1..=256,
    connections_default: 16,
    keep_alive_default_s: Some(15),
    has_schema: false,
    speaks_https: false,
    locate: where_built!("mysql", Locate, crate::mysql::locate),
};

pub(super) static POSTGRES: Driver = Driver {
    feature: "postgres",
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
    keep_alive_default_s: Some(5),
    has_schema: true,
    speaks_https: false,
    locate: where_built!("postgres", Locate, crate::postgres::locate),
};

pub(super) static REDIS: Driver = Driver {
    feature: "redis",
    url: "redis://user@host:6379/0 is expected",
    tls: &[("off", TlsWord::Off), ("verify", TlsWord::Verify)],
    tls_checking: &[TlsWord::Verify],
    connections_max: 1..=256,
    connections_default: 8,
    keep_alive_default_s: Some(15),
    has_schema: false,
    speaks_https: false,
    locate: where_built!("redis", Locate, crate::redis::locate),
};

/// More connections on one key only make each other lose races.
pub(super) static MEMCACHED: Driver = Driver {
    feature: "memcached",
    url: "memcached://host:11211 is expected",
    tls: &[("off", TlsWord::Off)],
    tls_checking: &[],
    connections_max: 1..=64,
    connections_default: 4,
    keep_alive_default_s: None,
    has_schema: false,
    speaks_https: false,
    locate: where_built!("memcached", Locate, crate::memcached::locate),
};

pub(super) static ETCD: Driver = Driver {
    feature: "etcd",
    url: "http://user@host:2379,http://host:2379/prefix is expected",
    tls: &[("off", TlsWord::Off)],
    tls_checking: &[],
    connections_max: 1..=16,
    connections_default: 4,
    keep_alive_default_s: None,
    has_schema: false,
    speaks_https: true,
    locate: where_built!("etcd", Locate, crate::etcd::locate),
};

pub(super) static MONGODB: Driver = Driver {
    feature: "mongodb",
    url: "mongodb://user@host:27017/database is expected",
    // A client can't ask a server whether it can.
    tls: &[("off", TlsWord::Off), ("require", TlsWord::Require), ("verify", TlsWord::Verify)],
    tls_checking: &[TlsWord::Verify],
    connections_max: 1..=64,
    connections_default: 4,
    keep_alive_default_s: Some(5),
    has_schema: false,
    speaks_https: false,
    locate: where_built!("mongodb", Locate, crate::mongodb::locate),
};
