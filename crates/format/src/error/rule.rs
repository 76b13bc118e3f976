//! The rules S1 to S9, and the error of a template that breaks some of them.

use std::fmt;

/// The rules that an accepted template obeys. Each has a file in `analyze/rules`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// The definition names something that does not exist or is out of bounds.
    Definition,
    /// Unambiguous split: a text can be split into its parts in one way only.
    S1,
    /// Key visible: the text shows the values that partition the counter.
    S2,
    /// Period visible: the date in the text determines the period.
    S3,
    /// Reset unit: by default the counter resets with the finest unit shown, at most daily.
    S4,
    /// Maximum length: the longest text fits into `maxlen`.
    S5,
    /// Reset reuse: numbers that wrap do so per period, or after a stated time.
    S6,
    /// Cipher space: an obfuscated number has enough texts to hide among.
    S7,
    /// Book run: the numbers of a book never wrap.
    S8,
    /// Namespace disjoint: two templates of one namespace never render the same text.
    S9,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Definition => f.write_str("definition"),
            rule => write!(f, "{rule:?}"),
        }
    }
}

/// One broken rule, or one warning: the column, what would collide, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rule}, column {column}: {what}; {fix}")]
pub struct Fault {
    /// The rule.
    pub rule: Rule,
    /// The part's column in the template, in characters from 1.
    pub column: usize,
    /// What would collide, with an example if there is one.
    pub what: String,
    /// How to fix it.
    pub fix: String,
}

impl Fault {
    pub(crate) fn new(rule: Rule, column: usize, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { rule, column, what: what.into(), fix: fix.into() }
    }

    /// A fault of [`Rule::Definition`].
    pub(crate) fn definition(column: usize, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::new(Rule::Definition, column, what, fix)
    }
}

/// A refused template, with every rule that it breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines(.faults))]
pub struct AnalysisError {
    /// At least one fault, in the order of the rules.
    pub faults: Vec<Fault>,
}

fn lines(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
