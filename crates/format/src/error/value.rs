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
    #[error("number is {number}: {}", self.bound())]
    Exhausted {
        /// The number.
        number: u64,
        /// The last one that has a text.
        end: u64,
    },
    /// Below `start` where numbers wrap, or above what any counter gives.
    #[error("number is {number}: {}", self.bound())]
    Number {
        /// The number.
        number: u64,
        /// The first one allowed.
        start: u64,
    },
    /// A function gave what it had not promised.
    #[error("{}", self.bound())]
    Function {
        /// Its name.
        name: String,
        /// What it gave.
        given: String,
        /// What it had promised.
        promised: String,
    },
}

impl RenderError {
    /// What is allowed, for who names the number and its field as his callers do; of a function all that is to be said.
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
