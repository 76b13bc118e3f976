//! What is wrong with a request: found before a number is used, but for what only the number can tell.

use crate::limits::NUMBER_MAX;

/// A value that a template cannot take. Nothing has been consumed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {}: {bound}", if *.is_missing { "missing".to_owned() } else { format!("{value:?}") })]
pub struct ValueError {
    /// The name of the value.
    pub field: String,
    /// What was given, cut after 80 characters; empty where nothing was.
    pub value: String,
    /// What is allowed.
    pub bound: String,
    /// Whether nothing was given, which is another thing than an empty value.
    pub is_missing: bool,
}

impl ValueError {
    pub(crate) fn new(field: &str, value: &str, bound: impl Into<String>) -> Self {
        Self { field: shown(field), value: shown(value), bound: bound.into(), is_missing: false }
    }

    /// A value that the template asks for, and that was not given.
    pub(crate) fn missing(field: &str) -> Self {
        Self { is_missing: true, ..Self::new(field, "", "the template needs it") }
    }
}

/// The most characters of a caller's own text that an error repeats.
const SHOWN_CHARS_MAX: usize = 80;

/// A caller's text, cut where it is long: errors travel into logs.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A number that a template has no text for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// Above the last number: `over=error`, `end`, or `wmax` digits.
    #[error("number is {number}: the template has texts up to {end}")]
    Exhausted {
        /// The number.
        number: u64,
        /// The last one that has a text.
        end: u64,
    },
    /// Below `start` where numbers wrap, or above what any counter gives.
    #[error("number is {number}: {start} to {NUMBER_MAX} are allowed")]
    Number {
        /// The number.
        number: u64,
        /// The first one allowed.
        start: u64,
    },
    /// A function gave what it had not promised.
    #[error("function {name} gave {given:?}: {promised}")]
    Function {
        /// Its name.
        name: String,
        /// What it gave.
        given: String,
        /// What it had promised.
        promised: String,
    },
}
