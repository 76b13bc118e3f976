//! The ledger's version, left where a ledger that is put back does not reach.

use crate::{BoxFuture, Layout, SourceError};

/// The layout that a ledger had when it was at some version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Era {
    /// One more with each resize, from 1.
    pub generation: u64,
    /// n and m.
    pub layout: Layout,
}

/// What a [`MarkPlace`] holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mark {
    /// The highest version of the ledger that was left there; 0: none.
    pub version: u64,
    /// The latest layout that one was left under, where whoever left it said so.
    pub era: Option<Era>,
}

impl Mark {
    /// Of each the greater: a place forgets neither how far the ledger was, nor which layout it had last.
    ///
    /// ```
    /// use sequent_core::{Era, Layout, Mark};
    /// let mark = |version, generation| {
    ///     Layout::new(0, 0).map(|layout| Mark { version, era: Some(Era { generation, layout }) })
    /// };
    /// assert_eq!(mark(9, 1)?.max(mark(7, 2)?), mark(9, 2)?);
    /// assert_eq!(mark(9, 1)?.max(Mark { version: 10, era: None }), mark(10, 1)?);
    /// # Ok::<(), sequent_core::LayoutError>(())
    /// ```
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        let era = [self.era, other.era].into_iter().flatten().max_by_key(|era| era.generation);
        Self { version: self.version.max(other.version), era }
    }
}

/// A place outside the ledger where its version is left, so that a ledger that went back is noticed: the server's data
/// directory. The stores are such places too (see [`Store::mark`](crate::Store::mark)), each in one of its instances.
pub trait MarkPlace: Send + Sync {
    /// Leaves `version`, and the layout that the ledger had then: of each the [greater](Mark::max) stays. Returns what is held
    /// afterwards. Version 0 only reads.
    fn bear(&self, version: u64, era: Option<Era>) -> BoxFuture<'_, Result<Mark, SourceError>>;
}
