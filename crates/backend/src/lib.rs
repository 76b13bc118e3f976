//! The stores and ledgers, one folder an engine, each behind a feature.
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
//! The feature `mutation` lets tests switch single rules of the guard off; no binary is built with it.
//!
//! A backend counts in cells, with epochs, and knows nothing of slots, `<< n`, eviction, prefetch, templates or retry.
//! What it owes stands on [`Store`](sequent_core::Store) and in [`ledger`](sequent_core::ledger); how each verb behaves
//! in every case is `memory::Cells` and `memory::LedgerState`, to be read before any other engine.
//!
//! # Adding a store
//!
//! ARCHITECTURE.md has the six steps. What an engine owes:
//!
//! - **The epoch is checked in the statement that counts.** Where a deleted counter begins again at 1 and nothing tells, the engine can't be a
//!   store.
//! - **The instance** is what changes when the engine restarts, fails over or is restored. A connection reads it once; a call under another
//!   one fails with `Reborn` before it touches anything.
//! - **Calls** are one statement each where they can be: `take` and `lift` change a cell that is open and of the epoch, or nothing; `close`
//!   writes its mark on everything; `install` opens its own close only. Past `i64::MAX` is `Exhausted`. An engine that can only compare and
//!   swap has its calls from `store::cas`.
//! - **Faults** are `net::Fault`, which says what is known of the outcome.
//! - **Proof** is `sequent_testkit::store_conformance!` over a fixture: some thirty tests, the race of takers against closers among them.
//!   Then what only this engine does: kill it, restore it, fill its disk.
//!
//! A ledger is `ledger::LedgerEngine`, or on SQL its statements and a session, and is held to `ledger_conformance!` and
//! `ledger_mutations!`.

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
