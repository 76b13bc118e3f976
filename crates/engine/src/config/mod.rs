//! One TOML file, each room's part in a file of its own; flag over environment over file over default.
//!
//! Every fault is reported at once, as [`Fault`]: key, value, bound. Nothing is touched while a configuration is read.
//!
//! ```
//! use sequent_engine::config::{Config, Sources};
//! let sources = Sources::embedded("sequent-data").flag("ring.shard_bits", "11").flag("limits.max_count", "0");
//! let faults = Config::load(&sources).unwrap_err();
//! assert_eq!(faults.0.len(), 2);
//! assert_eq!(faults.0[0].to_string(), "ring.shard_bits is 11: 0 to 10 are allowed");
//! ```

mod check;
mod cluster;
mod fault;
mod kind;
mod ledger;
mod limits;
mod listen;
mod obf_key;
mod place;
mod places;
mod reservoir;
mod ring;
mod secret;
mod section;
mod sequence;
mod server;
mod service_links;
mod shard;
mod shown;
mod sources;
mod traces;

use section::Section;

pub use cluster::Config;
pub use fault::{Fault, Faults};
pub use ledger::LedgerPart;
pub use limits::LimitsPart;
pub use listen::ListenPart;
pub use place::Place;
pub use reservoir::{ReservoirPart, SERVERS_MAX};
pub use ring::RingPart;
pub use sequence::SequencePart;
pub use server::{ServerPlace, Tls};
pub use shard::ShardPart;
pub use shown::{Origin, Shown};
pub use sources::Sources;
pub use traces::TracesPart;
