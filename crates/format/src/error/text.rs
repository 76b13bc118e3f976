//! What is wrong with a text that should be one of a template's.

/// A text that a template did not render.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {what}")]
pub struct InvertError {
    /// Where the part begins that does not fit, in characters from 1.
    pub column: usize,
    /// What class of fault it is.
    pub kind: InvertErrorKind,
    /// What was found, and what belongs there.
    pub what: String,
}

/// Classes of [`InvertError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InvertErrorKind {
    /// The text is not of the template's shape: other characters, another length.
    Shape,
    /// A date that does not exist, or parts of one that contradict each other.
    Date,
    /// A value that the template does not take.
    Value,
    /// A number that the template does not render so.
    Number,
    /// The check digit is not that of the rest: a slip of the pen.
    CheckDigit,
}

impl InvertError {
    pub(crate) fn new(column: usize, kind: InvertErrorKind, what: impl Into<String>) -> Self {
        Self { column, kind, what: what.into() }
    }
}
