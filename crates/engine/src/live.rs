//! A live key: its tower of sources, from the guard's counters to the reservoir.

use std::{sync::Arc, time::Duration};

use sequent_buffer::{Expansion, Reservoir, Spanned};
use sequent_core::{Key, SequenceName, Source};

use crate::{EngineError, catalog::Entry, engine::Inner};

/// A key in use.
pub(crate) struct Live {
    entry: Arc<Entry>,
    spanned: Arc<Spanned>,
    reservoir: Reservoir,
}

/// Into how many leases what is left of a key would have to be cut at least.
pub(crate) const LEASE_PARTS: u64 = 1000;

/// A number that was ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The number.
    pub number: u64,
    /// The version of the definition that it was given under.
    pub version: u32,
}

impl Live {
    pub(crate) fn reservoir(&self) -> &Reservoir {
        &self.reservoir
    }

    /// The definition that it was made from.
    pub(crate) fn entry(&self) -> &Entry {
        &self.entry
    }

    pub(crate) fn version(&self) -> u32 {
        self.entry.version
    }

    /// A number that is ready.
    pub(crate) fn try_next(&self) -> Option<Ready> {
        let number = self.reservoir.try_next()?;
        Some(Ready { number, version: self.version() })
    }

    /// The most numbers that one lease may hold, whatever is configured: a thousandth of what is left of the key, so
    /// that leases skip little of a bounded sequence, and one number at least.
    pub(crate) fn lease_max(&self) -> u64 {
        self.spanned.left().div_ceil(LEASE_PARTS).max(1)
    }

    /// Whether nothing has been taken for `after`; what is kept beyond need is burnt on the way.
    pub(crate) fn is_idle(&self, after: Duration) -> bool {
        self.reservoir.trim() >= after
    }
}

/// A live key's reservoir. While it is held, the key is not given up as idle. It is closed when the ledger went back or was
/// recovered: ask for it again then.
#[derive(Clone)]
pub struct Keyed(Arc<Live>);

impl Keyed {
    pub(crate) fn new(live: Arc<Live>) -> Self {
        Self(live)
    }

    /// Where the key's numbers are ready.
    pub fn reservoir(&self) -> &Reservoir {
        self.0.reservoir()
    }

    /// A number that is ready, or `None`: never waits. Finding nothing, it begins a refill.
    pub fn try_next(&self) -> Option<Ready> {
        self.0.try_next()
    }

    /// The version of the definition that its numbers are given under.
    pub fn version(&self) -> u32 {
        self.0.version()
    }
}

impl Inner {
    /// Builds the tower of a key, one room upon the other.
    pub(crate) async fn build(&self, name: &SequenceName, key: &Key) -> Result<Live, EngineError> {
        if let Some(trouble) = self.keeper.trouble() {
            // Before a definition is written into a ledger that may have to be replaced.
            return Err(EngineError::of_source(name, trouble.error()));
        }
        self.catalog.bring_pending().await.map_err(|error| EngineError::of_open(&error))?;
        let entry = self.catalog.find_or_create(name).await?;
        let span = entry.body()?.span();
        let layout = self.desk.layout();
        let counters = self.keeper.counters(key, span.raw_max(layout)).await;
        let counters = counters.map_err(|error| EngineError::of_source(name, error))?;
        let ring: Arc<dyn Source> = self.ring.source(key.clone(), counters);
        let expanded = Arc::new(Expansion::new(ring, layout));
        let spanned = Arc::new(Spanned::new(expanded, layout, span));
        let source: Arc<dyn Source> = Arc::clone(&spanned) as _;
        let reservoir = Reservoir::within(source, Arc::clone(&self.setting));
        Ok(Live { entry, spanned, reservoir })
    }
}
