//! What a template would not keep, by the rule that says so.

use std::fmt;

/// The rules that an accepted template obeys; what each rejects is in `prove`, a file each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Something that the definition names is not there, or out of bounds.
    Definition,
    /// A text can be taken apart in one way only.
    S1,
    /// What the counter belongs to can be told from the text.
    S2,
    /// The date in the text tells the period.
    S3,
    /// A counter begins again with the finest unit shown, but no unit below a day unless asked for.
    S4,
    /// The longest text fits.
    S5,
    /// Numbers that begin again do so in another period, or after a named time.
    S6,
    /// A permutation has enough texts to hide among.
    S7,
    /// A book's numbers do not begin again.
    S8,
    /// Two templates in one namespace never render alike.
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

/// One broken rule: where, what would collide, and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rule}, column {column}: {what}; {mend}")]
pub struct Fault {
    /// The rule.
    pub rule: Rule,
    /// The part's place in the template, in characters from 1.
    pub column: usize,
    /// What would collide, by an example where there is one.
    pub what: String,
    /// How to mend it.
    pub mend: String,
}

impl Fault {
    pub(crate) fn new(rule: Rule, column: usize, what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { rule, column, what: what.into(), mend: mend.into() }
    }
}

/// A template that is refused, with every rule that it breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines(.faults))]
pub struct ProofError {
    /// At least one, in the order of the rules.
    pub faults: Vec<Fault>,
}

fn lines(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
