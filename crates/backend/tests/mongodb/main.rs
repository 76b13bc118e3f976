//! The MongoDB store on a double of a server: the conformance suite, servers killed, hung and put back, and what is refused.
//! There is no MongoDB server to be had; the double is `testkit::mongo`.
#![cfg(feature = "mongodb")]
#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod commands;
mod instances;
mod interrupted;
mod processes;
mod refusals;
mod store;
mod support;
