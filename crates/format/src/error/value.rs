//! What is wrong with a request: found before a number is used, but for what only the number can tell.

use crate::limits::NUMBER_MAX;

/// A value that a template cannot take. Nothing has been consumed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value:?}: {bound}")]
pub struct ValueError {
    /// The name of the value.
    pub field: String,
    /// What was given; empty where nothing was.
    pub value: String,
    /// What is allowed.
    pub bound: String,
}

impl ValueError {
    pub(crate) fn new(field: impl Into<String>, value: impl Into<String>, bound: impl Into<String>) -> Self {
        Self { field: field.into(), value: value.into(), bound: bound.into() }
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
