//! Configuration from one TOML file. A flag overrides the environment, which overrides the file, which overrides the
//! default.
//!
//! Every fault is reported at once, as [`Fault`]: place, key, value, bound. Nothing is changed while a configuration is
//! read.
//!
//! ```
//! use sequent_engine::config::{Config, Sources};
//! let sources = Sources::embedded("sequent-data").flag("ring.shard_bits", "11").flag("limits.max_count", "0");
//! let faults = Config::load(&sources).unwrap_err();
//! assert_eq!(faults.0.len(), 2);
//! assert_eq!(faults.0[0].to_string(), "flag: ring.shard_bits is 11: 0 to 10 are allowed");
//! ```
//!
//! A setting is one entry in its section, in `sections/`: name, type, default, bound, and the comment that is its text
//! on the reference page, which [`reference()`] writes.

mod auth;
mod caution;
mod fault;
mod load;
mod location;
mod locations;
mod origins;
mod reading;
mod reference;
mod sections;
mod service_links;
mod sources;

pub use auth::{AuthMode, AuthSection, CertNames, PrincipalPart, QuotaLimits, Scopes, TokenHash, Verb};
pub use caution::{Caution, CautionKind, CautionPlace};
pub use fault::{Fault, Faults, without_secret};
pub use load::Config;
pub use location::Place;
pub use origins::{Origin, Shown};
pub use reference::reference;
pub use sections::audit::AuditSection;
pub use sections::ledger::LedgerSection;
pub use sections::limits::LimitsSection;
pub(crate) use sections::limits::SharedLimits;
pub use sections::listen::{ListenSection, Plaintext};
pub use sections::reservoir::{ReservoirSection, SERVERS_MAX};
pub use sections::ring::RingSection;
pub use sections::sequence::SequencePart;
pub use sections::server::{ServerPlace, Tls};
pub use sections::shard::ShardPart;
pub use sections::tls::{ClientAuth, TlsMode, TlsSection};
pub use sections::traces::TracesSection;
pub use sources::Sources;
