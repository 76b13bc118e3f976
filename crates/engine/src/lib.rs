//! The engine: from a configuration to running sources of numbers. Every API, the command line and the benchmarks use
//! it.
//!
//! Reading order: [`config`] (one file, all faults at once), [`Engine`] (open, take, shut down), [`ClusterHandle`] (a
//! cluster that exists, by its ledger), [`Reason`] (one error table for all APIs).
//!
//! This crate has no wire types and no sockets.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use sequent_engine::{Engine, NextRequest, Options, config::{Config, Sources}};
//! let data = std::env::temp_dir().join(format!("sequent-doc-{}", std::process::id()));
//! let config = Config::load(&Sources::embedded(&data))?;
//! let engine = Engine::open(config, Options::default()).await?;
//! let issued = engine.next(&NextRequest::new("order")?.count(5)).await?;
//! assert_eq!(issued.numbers.numbers().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
//! engine.shutdown().await;
//! # std::fs::remove_dir_all(&data)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

mod catalog;
pub mod config;
pub mod data;
mod definition;
mod engine;
mod error;
mod issue;
pub mod ledger_timeout;
/// Counters of other programs, from the crate that speaks to their servers.
pub use sequent_backend::{
    foreign,
    net::{ServerOptions, Tls},
};
mod open;
pub mod status;
pub mod stores;
mod telemetry;
mod texts;

pub use catalog::define::DefineReport;
pub use catalog::forget::ForgetReport;
pub use definition::capacity::{AtRisk, Capacity};
pub use definition::{
    Body, BodyOptions, EARLIER_MAX, EFFECTIVE_AHEAD_MIN, Effective, Placement, RESERVE_MS_MAX,
    SPREAD_CAPACITY_MIN,
};
pub use engine::Engine;
pub use error::reason::{Reason, Retry};
pub use error::{BURN, EngineError, OpenError, QuotaFault, SlotCause};
pub use issue::active_key::{Keyed, Ready, ReadyBlock};
pub use issue::dense::{dense_number, dense_ordinal};
pub use issue::request_types::{Dated, Issued, NextRequest, Way};
pub use issue::shape::SequenceShape;
pub use open::bootstrap::ClusterHandle;
pub use open::options::{CreatePolicy, Options, Pace};
pub use open::{bootstrap, foreign_stores};
/// Values by name, instants, and the error text for an invalid instant: from the crate that renders texts.
pub use sequent_format::{Arguments, Function, INSTANT_EXPECTED, Timestamp, Values};
pub use status::slot_summary::SlotGlance;
pub use status::{key_display, report};
pub use telemetry::{METRICS, RECENT_MAX, Recent, describe_metric, describe_metrics};
pub use texts::preview_parse::{By, NamedValue, ParseReport, PreviewAsk, PreviewReport};
pub use texts::{FORMER_TEMPLATES_MAX, Former, RETAINED_MAX, ReadFault, Texts, register_function};
