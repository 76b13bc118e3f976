//! The one idea: everything that yields numbers is a [`Source`].

use std::{future::Future, pin::Pin};

use crate::{Blocks, SourceError};

/// A boxed future: paid per block, never per number, so that sources stay object-safe.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Yields numbers, block by block. A running sequence is a tower of sources, each room adding one thing.
///
/// What a caller may assume:
///
/// - A number is returned once. Gaps are fine; a future that is dropped may burn what it had taken.
/// - There is no retry and no time limit inside: those are layers of their own.
/// - `take` may be called from many tasks at once.
///
/// ```
/// use sequent_core::{Block, Blocks, BoxFuture, Source, SourceError};
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// struct Atomic(AtomicU64);
///
/// impl Source for Atomic {
///     fn take(&self, want: u64) -> BoxFuture<'_, Result<Blocks, SourceError>> {
///         let first = self.0.fetch_add(want, Ordering::Relaxed) + 1;
///         let block = Block::new(first, 1, want).map(Blocks::from).map_err(SourceError::exhausted);
///         Box::pin(std::future::ready(block))
///     }
/// }
/// ```
pub trait Source: Send + Sync {
    /// About `want` numbers (at least 1; 0 counts as 1): ascending by first, never empty, at most
    /// [`BLOCKS_MAX`](crate::BLOCKS_MAX) blocks, perhaps fewer numbers than asked, never more than 2^m - 1 beyond.
    fn take(&self, want: u64) -> BoxFuture<'_, Result<Blocks, SourceError>>;

    /// Moves forward so that later numbers are above `floor`, for order's sake; never backward, never for safety.
    fn lift(&self, floor: u64) -> BoxFuture<'_, Result<(), SourceError>> {
        let _ = floor;
        Box::pin(std::future::ready(Ok(())))
    }

    /// The highest value known to be taken: a hint for levelling, never for safety. `None`: not known.
    fn position(&self) -> Option<u64> {
        None
    }

    /// How many numbers are left, as far as is known: a hint for appetite, never for safety. `None`: not known.
    fn remaining(&self) -> Option<u64> {
        None
    }
}
