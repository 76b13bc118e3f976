//! The types of a request and of its answer.

use std::time::Instant;

use sequent_core::{Blocks, NameError, SequenceName};
use sequent_format::{Timestamp, Values};

use crate::texts::Texts;

/// An ask for numbers.
///
/// ```
/// # use sequent_engine::NextRequest;
/// let ask = NextRequest::new("repair")?.count(3).with("area", "010").at("2026-04-01");
/// assert_eq!(ask.with.get("area"), Some("010"));
/// # Ok::<(), sequent_core::NameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextRequest {
    /// The sequence.
    pub name: SequenceName,
    /// How many numbers, all or nothing: 1 by default.
    pub count: u64,
    /// When the caller stops waiting; `limits.deadline_ms` from now by default.
    pub deadline: Option<Instant>,
    /// Values for the parts of a template that ask for them.
    pub with: Values,
    /// The highest number that the caller was given; 0 where it does not say. A cluster that can't have given it refuses.
    pub above: u64,
    /// The instant whose date and period count: RFC 3339, or a local date or time of the definition's zone. `None`: now.
    pub at: Option<String>,
}

impl NextRequest {
    /// One number of `name`, within the configured deadline.
    pub fn new(name: &str) -> Result<Self, NameError> {
        Ok(Self::of(name.parse()?))
    }

    /// One number of `name`, within the configured deadline.
    pub fn of(name: SequenceName) -> Self {
        Self { name, count: 1, deadline: None, with: Values::new(), above: 0, at: None }
    }

    /// The same ask for `count` numbers.
    #[must_use]
    pub fn count(self, count: u64) -> Self {
        Self { count, ..self }
    }

    /// The same ask, waiting until `deadline`.
    #[must_use]
    pub fn deadline(self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// The same ask with one more value.
    #[must_use]
    pub fn with(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { with: self.with.with(name, value), ..self }
    }

    /// The same ask of a caller that was given this number, or 0 where it does not say.
    #[must_use]
    pub fn above(self, above: u64) -> Self {
        Self { above, ..self }
    }

    /// The same ask at another instant than now.
    #[must_use]
    pub fn at(self, at: impl Into<String>) -> Self {
        Self { at: Some(at.into()), ..self }
    }

    /// Whether it asks for nothing that only a template knows.
    pub(crate) fn is_plain(&self) -> bool {
        self.at.is_none() && self.with.iter().next().is_none()
    }
}

/// Numbers that were handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issued {
    /// The sequence.
    pub sequence: SequenceName,
    /// As many as asked for, ascending by first.
    pub numbers: Blocks,
    /// The version of the definition that they were given under.
    pub version: u32,
    /// When another version takes effect, where one waits.
    pub version_end: Option<Timestamp>,
    /// What belongs to a template; `None` without one.
    pub dated: Option<Dated>,
    /// Where they came from.
    pub way: Way,
}

/// Where numbers came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// All of them were ready in memory.
    Reservoir,
    /// They had to be waited for: shards were asked.
    Direct,
    /// They were lent, to be handed out later by their holder.
    Lease,
    /// The ledger counted them: a dense sequence.
    Dense,
}

impl Way {
    /// The word for metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reservoir => "reservoir",
            Self::Direct => "direct",
            Self::Lease => "lease",
            Self::Dense => "dense",
        }
    }
}

/// What numbers have beside themselves where the definition has a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dated {
    /// A text for each number, in their order; none for a lease, whose holder renders them.
    pub texts: Vec<String>,
    /// The key of the period that they belong to, such as `20260401`; empty where the sequence never resets.
    pub period: String,
    /// The instant that the texts show, as the definition's zone shows it, in RFC 3339.
    pub at: String,
    /// When the period may end, where it does: from then on another period's numbers are due.
    pub period_end: Option<Timestamp>,
    /// For the holder of a lease: what renders its texts.
    pub by: Option<Texts>,
}
