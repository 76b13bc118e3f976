//! Errors of a take.

use sequent_core::SourceError;

/// A take that gave no number. An empty reservoir is no error: the caller waits up to its deadline.
///
/// ```
/// use sequent_buffer::TakeError;
/// assert_eq!(TakeError::Deadline.to_string(), "no numbers came before the deadline");
/// ```
#[derive(Debug, Clone, thiserror::Error)]
pub enum TakeError {
    /// The refill that the caller waited for failed. A later call tries again.
    #[error(transparent)]
    Source(SourceError),
    /// The deadline passed before numbers came.
    #[error("no numbers came before the deadline")]
    Deadline,
    /// The reservoir was closed.
    #[error("the reservoir is closed")]
    Closed,
}
