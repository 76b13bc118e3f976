//! Stores and ledgers, one folder per engine, each behind a feature.
//!
//! | feature | store | ledger | durability |
//! |---|---|---|---|
//! | `etcd` | none | `etcd::EtcdLedger` | durable, by its members |
//! | `memcached` | `memcached::MemcachedStore` (`memcached`) | none | volatile |
//! | `memory` | `memory::MemoryStore` | `memory::MemoryLedger` | volatile: for tests, and for `sequent dev` |
//! | `mongodb` | `mongodb::MongodbStore` (`mongodb`) | – | durable, or refused; tested against a double only |
//! | `mysql` | `mysql::MysqlRowStore` (`mysql-row`), `MysqlSegmentStore` (`mysql-segment`), `MysqlAutoIncrementStore` (`mysql-auto-increment`) | `mysql::MysqlLedger` | durable, if the server's settings are |
//! | `postgres` | `postgres::PostgresStore` (`postgres-row`) | `postgres::PostgresLedger` | durable, by the server's settings |
//! | `redis` | `redis::RedisStore` (`redis`): Redis, Valkey | none | by the server's settings: volatile, lossy or durable |
//! | `sqlite` | `sqlite::SqliteStore` | `sqlite::SqliteLedger` | durable: the embedded default |
//!
//! The feature `mutation` lets tests switch off single rules of the guard. No released binary has it.
//!
//! A backend counts in cells under epochs. Slots, `<< n`, eviction, prefetch, templates and retries belong to the
//! layers above. Its contract is [`Store`](sequent_core::Store) and [`ledger`](sequent_core::ledger). The reference
//! implementation is `memory::Cells` and `memory::LedgerState`, with every case of each call: read it before any other
//! engine.
//!
//! # Adding a store
//!
//! ARCHITECTURE.md has the six steps. Each engine must meet these requirements:
//!
//! - **Epoch check:** the statement that counts compares the epoch. If a deleted counter would silently begin again at
//!   1, the engine can't be a store.
//! - **Instance:** its id changes when the engine restarts, fails over or is restored. A connection reads it once. A
//!   call under another instance fails with `InstanceChanged` before it changes anything.
//! - **Calls:** one statement each where possible. `take` and `lift` change a cell only if it is open and of the epoch.
//!   `close` writes its mark whatever the cell holds. `install` opens only its own close. A value above `i64::MAX` is
//!   `Exhausted`. An engine that can only compare and swap gets its calls from `store::cas`.
//! - **Faults:** `net::Fault`, whose variants state whether an operation may have been done.
//! - **Tests:** `sequent_testkit::store_conformance!` over a fixture, about thirty tests with a race of takes against
//!   closes among them. Then the tests of this engine alone: kill it, restore it, fill its disk.
//!
//! A ledger implements `ledger::LedgerEngine`; an SQL engine brings only statements and a session. Its tests are
//! `ledger_conformance!` and `ledger_mutations!`.

#![cfg_attr(
    not(feature = "full"),
    allow(
        dead_code,
        unused_imports,
        reason = "a build that leaves engines out uses less of what they share"
    )
)]
#![allow(private_bounds, reason = "engines are this crate's own")]

#[cfg(feature = "etcd")]
pub mod etcd;
pub mod foreign;
pub mod kinds;
pub mod ledger;
#[cfg(feature = "memcached")]
pub mod memcached;
#[cfg(feature = "memory")]
pub mod memory;
#[cfg(feature = "mongodb")]
pub mod mongodb;
#[cfg(feature = "mysql")]
pub mod mysql;
pub mod net;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "redis")]
pub mod redis;
mod sql;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod store;
