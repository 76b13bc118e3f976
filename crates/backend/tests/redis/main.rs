//! The Redis store on real servers: the conformance suite, servers killed, hung, emptied and filled from others, and what
//! is refused.
#![cfg(feature = "redis")]
#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod histories;
mod network;
mod processes;
mod refusals;
mod store;
mod support;
mod tampering;
mod tls;
mod witness;
