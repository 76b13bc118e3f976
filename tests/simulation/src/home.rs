//! A server's data directory, as far as marks go: it outlives the server's process.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use sequent_core::{BoxFuture, MarkPlace, SourceError};

/// The mark left in a data directory. A clone is the same directory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Home(Arc<AtomicU64>);

impl MarkPlace for Home {
    fn mark(&self, version: u64) -> BoxFuture<'_, Result<u64, SourceError>> {
        let held = self.0.fetch_max(version, Ordering::Relaxed).max(version);
        Box::pin(std::future::ready(Ok(held)))
    }
}
