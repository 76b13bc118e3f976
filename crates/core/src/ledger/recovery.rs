//! Recovery of a lost ledger: an operator names how much was lost.

use crate::{InstanceId, Reply};

/// Loss that an operator names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// No loss: the data was moved, and is the newest state.
    Moved,
    /// An upper bound of the loss: each counter came at most this many raw ids above its present ceiling, and each dense one
    /// this many numbers above its value. It bounds how far a counter came, not how many numbers were given.
    Bump(u64),
}

/// Recovery after a loss.
pub trait Recovery: Send + Sync {
    /// Applies a loss in one step, and returns the new instance.
    ///
    /// - The loss is added to every row's `ceiling` and `seen` (a named loss is no jump), and to every dense counter.
    /// - The loss is added to the floors of counters and dense counters without a row, since one may have begun after the
    ///   backup was made.
    /// - The version rises above `version_floor`.
    /// - The ledger gets a new instance id, recorded as accepted, and every store's record is deleted.
    ///
    /// Each counter then opens a new epoch above its ceiling.
    fn recover(&self, loss: Loss, version_floor: u64) -> Reply<'_, InstanceId>;
}
