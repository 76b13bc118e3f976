//! Reading of a configuration: sections of settings, from the file, the environment and flags, with all faults at
//! once.
//!
//! Reading order: [`section!`] declares a section, [`setting`] has the types of its settings, [`Reader`]
//! collects what they find.

mod document;
mod reader;
mod secret;
mod section;
pub(crate) mod setting;

pub(crate) use document::Document;
pub(crate) use reader::Reader;
pub(crate) use section::{Section, section};
