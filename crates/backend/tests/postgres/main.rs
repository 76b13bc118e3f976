//! The PostgreSQL store and ledger on real servers: the conformance suites, servers killed, hung and put back, and what
//! is refused.
#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod commits;
mod dropped;
mod environment;
mod instances;
mod interrupted;
mod ledger;
mod network;
mod processes;
mod proxies;
mod refusals;
mod store;
mod support;
mod tls;
