//! A value of an argument with its column, for errors that are found later.

use std::fmt::Display;

use crate::error::TemplateError;

/// A value, and the column of its argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed<T> {
    pub(crate) column: usize,
    pub(crate) value: T,
}

impl<T: Display> Placed<T> {
    /// The error that this value is not allowed: field, value, bound.
    pub(crate) fn error(&self, name: &str, bound: impl Display) -> TemplateError {
        TemplateError::new(self.column, format!("{name} is {}: {bound}", self.value))
    }
}
