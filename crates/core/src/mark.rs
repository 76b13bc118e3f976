//! Ledger marks: the ledger's version kept outside the ledger, so that a restored backup is detected.

use crate::{Layout, Reply};

/// The ledger's layout and its generation at some version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Era {
    /// The layout's generation: 1 at first, one more with each resize.
    pub generation: u64,
    /// The shard bits n and the memory bits m.
    pub layout: Layout,
}

/// The content of a [`MarkPlace`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mark {
    /// The highest ledger version written there; 0 if none was.
    pub version: u64,
    /// The latest layout written there; `None` if no writer named one.
    pub era: Option<Era>,
}

impl Mark {
    /// The greater version and the layout of the greater generation. A place therefore never forgets the ledger's highest
    /// version or its latest layout.
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

/// A place outside the ledger for its version, so that a ledger restored from a backup is detected: the server's data
/// directory.
///
/// Stores hold marks too (see [`Store::mark`](crate::Store::mark)), each in one of its instances.
pub trait MarkPlace: Send + Sync {
    /// Writes `version` and the ledger's layout at that version. Of each, the [greater](Mark::max) is kept. Returns what is
    /// held afterwards. Version 0 only reads.
    fn bear(&self, version: u64, era: Option<Era>) -> Reply<'_, Mark>;
}
