//! Table of store and ledger kinds: the name in the configuration, the data's medium, and how each is opened.
//!
//! Configuration, help, `doctor` and the error for a kind missing from the build all read this table. It is the only
//! list of kinds.

mod site;

use std::sync::Arc;

use sequent_core::{SourceError, Store, ledger::Ledger};

pub use site::{Opened, Site, Where};
use site::{opened_ledger, opened_store};

use crate::net::{self, Driver};

/// The role of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A shard's store.
    Store,
    /// The ledger.
    Ledger,
}

/// The medium on which a kind keeps its data.
#[derive(Debug, Clone, Copy)]
pub enum Medium {
    /// The memory of this process.
    Memory,
    /// A file.
    File,
    /// A server reached over a network.
    Server(&'static Driver),
}

/// A kind of store or ledger, as the configuration names it.
#[derive(Debug)]
pub struct Kind {
    /// Its name in the configuration.
    pub word: &'static str,
    /// Store or ledger.
    pub role: Role,
    /// The medium of its data.
    pub medium: Medium,
    open: Open,
}

/// How a kind is opened.
#[derive(Debug)]
enum Open {
    Store(fn(&Site<'_>) -> Result<Opened<dyn Store>, SourceError>),
    Ledger(fn(&Site<'_>) -> Result<Opened<dyn Ledger>, SourceError>),
    /// The build does not include the kind.
    #[cfg_attr(feature = "full", allow(dead_code, reason = "such a build includes all"))]
    LeftOut,
}

/// A kind of this role, built in if the build has the engine's feature.
macro_rules! kind {
    ($role:ident, $word:literal, $feature:literal, $medium:expr, $open:expr) => {{
        #[cfg(feature = $feature)]
        const OPEN: Open = Open::$role($open);
        #[cfg(not(feature = $feature))]
        const OPEN: Open = Open::LeftOut;
        Kind { word: $word, role: Role::$role, medium: $medium, open: OPEN }
    }};
}

/// Every kind. A new store is a row here.
pub static KINDS: &[Kind] = &[
    kind!(Store, "sqlite", "sqlite", Medium::File, |site| {
        Ok(opened_store(crate::sqlite::SqliteStore::new(site.path()?, sqlite_options(site))))
    }),
    kind!(Store, "memory", "memory", Medium::Memory, |site| {
        let store = crate::memory::MemoryStore::new(Arc::clone(&site.env.clock), &*site.env.entropy);
        Ok(Opened { handle: Arc::new(store), close: Arc::new(|| Box::pin(std::future::ready(()))) })
    }),
    kind!(Store, "mysql-auto-increment", "mysql", Medium::Server(&net::MYSQL), |site| {
        let (options, slot) = (site.server()?, site.owner()?.slot);
        Ok(opened_store(crate::mysql::MysqlAutoIncrementStore::new(options, slot)))
    }),
    kind!(Store, "mysql-row", "mysql", Medium::Server(&net::MYSQL), |site| {
        Ok(opened_store(crate::mysql::MysqlRowStore::new(site.server()?)))
    }),
    kind!(Store, "mysql-segment", "mysql", Medium::Server(&net::MYSQL), |site| {
        Ok(opened_store(crate::mysql::MysqlSegmentStore::new(site.server()?)))
    }),
    kind!(Store, "postgres-row", "postgres", Medium::Server(&net::POSTGRES), |site| {
        Ok(opened_store(crate::postgres::PostgresStore::new(site.server()?)))
    }),
    kind!(Store, "redis", "redis", Medium::Server(&net::REDIS), |site| {
        Ok(opened_store(crate::redis::RedisStore::new(site.server()?, site.owner()?)))
    }),
    kind!(Store, "memcached", "memcached", Medium::Server(&net::MEMCACHED), |site| {
        Ok(opened_store(crate::memcached::MemcachedStore::new(site.server()?, site.owner()?)))
    }),
    kind!(Store, "mongodb", "mongodb", Medium::Server(&net::MONGODB), |site| {
        Ok(opened_store(crate::mongodb::MongodbStore::new(site.server()?)))
    }),
    kind!(Ledger, "sqlite", "sqlite", Medium::File, |site| {
        Ok(opened_ledger(crate::sqlite::SqliteLedger::new(site.path()?, sqlite_options(site))))
    }),
    kind!(Ledger, "memory", "memory", Medium::Memory, |site| {
        Ok(opened_ledger(crate::memory::MemoryLedger::new(Arc::clone(&site.env.clock), &*site.env.entropy)))
    }),
    kind!(Ledger, "mysql", "mysql", Medium::Server(&net::MYSQL), |site| {
        Ok(opened_ledger(crate::mysql::MysqlLedger::new(site.server()?)))
    }),
    kind!(Ledger, "postgres", "postgres", Medium::Server(&net::POSTGRES), |site| {
        Ok(opened_ledger(crate::postgres::PostgresLedger::new(site.server()?)))
    }),
    kind!(Ledger, "etcd", "etcd", Medium::Server(&net::ETCD), |site| {
        Ok(opened_ledger(crate::etcd::EtcdLedger::new(site.server()?)))
    }),
];

#[cfg(feature = "sqlite")]
fn sqlite_options(site: &Site<'_>) -> crate::sqlite::SqliteOptions {
    crate::sqlite::SqliteOptions { create: site.create, env: site.env.clone() }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        (self.word, self.role) == (other.word, other.role)
    }
}

impl Eq for Kind {}

impl Kind {
    /// The kinds of a role, in the order of the table.
    pub fn of(role: Role) -> impl Iterator<Item = &'static Self> {
        KINDS.iter().filter(move |kind| kind.role == role)
    }

    /// The kind with this name.
    pub fn named(role: Role, word: &str) -> Option<&'static Self> {
        Self::of(role).find(|kind| kind.word == word)
    }

    /// The names of a role's kinds; with `built_in`, only those in this build.
    pub fn words(role: Role, built_in: bool) -> Vec<&'static str> {
        Self::of(role).filter(|kind| !built_in || kind.is_built_in()).map(|kind| kind.word).collect()
    }

