//! The words for stores and ledgers: which are known, and which this build holds.

use super::Section;

/// What a server is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerKind {
    /// A store: a table counts each sequence.
    MysqlAutoIncrement,
    /// A store: a row a key, added to.
    MysqlRow,
    /// A store: a row a key, compared and swapped.
    MysqlSegment,
    /// A store: a row a key.
    PostgresRow,
    /// A store on MongoDB: a document a key.
    Mongodb,
    /// A store on Redis or Valkey: a hash a key.
    Redis,
    /// A store on memcached: an item a key.
    Memcached,
    /// A ledger in a MySQL or MariaDB database.
    MysqlLedger,
    /// A ledger in a PostgreSQL database.
    PostgresLedger,
    /// A ledger under a prefix of an etcd cluster.
    Etcd,
}

/// What speaks one protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Etcd,
    Mongodb,
    Mysql,
    Postgres,
    Redis,
    Memcached,
}

impl ServerKind {
    /// The word of the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MysqlAutoIncrement => "mysql-auto-increment",
            Self::MysqlRow => "mysql-row",
            Self::MysqlSegment => "mysql-segment",
            Self::PostgresRow => "postgres-row",
            Self::Mongodb => "mongodb",
            Self::Redis => "redis",
            Self::Memcached => "memcached",
            Self::MysqlLedger => "mysql",
            Self::PostgresLedger => "postgres",
            Self::Etcd => "etcd",
        }
    }

    pub(crate) const fn family(self) -> Family {
        match self {
            Self::MysqlAutoIncrement | Self::MysqlRow | Self::MysqlSegment | Self::MysqlLedger => {
                Family::Mysql
            }
            Self::PostgresRow | Self::PostgresLedger => Family::Postgres,
            Self::Mongodb => Family::Mongodb,
            Self::Redis => Family::Redis,
            Self::Memcached => Family::Memcached,
            Self::Etcd => Family::Etcd,
        }
    }
}

impl Family {
    /// Whether this build holds the driver.
    const fn is_built_in(self) -> bool {
        match self {
            Self::Etcd => cfg!(feature = "etcd"),
            Self::Mongodb => cfg!(feature = "mongodb"),
            Self::Mysql => cfg!(feature = "mysql"),
            Self::Postgres => cfg!(feature = "postgres"),
            Self::Redis => cfg!(feature = "redis"),
            Self::Memcached => cfg!(feature = "memcached"),
        }
    }
}

/// What a word stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Sqlite,
    Memory,
    Server(ServerKind),
}

pub(super) type Words = [(&'static str, Kind)];

pub(super) const STORES: &Words = &[
    ("sqlite", Kind::Sqlite),
    ("memory", Kind::Memory),
    ("mysql-auto-increment", Kind::Server(ServerKind::MysqlAutoIncrement)),
    ("mysql-row", Kind::Server(ServerKind::MysqlRow)),
    ("mysql-segment", Kind::Server(ServerKind::MysqlSegment)),
    ("postgres-row", Kind::Server(ServerKind::PostgresRow)),
    ("redis", Kind::Server(ServerKind::Redis)),
    ("memcached", Kind::Server(ServerKind::Memcached)),
    ("mongodb", Kind::Server(ServerKind::Mongodb)),
];

pub(super) const LEDGERS: &Words = &[
    ("sqlite", Kind::Sqlite),
    ("memory", Kind::Memory),
    ("mysql", Kind::Server(ServerKind::MysqlLedger)),
    ("postgres", Kind::Server(ServerKind::PostgresLedger)),
    ("etcd", Kind::Server(ServerKind::Etcd)),
];

impl Kind {
    const fn is_built_in(self) -> bool {
        match self {
            Self::Sqlite | Self::Memory => true,
            Self::Server(kind) => kind.family().is_built_in(),
        }
    }

    /// Whether it is reached over a network.
    pub(super) const fn is_networked(self) -> bool {
        matches!(self, Self::Server(_))
    }

    /// What the word of `section` stands for; tells "unknown" from "not built in", and notes either as a fault.
    pub(super) fn known(section: &mut Section<'_, '_>, word: &str, words: &Words) -> Option<Self> {
        let Some((_, kind)) = words.iter().find(|(known, _)| *known == word) else {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            section.fault("store", format!("{word:?}"), format!("unknown, {} are known", known.join(", ")));
            return None;
        };
        if !kind.is_built_in() {
            let bound = format!("not built into this version, {} are", built_in(words));
            section.fault("store", format!("{word:?}"), bound);
        }
        Some(*kind)
    }

    /// The place that its word leads to is only made where this build holds it.
    pub(super) fn if_built_in(self) -> Option<Self> {
        self.is_built_in().then_some(self)
    }
}

/// The words that this build holds, for people.
pub(super) fn built_in(words: &Words) -> String {
    let here: Vec<&str> =
        words.iter().filter(|(_, kind)| kind.is_built_in()).map(|(word, _)| *word).collect();
    match here.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => here.concat(),
    }
}
