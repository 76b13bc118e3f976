//! The doors of Sequent: gRPC, HTTP/JSON, and the admin listener.
//!
//! Reading order: [`run`] (start, drain, end), `teller` (what every door asks for), `fault` (one error table for all
//! doors), `grpc` and `http` (a door each), `bounds` (every limit, with its number), `accept` (connections).
//!
//! This crate knows neither stores nor rings nor queues: all numbers come from an [`Engine`](sequent_engine::Engine).

mod admin;
mod connection;
mod grpc;
mod http;
mod limits;
mod run;
mod service;
mod shutdown;
mod telemetry;

pub use connection::accept::Listeners;
pub use limits::fd_budget::FdBudget;
pub use limits::runtime_limits::{ConfigChange, RuntimeLimits};
pub use run::{Drained, ServerOptions, run};
pub use telemetry::metric_names::METRICS;
pub use telemetry::recorder::Recorder;
#[cfg(feature = "otel")]
pub use telemetry::traces::Traces;
