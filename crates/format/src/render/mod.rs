//! Renders numbers as texts.
//!
//! Suggested reading order: `context` (everything of a request but the number), `values` (checks of its values), `plan` (what to do
//! for each part), `text` (renders by the plan), `slots` (renders parts out of order), `preview`.

mod context;
mod known_parts;
mod plan;
mod preview;
mod slots;
mod text;
mod values;

pub use context::RenderContext;
pub(crate) use known_parts::KnownParts;
pub use preview::Preview;
pub(crate) use values::check_value;
