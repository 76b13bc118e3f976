//! The ledger on real members of etcd: the conformance suite, members killed, hung and put back, and what is refused.
#![cfg(feature = "etcd")]
#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod access;
mod ledger;
mod members;
mod runs;
mod support;
mod tls;
