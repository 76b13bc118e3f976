//! Errors of a request. All but [`RenderError`] are found before a number is consumed.

use crate::limits::NUMBER_MAX;

/// A value that a template cannot take. No number has been consumed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {}: {bound}", if *.is_missing { "missing".to_owned() } else { format!("{value:?}") })]
pub struct ValueError {
    /// The name of the value.
    pub field: String,
    /// What was given, cut after 80 characters; empty if nothing was given.
    pub value: String,
    /// What is allowed.
    pub bound: String,
    /// Whether nothing was given. An empty value is given.
    pub is_missing: bool,
}

impl ValueError {
    pub(crate) fn new(field: &str, value: &str, bound: impl Into<String>) -> Self {
        Self { field: truncated(field), value: truncated(value), bound: bound.into(), is_missing: false }
    }

    /// The error of a required value that was not given.
    pub(crate) fn missing(field: &str) -> Self {
        Self { is_missing: true, ..Self::new(field, "", "the template needs it") }
    }
}

/// The longest text of a caller that an error repeats, in characters.
const SHOWN_CHARS_MAX: usize = 80;

/// A caller's text, truncated because errors are logged.
fn truncated(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A number for which a template has no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// The number is above the last one: `over=error`, `end`, or `wmax` digits.
    #[error("number is {number}: {}", self.bound())]
    Exhausted {
        /// The number.
        number: u64,
        /// The last number that has a text.
        end: u64,
    },
    /// The number is below `start` of a template that wraps, or above [`NUMBER_MAX`].
    #[error("number is {number}: {}", self.bound())]
    Number {
        /// The number.
        number: u64,
        /// The first number allowed.
        start: u64,
    },
    /// A function returned a text that it had not promised.
    #[error("{}", self.bound())]
    Function {
        /// Its name.
        name: String,
        /// What it returned.
        given: String,
        /// What it had promised.
        promised: String,
    },
}

impl RenderError {
    /// What is allowed, without the number: for callers that name the number and its field themselves. For a function it is
    /// the whole message.
    ///
    /// ```
    /// use sequent_format::RenderError;
    /// let error = RenderError::Exhausted { number: 1000, end: 999 };
    /// assert_eq!(error.bound(), "the template has texts up to 999");
    /// assert_eq!(error.to_string(), "number is 1000: the template has texts up to 999");
    /// ```
    pub fn bound(&self) -> String {
        match self {
            Self::Exhausted { end, .. } => format!("the template has texts up to {end}"),
            Self::Number { start, .. } => format!("{start} to {NUMBER_MAX} are allowed"),
            Self::Function { name, given, promised } => format!("function {name} gave {given:?}: {promised}"),
        }
    }
}

/// Why there is no preview.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PreviewError {
    /// A value or the instant is not allowed.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The number has no text.
    #[error(transparent)]
    Render(#[from] RenderError),
}
