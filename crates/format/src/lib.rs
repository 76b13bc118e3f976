//! Templates of business numbers (单号, 流水号): `@{date,yyyyMMdd}@{seq,w=5}` turns 1 into `2017030400001`, and back.
//!
//! ```
//! use sequent_format::{Settings, Template, Timestamp, Values};
//!
//! let ticket = Template::parse("@{ctx,area,len=3}-@{ctx,office,len=4}-@{seq,w=5}")?.prove(&Settings::default())?;
//! let at: Timestamp = "2026-04-01T09:00:00+08:00".parse()?;
//! let issue = ticket.issue(at, &Values::new().with("area", "010").with("office", "6541"))?;
//! assert_eq!(issue.text(1)?, "010-6541-00001");
//! assert_eq!(ticket.invert("010-6541-00001")?.number, 1);
//!
//! let error = Template::parse("@{ctx,store}@{seq,w=8}")?.prove(&Settings::default()).unwrap_err();
//! assert!(error.to_string().starts_with("S1, column 1: ctx store and seq both vary in length"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Template`] is read (each error with its column and a hint), then proven: [`Template::prove`] gives a [`Format`] only
//! where two different (number, period, partition) can never render alike, or says what would collide and how to mend it.
//! A format makes an [`Issue`] a request, which fixes instant, zone and key, and renders numbers; [`Format::invert`] takes
//! texts apart again and verifies their check digits.
//!
//! Suggested reading order: [`Template`], [`Settings`], [`Format`], [`Issue`], [`Rule`], [`Registry`]; inside, `parse`,
//! `prove` (a file a rule), `issue`, `invert`, `check` (a file a family), `date`.
//!
//! This crate knows no clock (an instant is an argument), no source of numbers, no configuration file and no store.

#[doc = include_str!("../templates.md")]
pub mod templates {}

mod check;
mod date;
mod error;
mod format;
mod fpe;
mod invert;
mod issue;
mod letters;
pub mod limits;
mod numbering;
mod parse;
mod preview;
mod prove;
mod radix;
mod registry;
mod settings;
mod shape;
mod template;
mod values;

pub use date::{INSTANT_EXPECTED, Reset, tzdb_version};
pub use error::{
    Fault, InvertError, InvertErrorKind, ProofError, RenderError, Rule, TemplateError, ValueError,
};
pub use format::{Counter, Format, PreviewError, Wrap};
pub use fpe::ObfuscationKey;
pub use invert::Parsed;
pub use issue::Issue;
/// An instant, as every function here takes it: of jiff, whose version is part of this crate's interface.
pub use jiff::Timestamp;
pub use parse::nearest;
pub use preview::Preview;
pub use registry::{Arguments, Function, Registry};
pub use settings::{Placement, Settings, Unique};
pub use template::Template;
pub use values::Values;
