//! Real servers for tests: each on a free port of 127.0.0.1 with a data directory of its own, to be killed, hung,
//! restarted and put back to an old copy.
//!
//! A server is a [`Server`] of an [`Engine`]; the engine says which program it is, how an empty data directory is
//! filled, with which arguments it starts and when it answers. What is not installed fails the test, with the name of
//! the Debian package: a test never skips itself.
//!
//! ```no_run
//! # async fn example() {
//! use sequent_testkit::servers::MariaDb;
//! let server = MariaDb::start().await;
//! server.sql("CREATE TABLE t (id INT PRIMARY KEY)").await;
//! let copy = server.copy().await;
//! server.kill().await;
//! server.restore_from(&copy).await;
//! println!("{}", server.url());
//! # }
//! ```
//!
//! What goes wrong here panics: it is the test that failed. The time is real, so a test with paused time has no use
//! for these.

mod account;
mod engine;
mod etcd;
mod home;
mod mariadb;
mod memcached;
mod port;
mod postgres;
mod process;
mod program;
mod redis;
mod server;
mod sql;
mod template;
mod tool;
mod tree;
mod watchdog;

pub use engine::{Engine, Place, Signal};
pub use etcd::{Etcd, EtcdServer};
pub use mariadb::{Maria, MariaDb};
pub use memcached::{Memcached, MemcachedServer};
pub use port::Port;
pub use postgres::{PostgreSql, Postgres};
pub use program::Program;
pub use redis::{Redis, RedisLike, RedisServer, SpeaksRedis, Valkey, ValkeyServer};
pub use server::{DataCopy, Server};
pub use sql::Sql;
