//! What a number would look like, marked as what it is: nothing was consumed.

use std::fmt;

use jiff::Timestamp;

use crate::{Issue, PreviewError};

/// A text that nobody was given, with all that belongs to it. Shown, it is the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The text.
    pub text: String,
    /// The number.
    pub number: u64,
    /// The key of the period; empty where the counter never begins again.
    pub period: String,
    /// The names and values that partition the counter.
    pub partition: Vec<(String, String)>,
    /// The instant it would be issued at.
    pub at: Timestamp,
}

impl Preview {
    pub(crate) fn new(issue: &Issue, number: u64, at: Timestamp) -> Result<Self, PreviewError> {
        Ok(Self {
            text: issue.text(number)?,
            number,
            period: issue.period().to_owned(),
            partition: issue.partition().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            at,
        })
    }
}

impl fmt::Display for Preview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
