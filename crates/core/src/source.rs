//! [`Source`]: the trait of everything that yields numbers.

use std::{future::Future, pin::Pin};

use crate::{Blocks, SourceError};

/// A boxed future, allocated per block and never per number. It keeps sources object-safe.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a source, a store or a ledger answers to a call.
pub type Reply<'a, T> = BoxFuture<'a, Result<T, SourceError>>;

/// Yields numbers in blocks. A running sequence is a stack of sources, each adding one feature.
///
/// Contract for callers:
///
/// - A number is returned once. Gaps are allowed: dropping the future may lose the numbers it had taken.
/// - A source neither retries nor limits its time; other layers do that.
/// - `take` may be called from many tasks at once.
///
/// ```
/// use sequent_core::{Block, Blocks, Reply, Source, SourceError};
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// struct Atomic(AtomicU64);
///
/// impl Source for Atomic {
///     fn take(&self, want: u64) -> Reply<'_, Blocks> {
///         let first = self.0.fetch_add(want, Ordering::Relaxed) + 1;
///         let block = Block::new(first, 1, want).map(Blocks::from).map_err(SourceError::exhausted);
///         Box::pin(std::future::ready(block))
///     }
/// }
/// ```
pub trait Source: Send + Sync {
    /// Takes about `want` numbers (at least 1; 0 counts as 1). The result is never empty, ascending by first number, and at
    /// most [`BLOCKS_MAX`](crate::BLOCKS_MAX) blocks. It may have fewer numbers than asked, and at most 2^m - 1 more.
    fn take(&self, want: u64) -> Reply<'_, Blocks>;

    /// Raises the position so that later numbers are above `floor`; never lowers it. This serves the order of numbers, never
    /// uniqueness.
    fn lift(&self, floor: u64) -> Reply<'_, ()> {
        let _ = floor;
        Box::pin(std::future::ready(Ok(())))
    }

    /// The highest value known to be taken, or `None` if unknown. A hint for levelling the slots, never for uniqueness.
    fn position(&self) -> Option<u64> {
        None
    }

    /// How many numbers are known to be left, or `None` if unknown. A hint for the size of the next take, never for uniqueness.
    fn remaining(&self) -> Option<u64> {
        None
    }

    /// How many numbers up to `limit` are left at most, or `None` if unknown. So a request that can't be served takes
    /// nothing.
    fn remaining_up_to(&self, limit: u64) -> Option<u64> {
        let _ = limit;
        None
    }
}
