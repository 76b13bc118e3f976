//! PostgreSQL: a schema per store, and one for the ledger.
//!
//! Reading order: `server` (driver options), `session` (login, settings and statements), `schema` (tables appear
//! complete or not at all), `connection` (the instance), `fault` (errors), then `store` and `ledger`.
//!
//! Properties that uniqueness rests on:
//!
//! - A row of `RETURNING` arrives before the commit. A value counts once its statement has run to its end, which is the
//!   server's `ReadyForQuery`. So statements use `fetch_all`, never the first row of a stream.
//! - A row update is as durable as its commit. `nextval` is not: it writes nothing for 31 of 32 calls.
//! - A connection is closed if a call on it was dropped, or failed with more than the call's own error. So no later
//!   call reads its reply.
//! - Each connection reads the instance once: the cluster's identifier and timeline, the server's start time, a name in
//!   an unlogged table, and the file of the table of cells. Any recovery empties the unlogged table, even one after the
//!   crash of a single backend.
//! - Every statement that counts compares that file. So a dump loaded over the tables under a running process changes
//!   nothing. `VACUUM FULL` and `CLUSTER` also create a new file, hence a new epoch of each counter.
//! - The server's process is compared whenever a connection reads its instance or counts. A proxy that spreads
//!   statements over several connections is refused once detected, and none of its answers is used.
//!
//! # Privileges
//!
//! A role that creates its own tables (`create`) needs, in a database of any encoding:
//!
//! ```sql
//! CREATE ROLE seq LOGIN PASSWORD '…';
//! GRANT CONNECT, CREATE ON DATABASE seq TO seq;
//! ```
//!
//! If the administrator creates the schema (`CREATE SCHEMA sequent_store AUTHORIZATION seq`), `CONNECT` is enough. A
//! role that only uses existing tables of another role needs, for a store:
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
//! GRANT SELECT, INSERT ON sequent_ledger.run, sequent_ledger.history TO seq_run;
//! GRANT SELECT, UPDATE ON sequent_ledger.meta TO seq_run;
//! GRANT SELECT, INSERT, UPDATE ON sequent_ledger.dense TO seq_run;
//! GRANT SELECT, INSERT, UPDATE, DELETE ON sequent_ledger.counters, sequent_ledger.servers,
//!     sequent_ledger.documents TO seq_run;
//! ```

mod connection;
mod durability;
mod fault;
mod ledger;
mod privileges;
mod schema;
mod server;
mod session;
mod store;

pub(crate) use fault::from_driver;
pub use ledger::PostgresLedger;
pub(crate) use server::connect_to_read;
pub use store::PostgresStore;
