//! The SQLite store and ledger: the conformance suites, what happens to files, and many processes.
#![cfg(feature = "sqlite")]
#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod disk;
mod files;
mod gone;
mod ledger;
mod mishaps;
mod processes;
mod servers;
mod severed;
mod store;
mod support;
mod used;