    /// Whether this build includes the engine.
    pub const fn is_built_in(&self) -> bool {
        !matches!(self.open, Open::LeftOut)
    }

    /// Whether its counters are tables with `AUTO_INCREMENT`.
    pub fn has_code_tables(&self) -> bool {
        self.word == "mysql-auto-increment"
    }

    /// Whether the kind is reached over a network.
    pub const fn is_networked(&self) -> bool {
        matches!(self.medium, Medium::Server(_))
    }

    /// A store of this kind. Nothing is read or written before its first call.
    ///
    /// # Errors
    ///
    /// `Refused` for a ledger's kind, for a kind missing from the build, and for settings of another kind.
    pub fn open_store(&self, site: &Site<'_>) -> Result<Opened<dyn Store>, SourceError> {
        let Open::Store(open) = &self.open else { return Err(self.is_of_no_use()) };
        open(site)
    }

    /// A ledger of this kind. Nothing is read or written before its first call.
    ///
    /// # Errors
    ///
    /// As [`open_store`](Self::open_store).
    pub fn open_ledger(&self, site: &Site<'_>) -> Result<Opened<dyn Ledger>, SourceError> {
        let Open::Ledger(open) = &self.open else { return Err(self.is_of_no_use()) };
        open(site)
    }

    fn is_of_no_use(&self) -> SourceError {
        let why = if self.is_built_in() { "is of no use here" } else { "is not built into this version" };
        net::refused(format!("store is {:?}, which {why}", self.word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_of_a_role_is_one_kind() {
        for role in [Role::Store, Role::Ledger] {
            let mut words = Kind::words(role, false);
            let all = words.len();
            words.sort_unstable();
            words.dedup();
            assert_eq!(words.len(), all, "{words:?}");
            assert!(words.iter().all(|word| Kind::named(role, word).is_some_and(|kind| kind.role == role)));
        }
        assert_eq!(Kind::words(Role::Ledger, false), ["sqlite", "memory", "mysql", "postgres", "etcd"]);
        assert!(Kind::named(Role::Ledger, "redis").is_none() && Kind::named(Role::Store, "etcd").is_none());
    }
}
