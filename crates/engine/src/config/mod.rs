//! Configuration from one TOML file. A flag overrides the environment, which overrides the file, which overrides the
//! default.
//!
//! Every fault is reported at once, as [`Fault`]: key, value, bound. Nothing is changed while a configuration is read.
//!
//! ```
//! use sequent_engine::config::{Config, Sources};
//! let sources = Sources::embedded("sequent-data").flag("ring.shard_bits", "11").flag("limits.max_count", "0");
//! let faults = Config::load(&sources).unwrap_err();
//! assert_eq!(faults.0.len(), 2);
//! assert_eq!(faults.0[0].to_string(), "ring.shard_bits is 11: 0 to 10 are allowed");
//! ```

mod cluster;
mod collector;
mod fault;
mod location;
mod locations;
mod origins;
mod secret;
mod sections;
mod service_links;
mod sources;
mod table_reader;

use table_reader::TableReader;

pub use cluster::Config;
pub use fault::{Fault, Faults};
pub use location::Place;
pub use origins::{Origin, Shown};
pub use sections::ledger::LedgerPart;
pub use sections::limits::LimitsPart;
pub use sections::listen::ListenPart;
pub use sections::reservoir::{ReservoirPart, SERVERS_MAX};
pub use sections::ring::RingPart;
pub use sections::sequence::SequencePart;
pub use sections::server::{ServerPlace, Tls};
pub use sections::shard::ShardPart;
pub use sections::traces::TracesPart;
pub use sources::Sources;
