//! PostgreSQL: a schema a shard, and one for the ledger.
//!
//! Reading order: `server` (what the driver is told), `session` (a login and its settings, and statements), `schema` (tables appear
//! complete or not at all), `connection` (who answers), `fault` (what the server says, and who must react), then `store` and
//! `ledger`.
//!
//! What it rests on:
//!
//! - A row of `RETURNING` arrives before the commit. A value counts once its statement has run to its end, which is the
//!   server's `ReadyForQuery`: `fetch_all`, never the first row of a stream.
//! - A row update is as durable as its commit. `nextval` is not: for 31 of 32 calls it writes nothing.
//! - A connection whose verb was dropped, or that failed with more than an answer, is closed. Nobody meets its reply.
//! - Each connection learns once who speaks: the cluster's identifier and timeline, the server's start, a name in an
//!   unlogged table (gone after any recovery, also that which follows the death of a single backend), and the file of the
//!   table that counts, which every statement that counts compares: a dump that is loaded over the tables under a
//!   running process touches nothing. `VACUUM FULL` and `CLUSTER` make a new file too, hence a new epoch of each counter.
//! - The server's process is compared wherever something is learned or counted: a proxy that shares out connections is
//!   refused when it is noticed, and nothing that it answered is used.
//!
//! # Privileges
//!
//! A role that makes its own tables (`create`) needs, in a database of any encoding:
//!
//! ```sql
//! CREATE ROLE seq LOGIN PASSWORD '…';
//! GRANT CONNECT, CREATE ON DATABASE seq TO seq;
//! ```
//!
//! Where the administrator makes the schema (`CREATE SCHEMA sequent_store AUTHORIZATION seq`), `CONNECT` is enough.
//! A role that only uses tables which another one has made needs, for a store:
//!
//! ```sql
//! GRANT CONNECT ON DATABASE seq TO seq_run;
//! GRANT USAGE ON SCHEMA sequent_store TO seq_run;
//! GRANT SELECT ON sequent_store.about TO seq_run;
//! GRANT SELECT, INSERT ON sequent_store.run TO seq_run;
//! GRANT SELECT, UPDATE ON sequent_store.shard TO seq_run;
//! GRANT SELECT, INSERT, UPDATE ON sequent_store.cells TO seq_run;
//! ```
//!
//! and for a ledger:
//!
//! ```sql
//! GRANT CONNECT ON DATABASE seq TO seq_run;
//! GRANT USAGE ON SCHEMA sequent_ledger TO seq_run;
//! GRANT SELECT ON sequent_ledger.about TO seq_run;
//! GRANT SELECT, INSERT ON sequent_ledger.run, sequent_ledger.history, sequent_ledger.definitions TO seq_run;
//! GRANT SELECT, UPDATE ON sequent_ledger.meta TO seq_run;
//! GRANT SELECT, INSERT, UPDATE ON sequent_ledger.layout, sequent_ledger.advances, sequent_ledger.dense,
//!     sequent_ledger.words TO seq_run;
//! GRANT SELECT, INSERT, UPDATE, DELETE ON sequent_ledger.counters, sequent_ledger.servers,
//!     sequent_ledger.slots TO seq_run;
//! ```

mod connection;
mod durability;
mod fault;
mod ledger;
mod open;
mod privileges;
mod schema;
mod server;
mod session;
mod store;

pub use ledger::PostgresLedger;
pub(crate) use open::{open_ledger, open_store};
pub use store::PostgresStore;
