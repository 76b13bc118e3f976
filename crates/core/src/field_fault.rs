//! The fault of one field: what was found, and what is allowed.

use std::{borrow::Cow, fmt::Display};

/// One field that is out of bounds.
///
/// ```
/// use sequent_core::FieldFault;
/// assert_eq!(FieldFault::new("count", 0, "at least 1 is allowed").to_string(), "count is 0: at least 1 is allowed");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}: {bound}")]
pub struct FieldFault {
    /// The field, as the caller wrote it.
    pub field: Cow<'static, str>,
    /// The value found.
    pub value: String,
    /// What is allowed.
    pub bound: String,
}

impl FieldFault {
    /// A fault of `field`.
    pub fn new(field: impl Into<Cow<'static, str>>, value: impl Display, bound: impl Into<String>) -> Self {
        Self { field: field.into(), value: value.to_string(), bound: bound.into() }
    }
}

impl From<FieldFault> for String {
    fn from(fault: FieldFault) -> Self {
        fault.to_string()
    }
}
