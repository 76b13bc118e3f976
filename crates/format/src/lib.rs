//! Templates of document numbers (单号, 流水号): `@{date,yyyyMMdd}@{seq,w=5}` renders 1 as `2017030400001` and decodes it again.
//!
//! ```
//! use sequent_format::{Settings, Template, Timestamp, Values};
//!
//! let ticket = Template::parse("@{ctx,area,len=3}-@{ctx,office,len=4}-@{seq,w=5}")?.analyze(&Settings::default())?;
//! let at: Timestamp = "2026-04-01T09:00:00+08:00".parse()?;
//! let context = ticket.context(at, &Values::new().with("area", "010").with("office", "6541"))?;
//! assert_eq!(context.text(1)?, "010-6541-00001");
//! assert_eq!(ticket.decode("010-6541-00001")?.number, 1);
//!
//! let error = Template::parse("@{ctx,store}@{seq,w=8}")?.analyze(&Settings::default()).unwrap_err();
//! assert!(error.to_string().starts_with("S1, column 1: ctx store and seq both vary in length"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Four steps, each with a type:
//!
//! 1. [`Template::parse`] reads a template. An error has a column and a hint.
//! 2. [`Template::analyze`] checks the rules S1 to S8 and returns a [`Format`]. Two different (number, period, partition) never
//!    render the same text. If they could, the error shows what would collide and how to fix it.
//! 3. [`Format::context`] fixes instant, zone and key of a request. The [`RenderContext`] renders numbers.
//! 4. [`Format::decode`] splits a text into its parts and verifies check digits, dates and spelling.
//!
//! Suggested reading order: [`Template`], [`Settings`], [`Format`], [`RenderContext`], [`Rule`], [`Registry`]. Inside: `syntax`,
//! `analyze` (one file per rule in `analyze/rules`), `render`, `decode`, `checksum` (one file per algorithm family), `date`.
//!
//! This crate reads no clock (an instant is an argument), no source of numbers, no configuration file and no store.

#[doc = include_str!("../templates.md")]
pub mod templates {}

mod syntax;
mod template;

mod analyze;
mod format;

mod decode;
mod render;

mod charset;
mod checksum;
mod cipher;
mod date;
mod number;

mod error;
pub mod limits;
mod registry;
mod settings;
mod values;

pub use cipher::ObfuscationKey;
pub use date::{INSTANT_EXPECTED, Reset, tzdb_version};
pub use decode::Decoded;
pub use error::{
    AnalysisError, DecodeError, DecodeErrorKind, Fault, PreviewError, RenderError, Rule, TemplateError,
    ValueError,
};
pub use format::{CounterSpec, Format, Wrap};
/// An instant. The type is jiff's, so jiff's version is part of this crate's interface.
pub use jiff::Timestamp;
pub use registry::{Arguments, Function, Registry};
pub use render::{Preview, RenderContext};
pub use settings::{Placement, Settings, Unique};
pub use syntax::{did_you_mean, most_similar};
pub use template::Template;
pub use values::Values;
