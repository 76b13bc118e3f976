//! The doors of Sequent: gRPC, HTTP/JSON, and the admin listener.
//!
//! Reading order: [`run`] (start, drain, end), `teller` (what every door asks for), `fault` (one error table for all
//! doors), `grpc` and `http` (a door each), `bounds` (every limit, with its number), `accept` (connections).
//!
//! This crate knows neither stores nor rings nor queues: all numbers come from an [`Engine`](sequent_engine::Engine).

mod accept;
mod admin;
mod arriving;
mod aside;
mod bounds;
mod closing;
mod connection;
mod console;
mod counted;
mod crowd;
mod definitions;
mod descriptors;
mod dials;
mod drain;
mod fault;
mod grpc;
mod http;
mod inline;
mod meter;
mod names;
mod outage;
mod parting;
mod phase;
mod places;
mod recorder;
mod request_id;
mod run;
mod standing;
mod stream;
mod teller;
#[cfg(feature = "otel")]
mod traces;
#[cfg(not(feature = "otel"))]
#[path = "untraced.rs"]
mod traces;
mod unread;
mod vitals;

pub use accept::Listeners;
pub use descriptors::Descriptors;
pub use dials::{Change, Dials};
pub use names::METRICS;
pub use recorder::Recorder;
pub use run::{Drained, Serving, run};
#[cfg(feature = "otel")]
pub use traces::Traces;
