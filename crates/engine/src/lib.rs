//! From a configuration to running towers of sources: what every door, the command line and the benches stand on.
//!
//! Reading order: [`config`] (one file, all faults at once), [`Engine`] (open, take, shut down), [`ClusterHandle`] (a
//! cluster that exists, by its ledger), [`Reason`] (one error table for all doors).
//!
//! This crate knows no wire type and no socket.
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

mod above;
mod accused;
mod ahead;
mod aim;
mod ask;
mod background;
mod capacity;
mod catalog;
pub mod config;
pub mod data;
mod defining;
mod definition;
mod dense;
mod engine;
mod error;
mod events;
mod floors;
mod footing;
pub mod ground;
mod headroom;
mod keys;
pub mod limit;
mod live;
mod looking;
mod lossy;
mod making;
mod open;
mod options;
pub mod orphans;
mod over;
mod reason;
mod registry;
pub mod report;
pub mod shown;
mod slots;
pub mod status;
pub mod stores;
mod take;
mod tasks;
mod texts;
mod unopened;
mod wall;

pub use ask::{Dated, Issued, NextRequest, Way};
pub use capacity::{AtRisk, Capacity};
pub use defining::DefineReport;
pub use definition::{
    Body, BodyFault, EARLIER_MAX, EFFECTIVE_AHEAD_MIN, Effective, Placement, SPREAD_CAPACITY_MIN,
};
pub use dense::{dense_number, dense_ordinal};
pub use engine::Engine;
pub use error::{EngineError, FieldFault, OpenError, SlotCause};
pub use events::{METRICS, Metric, MetricKind, RECENT_MAX, Recent, describe_metrics};
pub use ground::ClusterHandle;
pub use live::{Keyed, Ready};
pub use looking::{By, NamedValue, ParseReport, PreviewAsk, PreviewReport};
pub use options::{CreatePolicy, Options, Pace};
pub use reason::{Reason, Retry};
/// Values by name, and instants with the words for what is none: of the room that renders texts.
pub use sequent_format::{INSTANT_EXPECTED, Timestamp, Values};
pub use slots::SlotGlance;
pub use texts::{FORMER_TEMPLATES_MAX, Former, RETAINED_MAX, ReadFault, Texts};
