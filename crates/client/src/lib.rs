//! Client (SDK) of a Sequent cluster: unique numbers for a service.
//!
//! ```no_run
//! # async fn run() -> Result<(), sequent_client::Error> {
//! use sequent_client::Client;
//!
//! let client = Client::connect("http://a:7420,http://b:7420").await?;     // or Client::from_env()
//! let orders = client.sequence("order")?;         // Clone + Send + Sync; making one does no I/O
//! let number = orders.next().await?;              // from a local lease: nanoseconds; awaits only if it is used up
//! # Ok(()) }
//! ```
//!
//! # Guarantees
//!
//! - **No number twice**, however often a call is retried and on whichever server. Numbers that may have been served
//!   but were not received are burnt: they are never requested again. Dropping a client burns the numbers that it
//!   holds.
//! - **[`Sequence::next`] costs nanoseconds.** Numbers are leased ahead of demand. A lease is used for at most ten
//!   seconds. After a suspension of the process, numbers that are too old leave for at most a tenth of a second.
//! - **A server that dies, hangs or stops costs no call.** Each call goes on to another endpoint within its deadline.
//!   A failed endpoint is probed in the background, under the same health rules as a shard of a server.
//! - **An address where another program answers** costs no call while another endpoint is a server. If none is, the
//!   error says what was found.
//! - **If all servers are down**, leased numbers are served. After that, calls fail within their deadline with a
//!   retryable error.
//!
//! [`Sequence::next_fresh`] returns numbers that were never held in memory, in an order that other clients can
//! observe.
//!
//! Metrics use the [`metrics`](https://docs.rs/metrics) facade and are named `sequent_client_…`.
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | `client` | [`Client`], its builder, options, state and background thread |
//! | `sequence` | [`Sequence`] and the futures that take numbers |
//! | `lease` | leases of one sequence, as the source of its reservoir |
//! | `transport` | endpoints, failover, the gRPC connection and its errors |
//! | `render` | texts of numbers, rendered locally or by a server |
//! | `memory` | a cluster in memory, for tests of users |
//! | [`blocking`] | the same API without `async` |
//! | `retry_deadline`, `error`, `telemetry` | retries, errors, metrics |
//!
//! Suggested reading order: `client`, `sequence`, `lease`, `transport`.

pub mod blocking;
mod client;
mod error;
mod lease;
mod memory;
mod number;
mod render;
mod retry_deadline;
mod sequence;
mod telemetry;
#[cfg(test)]
mod tests;
mod transport;

pub use client::Client;
pub use client::builder::ClientBuilder;
pub use client::definitions::Definitions;
pub use error::{Error, ErrorKind, Field};
pub use number::{Number, NumberError};
pub use render::text::Issued;
pub use sequence::Sequence;
pub use sequence::batch::Batch;
pub use sequence::local::{Local, LocalNext};
pub use sequence::next::Next;
/// Functions of templates: [`ClientBuilder::function`].
pub use sequent_format::{Arguments, Function};
/// Requests and responses of [`Definitions`]: the package `sequent.v1`.
pub use sequent_proto::v1;
/// All metrics, for the page that describes them.
#[doc(hidden)]
pub use telemetry::metric_table::METRICS;
#[doc(hidden)]
pub use transport::{
    tls::{ClientTls, TlsOptions},
    token_file::warn_of_readable,
};
