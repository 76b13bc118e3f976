//! The error of a template that cannot be parsed.

/// A template that cannot be parsed: the column, what was found there, and what to write instead.
///
/// ```
/// let error = sequent_format::Template::parse("@{date,YYYY}@{seq}").unwrap_err();
/// assert_eq!(error.column, 8);
/// assert_eq!(error.hint, "write yyyy; the year of an ISO week is GGGG");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {what}{}", hinted(.hint))]
pub struct TemplateError {
    /// The column, in characters from 1.
    pub column: usize,
    /// What was found, and what is allowed.
    pub what: String,
    /// What to write instead; empty if nothing can be suggested.
    pub hint: String,
}

impl TemplateError {
    pub(crate) fn new(column: usize, what: impl Into<String>) -> Self {
        Self { column, what: what.into(), hint: String::new() }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

fn hinted(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!("; {hint}") }
}
