//! What only an operator can know: whether a ledger that looks old is the newest there is.

use crate::{BoxFuture, InstanceId, SourceError};

/// The loss that an operator names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// None: the data was moved, and is the newest state.
    Moved,
    /// Each counter came at most this many raw ids above its ceiling at hand, and each dense one this many numbers above
    /// its value: how far it came, not how many were given.
    Bump(u64),
}

/// The way back after a loss.
pub trait Recovery: Send + Sync {
    /// In one step: adds the loss to every row's `ceiling` and `seen` (a named loss is no leap), to every dense counter, and
    /// to the floor, which is the ceiling of counters without a row (one may have begun after the copy at hand was made),
    /// and what dense ones without a row have given; sets the version
    /// above `version_floor`; and makes the ledger speak as a new instance, recorded as accepted, with every store's
    /// record forgotten. Each counter then opens a new epoch above its ceiling. Returns the instance.
    fn recover(&self, loss: Loss, version_floor: u64) -> BoxFuture<'_, Result<InstanceId, SourceError>>;
}
