//! MySQL and MariaDB: three ways to count, and a ledger that several servers can share.
//!
//! Reading order: `server` (what the driver is told), `settings` (what decides durability, and what is refused), `tables`,
//! `connection` (who answers), `fault` (what the server says, and who must react), then `store` and `ledger`.
//!
//! What it rests on:
//!
//! - The id of a take is read from the OK packet, with one affected row demanded (`CLIENT_FOUND_ROWS`):
//!   `LAST_INSERT_ID()` repeats the value before where no row matched.
//! - A connection learns the server's instance when it is opened: a token in a table of engine MEMORY, which each start
//!   of the server empties, its id, host and port, and when the table of cells was made, which a dump that is loaded changes.
//! - A connection is used again only after its operation has come to its end.
//! - Autocommit: each verb on a cell is one statement. Who stalls inside a transaction would block the takes of all.
//!
//! # Grants
//!
//! A database of its own for each store and ledger, which the operator creates, and a user with exactly these grants. `CREATE`
//! is needed only as long as missing tables may be made ([`ServerOptions::create`](crate::net::ServerOptions::create)), with `mysql-auto-increment` at the first
//! touch of each sequence too.
//!
//! ```sql
//! GRANT SELECT, INSERT, UPDATE, CREATE ON `shard0`.* TO 'sequent'@'%';          -- mysql-row, mysql-segment
//! GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `shard0`.* TO 'sequent'@'%';  -- mysql-auto-increment
//! GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `ledger`.* TO 'sequent'@'%';  -- a ledger
//! ```
//!
//! Where `DELETE` on `sequent_cells` is granted as well, `mysql-row` and `mysql-segment` remove the cells of periods that are over
//! for good; without it they keep them.

mod connection;
mod fault;
mod ledger;
mod open;
mod privileges;
mod server;
mod settings;
mod store;
mod tables;

pub use ledger::MysqlLedger;
pub(crate) use open::{open_auto_increment, open_ledger, open_row, open_segment};
pub use store::{MysqlAutoIncrementStore, MysqlRowStore, MysqlSegmentStore};
