//! MongoDB: a shard in two collections of a database of its own.
//!
//! Reading order: `fault` (what the server says, and what it means), `server` (what the driver is told), `pinned_connection` (one
//! connection of the driver), `hello` (which process answers), `schema` (the collections), `connection` (which instance
//! answers), then `store`.
//!
//! **Tested against a double that speaks the wire protocol (`testkit::mongo`), and never run against a real server.**
//!
//! What it rests on:
//!
//! - Each call is one `findAndModify` of one document, which MongoDB makes atomic; none of them creates a document. What
//!   decides (epoch, openness, the range) stands in the query, and the server adds only to a 64-bit integer.
//! - A write is acknowledged by a majority, from its journal (`w: "majority", j: true`). A server that keeps no journal
//!   refuses such a write, so there is no lossy class: it is durable, or refused. Commands are written out and sent as they
//!   are: the driver repeats none of them, whatever its settings.
//! - A connection whose call was dropped, or that failed with more than an answer, is closed. Nobody meets its reply. The
//!   driver's pool opens connections by itself, and would so carry a call to a server that was restarted meanwhile: hence
//!   a pool of one for each connection of ours, which is given up before anything is sent on a second one
//!   (`pinned_connection`).
//! - Each connection learns once which instance answers: the server's process (`topologyVersion.processId`), the election that made it
//!   primary, and the identity of the collection that counts, which is another one after `mongorestore --drop`. A server
//!   that can (6.0 and later, where it takes `collectionUUID`) compares the latter in every statement; another one is asked
//!   whenever an epoch is closed, a call refused, or the store looked at.
//! - A router of a sharded cluster (`mongos`) is refused: which server counts behind it, and since when, it does not say.
//!
//! # Privileges
//!
//! A database of its own, and a user of that database who may read and write there, and nowhere else:
//!
//! ```text
//! use seq
//! db.createUser({ user: "seq", pwd: passwordPrompt(), roles: [{ role: "readWrite", db: "seq" }] })
//! ```

mod connection;
mod fault;
mod hello;
mod open;
mod pinned_connection;
mod schema;
mod server;
mod store;

pub(crate) use open::open_store;
pub use store::{MongodbStore, MongodbStoreEngine};
