//! The layout belongs to the ledger.

use crate::{BoxFuture, Layout, SequenceName, SourceError};

/// The layout in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutRecord {
    /// The cluster's name.
    pub cluster: SequenceName,
    /// n and m.
    pub layout: Layout,
    /// One more with each resize, from 1.
    pub epoch: u64,
}

/// The one page that says how raw ids become numbers.
pub trait LayoutBook: Send + Sync {
    /// The layout in force, or `None` for a new ledger.
    fn layout(&self) -> BoxFuture<'_, Result<Option<LayoutRecord>, SourceError>>;

    /// Writes the first layout if there is none; returns what is held afterwards.
    fn found<'a>(&'a self, first: &'a LayoutRecord) -> BoxFuture<'a, Result<LayoutRecord, SourceError>>;
}
