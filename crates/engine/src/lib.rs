//! From a configuration to running towers of sources: what every door, the command line and the benches stand on.
//!
//! Reading order: [`config`] (one file, all faults at once), [`Engine`] (open, take, shut down), [`Desk`] (what an
//! operator does from the ledger alone), [`Reason`] (one error table for all doors).
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
mod advance;
mod ahead;
mod aim;
mod ask;
mod background;
mod capacity;
mod catalog;
pub mod config;
mod data;
mod defining;
mod definition;
mod dense;
mod desk;
pub mod doctor;
mod engine;
mod error;
mod events;
mod floors;
mod footing;
mod ground;
mod headroom;
mod keys;
mod limit;
mod live;
mod looking;
mod lossy;
mod making;
mod open;
mod options;
mod orphans;
mod over;
mod reason;
mod registry;
pub mod report;
mod resize;
mod shown;
mod slots;
mod status;
mod stores;
mod take;
mod tasks;
mod texts;
mod unopened;
mod wall;

pub use advance::AdvanceReport;
pub use ask::{Dated, Issued, NextRequest, Way};
pub use capacity::{AtRisk, Capacity};
pub use defining::DefineReport;
pub use definition::{
    Body, BodyFault, EARLIER_MAX, EFFECTIVE_AHEAD_MIN, Effective, Placement, SPREAD_CAPACITY_MIN,
};
pub use desk::{
    Answer, Answers, BUMP_MAX, CopyMade, Desk, LossEstimate, MarksReport, NamedLoss, PlannedKey,
    RecoveryPlan, Saying, UnreadMark,
};
pub use engine::Engine;
pub use error::{EngineError, FieldFault, OpenError, SlotCause};
pub use events::{METRICS, Metric, MetricKind, RECENT_MAX, Recent, describe_metrics};
pub use live::{Keyed, Ready};
pub use looking::{By, NamedValue, ParseReport, PreviewAsk, PreviewReport};
pub use options::{CreatePolicy, Options, Pace};
pub use reason::{Reason, Retry};
pub use resize::{LayoutReport, ResizeReport, ResizedKey, Resizing, Wish};
/// Values by name, and instants with the words for what is none: of the room that renders texts.
pub use sequent_format::{INSTANT_EXPECTED, Timestamp, Values};
/// How far a resize has come: of the room that does it.
pub use sequent_guard::Progress;
pub use slots::SlotGlance;
pub use texts::{FORMER_TEMPLATES_MAX, Former, RETAINED_MAX, ReadFault, Texts};
