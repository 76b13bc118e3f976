//! The memcached store on real servers: the conformance suite, servers killed, hung, flushed and filled, and what is
//! refused.
#![cfg(feature = "memcached")]
#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod forgetting;
mod network;
mod processes;
mod refusals;
mod store;
mod support;
