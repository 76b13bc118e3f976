//! A double of a MongoDB server: it speaks the wire protocol, and does what the store asks of it, so that the store's
//! conformance suite runs where no MongoDB is to be had. **It is no MongoDB**: what it does is what the manual says a
//! server does, and nobody has compared the two.
//!
//! It is small, and honest: a command, a field, an operator or a type that it does not know is an error, never passed over.
//! Each command is atomic (one lock). What was written with `j: true` outlives [`kill`](MongoDouble::kill), the rest does
//! not. It runs in threads of the test's process, which are killed by cutting their connections off.
//!
//! Suggested reading order: `double` (what a test does to it), `server` (its threads), `wire`, `commands`, `session` (hello
//! and login), `scram`, `writes`, `query`, `update`, `data`.
//!
//! ```
//! use sequent_testkit::mongo::MongoDouble;
//! let server = MongoDouble::start();
//! let copy = server.copy();
//! server.kill();
//! server.restore(&copy);
//! println!("{}", server.url());
//! ```

mod commands;
mod data;
mod double;
mod query;
mod scram;
mod server;
mod session;
mod update;
mod wire;
mod writes;

pub use double::{DataCopy, MongoDouble, Role, Setting};
