//! Server of Sequent: gRPC, HTTP/JSON, the protocol of Redis, and the admin listener.
//!
//! | module | contents |
//! |---|---|
//! | [`run`] | start, drain and shutdown of a server |
//! | `service` | what all APIs call: numbers, definitions, request ids |
//! | `error` | the error of every API, as a gRPC status, an HTTP problem document and a line of RESP |
//! | `grpc`, `http` | one module per protocol: the measured `fast_path` of `Next`, and an axum router behind it |
//! | `auth` | who may ask for what: principals, their verbs and quotas; called by every API |
//! | `redis` | the protocol of Redis: its requests and replies, and a table of commands |
//! | `admin` | an axum router: health, metrics, status, the console, and what operators change |
//! | `audit` | the audit log: a chained file of changes and refusals |
//! | `connection` | the accept loop, and one connection from its first byte to its close |
//! | `limits` | every limit with its number, and the quotas that enforce them |
//! | `shutdown` | phases of the shutdown, and the drain |
//! | `tls` | handshakes, the files of `[tls]` and their reload, the certificate of a peer |
//! | `telemetry` | metrics, their recorder, and traces |
//!
//! Suggested reading order: [`run`], `service`, `http`, `grpc`, `redis`, `limits`, `connection`.
//!
//! This crate knows no stores, rings or queues: all numbers come from an [`Engine`](sequent_engine::Engine).

mod admin;
mod audit;
mod auth;
mod connection;
mod error;
mod grpc;
mod http;
mod limits;
mod redis;
mod run;
mod service;
mod shutdown;
mod telemetry;
mod tls;

pub use audit::{Audit, AuditBroken, AuditChain};
pub use auth::{Auth, Token};
pub use connection::accept::Listeners;
pub use limits::fd_budget::FdBudget;
pub use limits::runtime_limits::{ConfigChange, RuntimeLimits, principal_changes};
pub use run::{Drained, ServerOptions, run};
pub use telemetry::metric_table::{METRICS, PROCESS_METRICS};
pub use telemetry::recorder::Recorder;
#[cfg(feature = "otel")]
pub use telemetry::traces::Traces;
pub use tls::{ServerTls, TlsFiles, TlsWatch};
