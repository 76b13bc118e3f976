//! MySQL and MariaDB: three store kinds, and a ledger that several servers can share.
//!
//! Reading order: `server` (driver options), `settings` (durability, and refused servers), `tables`, `connection` (the
//! instance), `fault` (errors), then `store` and `ledger`.
//!
//! Properties that uniqueness rests on:
//!
//! - The id of a take is read from the OK packet, and one affected row is demanded (`CLIENT_FOUND_ROWS`).
//!   `LAST_INSERT_ID()` alone would repeat the value before if no row matched.
//! - A connection reads the instance when it is opened. It consists of a token in a table of engine MEMORY, which each
//!   start of the server empties; the server's id, host and port; and the creation time of the cells' table, which a
//!   loaded dump changes.
//! - A connection is reused only after its operation has ended.
//! - Each call on a cell is one autocommitted statement. A client that stalled inside a transaction would block all
//!   takes.
//!
//! # Grants
//!
//! Each store and each ledger needs a database of its own, created by the operator, and a user with exactly these
//! grants. `CREATE` is needed only while missing tables may be created
//! ([`ServerOptions::create`](crate::net::ServerOptions::create)). `mysql-auto-increment` also needs it at the first
//! use of each sequence, and `DELETE` unless all rows are kept.
//!
//! ```sql
//! GRANT SELECT, INSERT, UPDATE, CREATE ON `shard0`.* TO 'sequent'@'%';          -- mysql-row, mysql-segment
//! GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `shard0`.* TO 'sequent'@'%';  -- mysql-auto-increment
//! GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `ledger`.* TO 'sequent'@'%';  -- a ledger
//! ```
//!
//! With `DELETE` on `sequent_cells` as well, `mysql-row` and `mysql-segment` remove the cells of deleted periods.
//! Without it they keep them.

mod connection;
mod fault;
mod ledger;
mod privileges;
mod server;
mod settings;
mod store;
mod tables;

pub use ledger::MysqlLedger;
pub(crate) use server::connect_to_read;
pub use store::{MysqlAutoIncrementStore, MysqlRowStore, MysqlSegmentStore};
