//! MongoDB store: two collections in a database of its own.
//!
//! Reading order: `fault` (errors), `server` (driver options), `pinned_connection` (one connection of the driver),
//! `hello` (the server's process), `collection` (commands), `schema` (the collections), `connection` (the instance), then `store`.
//!
//! **Tested against a double of the wire protocol (`testkit::mongo`), and never run against a real server.** `FerretDB` 1 is
//! no substitute, and is refused: its `findAndModify` is not atomic.
//!
//! Properties that uniqueness rests on:
//!
//! - Each call is one `findAndModify` of one document, which MongoDB makes atomic; none creates a document. The query
//!   has all conditions (epoch, openness, range), and the server adds only to a 64-bit integer.
//! - A write is acknowledged by a majority, from its journal (`w: "majority", j: true`). A server without a journal
//!   refuses such a write, so the store is durable or refused, never lossy. Commands are sent in raw form, so the
//!   driver retries none of them, whatever its settings.
//! - A connection is closed if a call on it was dropped, or failed with more than the call's own error. So no later
//!   call reads its reply. The driver's pool could open connections by itself and carry a call to a server that
//!   restarted meanwhile. Hence each of our connections has a driver pool of one. It is given up before anything is
//!   sent on a second connection (`pinned_connection`).
//! - Each connection reads the instance once: the server's process (`topologyVersion.processId`), the election that
//!   made it primary, and the UUID of the collection of cells. `mongorestore --drop` changes that UUID.
//! - A server that supports `collectionUUID` (6.0 and later) compares the UUID in every statement. On others it is read
//!   again whenever an epoch is closed, a call is refused, or the store is inspected.
//! - A router of a sharded cluster (`mongos`) is refused: it does not report which server counts, and since when.
//!
//! # Privileges
//!
//! A database of its own, and a user of that database with read and write access to it alone:
//!
//! ```text
//! use seq
//! db.createUser({ user: "seq", pwd: passwordPrompt(), roles: [{ role: "readWrite", db: "seq" }] })
//! ```

mod collection;
mod connection;
mod fault;
mod hello;
mod pinned_connection;
mod schema;
mod server;
mod store;

pub use store::MongodbStore;
