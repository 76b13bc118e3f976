//! The error of a text that cannot be decoded.

/// A text that the template does not render.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {what}")]
pub struct DecodeError {
    /// The column of the part that does not fit, in characters from 1.
    pub column: usize,
    /// The class of the error.
    pub kind: DecodeErrorKind,
    /// What was found, and what is expected there.
    pub what: String,
}

/// Classes of [`DecodeError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DecodeErrorKind {
    /// The characters or the length are not the template's.
    Shape,
    /// The date does not exist, or two parts of it contradict each other.
    Date,
    /// The template does not accept the value.
    Value,
    /// The template does not render this number so.
    Number,
    /// The check digit does not match the rest, as after a typing error.
    CheckDigit,
}

impl DecodeError {
    pub(crate) fn new(column: usize, kind: DecodeErrorKind, what: impl Into<String>) -> Self {
        Self { column, kind, what: what.into() }
    }
}
