//! Request and response types.

use std::time::Instant;

use sequent_core::{Blocks, NameError, SequenceName, word_enum};
use sequent_format::{Timestamp, Values};

use crate::texts::Texts;

/// A request for numbers.
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
    /// Count of numbers, all or nothing: 1 by default.
    pub count: u64,
    /// When the caller stops waiting; `limits.deadline_ms` from now by default.
    pub deadline: Option<Instant>,
    /// Values for the parts of a template that ask for them.
    pub with: Values,
    /// The highest number that the caller was given; 0 if it does not say. A cluster that can't have issued it refuses
    /// the request.
    pub above: u64,
    /// The instant that decides date and period: RFC 3339, or a local date or time of the definition's zone. `None`
    /// means now.
    pub at: Option<String>,
}

impl NextRequest {
    /// A request for one number of `name`, within the configured deadline.
    pub fn new(name: &str) -> Result<Self, NameError> {
        Ok(Self::of(name.parse()?))
    }

    /// A request for one number of `name`, within the configured deadline.
    pub fn of(name: SequenceName) -> Self {
        Self { name, count: 1, deadline: None, with: Values::new(), above: 0, at: None }
    }

    /// The same request for `count` numbers.
    #[must_use]
    pub fn count(self, count: u64) -> Self {
        Self { count, ..self }
    }

    /// The same request, waiting until `deadline`.
    #[must_use]
    pub fn deadline(self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// The same request with one more value.
    #[must_use]
    pub fn with(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { with: self.with.with(name, value), ..self }
    }

    /// The same request of a caller that was given this number, or 0 if it does not say.
    #[must_use]
    pub fn above(self, above: u64) -> Self {
        Self { above, ..self }
    }

    /// The same request at another instant than now.
    #[must_use]
    pub fn at(self, at: impl Into<String>) -> Self {
        Self { at: Some(at.into()), ..self }
    }

    /// Whether the request has nothing that needs a template.
    pub(crate) fn is_plain(&self) -> bool {
        self.at.is_none() && self.with.iter().next().is_none()
    }
}

/// Numbers that were issued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issued {
    /// The sequence.
    pub sequence: SequenceName,
    /// As many as requested, ascending by first number.
    pub numbers: Blocks,
    /// The version of the definition that they were issued under.
    pub version: u32,
    /// When another version takes effect, if one waits.
    pub version_end: Option<Timestamp>,
    /// Texts, period and instant; `None` without a template.
    pub dated: Option<Dated>,
    /// The source of the numbers.
    pub way: Way,
}

word_enum! {
    /// The source of issued numbers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Way {
        /// All numbers were ready in memory.
        Reservoir = "reservoir",
        /// The request waited for the shards.
        Direct = "direct",
        /// The numbers were leased: the holder issues them later.
        Lease = "lease",
        /// The ledger counted them: a dense sequence.
        Dense = "dense",
    }
}

/// What numbers have beside themselves if the definition has a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dated {
    /// A text for each number, in their order; none for a lease, whose holder renders them.
    pub texts: Vec<String>,
    /// The key of the period that they belong to, such as `20260401`; empty if the sequence never resets.
    pub period: String,
    /// The instant that the texts show, in RFC 3339 and the definition's zone.
    pub at: String,
    /// When the period may end, if it ends: from then on numbers of another period are due.
    pub period_end: Option<Timestamp>,
    /// The renderer of a lease's texts, for its holder.
    pub by: Option<Texts>,
}
