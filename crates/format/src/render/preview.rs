//! Previews: the text of a number that is not consumed.

use std::fmt;

use jiff::Timestamp;

use crate::{error::PreviewError, format::Format, values::Values};

/// A previewed text with its number and key. Its `Display` is the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The text.
    pub text: String,
    /// The number.
    pub number: u64,
    /// The key of the period; empty if the counter never resets.
    pub period: String,
    /// The names and values that partition the counter.
    pub partition: Vec<(String, String)>,
    /// The instant of issue.
    pub at: Timestamp,
}

impl Format {
    /// Renders a number without consuming it.
    pub fn preview(&self, number: u64, instant: Timestamp, values: &Values) -> Result<Preview, PreviewError> {
        let context = self.context(instant, values)?;
        Ok(Preview {
            text: context.text(number)?,
            number,
            period: context.period().to_owned(),
            partition: context.partition().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            at: instant,
        })
    }
}

impl fmt::Display for Preview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
