//! The stores and ledgers, one folder an engine, each behind a feature.
//!
//! | feature | store | ledger | durability |
//! |---|---|---|---|
//! | `etcd` | none | `etcd::EtcdLedger` | durable, by its members |
//! | `memcached` | `memcached::MemcachedStore` (`memcached`) | none | volatile |
//! | `memory` | `memory::MemoryStore` | `memory::MemoryLedger` | volatile: for tests, and for `sequent dev` |
//! | `mongodb` | `mongodb::MongodbStore` (`mongodb`) | – | durable, or refused; tested against a double only |
//! | `mysql` | `mysql::MysqlStore`: `mysql-row`, `mysql-segment`, `mysql-auto-increment` | `mysql::MysqlLedger` | durable, if the server's settings are |
//! | `postgres` | `postgres::PostgresStore` (`postgres-row`) | `postgres::PostgresLedger` | durable, by the server's settings |
//! | `redis` | `redis::RedisStore` (`redis`): Redis, Valkey | none | by the server's settings: volatile, lossy or durable |
//! | `sqlite` | `sqlite::SqliteStore` | `sqlite::SqliteLedger` | durable: the embedded default |
//!
//! The feature `mutation` lets tests switch single rules of the guard off; no binary is built with it.
//!
//! A backend counts in cells, with lives, and knows nothing of slots, `<< n`, eviction, prefetch, templates or retry.
//! What it owes stands on [`Store`](sequent_core::Store) and in [`ledger`](sequent_core::ledger); how each verb behaves
//! in every case is `memory::Cells` and `memory::LedgerState`, to be read before any other engine.
//!
//! # Adding a store in six steps
//!
//! 1. **Can it be one?** It must check the life in the statement that counts. Where a deleted counter begins again at 1
//!    and nothing tells, the store is not safe behind a guard, and is refused.
//! 2. **Incarnation.** Find what changes when the engine restarts, fails over or is restored; read it once a connection,
//!    and let a verb under another one fail with `Reborn` before it touches anything.
//! 3. **Folder and feature.** `src/<engine>/`, a feature of that name in `Cargo.toml`, two lines here.
//! 4. **Verbs.** One statement each where it can be: `take` and `lift` change a cell that is open and of the life, or
//!    nothing; `close` writes its mark on everything; `install` opens its own close only. Past `i64::MAX` is `Exhausted`.
//!    An engine that can only compare and swap brings a `Register` (`src/cas`), and has the verbs from there.
//! 5. **Errors.** Each of the engine's becomes a kind: unreachable is `Unavailable`, login, schema and settings are
//!    `Refused`, lost races after a bounded retry `Contended`, no row `Regressed`. A future that is dropped costs its
//!    connection.
//! 6. **Proof.** A fixture of some fifty lines and `sequent_testkit::store_conformance!(fixture)`: some thirty tests, with
//!    the race of takers against closers among them. Then what only this engine does: kill it, restore it, fill its disk.
//!
//! A ledger implements `ledger::LedgerEngine`, or on SQL its statements and a session, and is held to `ledger_conformance!` and
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
