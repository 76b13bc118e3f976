//! Unique business numbers for a service: the client of a Sequent cluster.
//!
//! ```no_run
//! # async fn run() -> Result<(), sequent_client::Error> {
//! use sequent_client::Client;
//!
//! let client = Client::connect("http://a:7420,http://b:7420").await?;     // or Client::from_env()
//! let orders = client.sequence("order")?;         // Clone + Send + Sync; making one does no I/O
//! let number = orders.next().await?;              // from a local lease: nanoseconds; awaits only when dry
//! # Ok(()) }
//! ```
//!
//! # What it promises
//!
//! - **No number twice**, however often a call is made again, whatever server it went to. Numbers that may have been
//!   served and were not received are burnt, never asked for back; dropping a client burns what it holds.
//! - **[`Sequence::next`] costs nanoseconds.** Numbers are leased ahead of demand. A lease is handed out for ten seconds at
//!   most, also by a process that was suspended meanwhile: then at most a tenth of a second of old numbers leaves.
//! - **One server that dies, hangs or stops costs no call.** Each call goes to another endpoint, within its deadline; who
//!   failed is tried again by itself, under the rules by which a server treats its shards.
//! - **An address where something else answers** costs no call either, while another one is a server's; where none is, the
//!   error says what was found.
//! - **All servers gone** means: what is leased is served, then an error that says so and is retryable, within the deadline.
//!
//! Numbers that must not have been in anybody's memory, in an order that others can see, come from [`Sequence::next_fresh`].
//!
//! Metrics go through the [`metrics`](https://docs.rs/metrics) facade, all named `sequent_client_…`.
//!
//! Suggested reading order: `client`, `sequence`, `lease` (a server's lease as a source), `endpoints`, `wire`.

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
/// What [`Definitions`] asks and is answered with: `sequent.v1`.
pub use sequent_proto::v1;
