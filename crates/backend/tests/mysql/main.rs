//! The MySQL stores and ledger on a real MariaDB: the conformance suites, and what happens to servers.
#![cfg(feature = "mysql")]
#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod adopted;
mod auto_increment;
mod code_tables;
mod ledger;
mod mishaps;
mod misused;
mod processes;
mod reach;
mod refusals;
mod row;
mod segment;
mod servers;
mod support;
mod tls;
