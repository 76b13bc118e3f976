//! Errors of the four steps: parse, analyze, render, decode.

mod decode;
mod render;
mod rule;
mod template;

pub use decode::{DecodeError, DecodeErrorKind};
pub use render::{PreviewError, RenderError, ValueError};
pub use rule::{AnalysisError, Fault, Rule};
pub use template::TemplateError;
