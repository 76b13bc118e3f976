//! A live key: its tower of sources, from the guard's counters to the reservoir.

use std::{sync::Arc, time::Duration};

use sequent_buffer::{Expansion, Reservoir, Spanned};
use sequent_core::{Key, SequenceName, Source, ledger::Definition};

use crate::{EngineError, catalog::Entry, engine::Inner};

/// A key in use.
pub(crate) struct Live {
    entry: Arc<Entry>,
    reservoir: Reservoir,
}

impl Live {
    pub(crate) fn reservoir(&self) -> &Reservoir {
        &self.reservoir
    }

    pub(crate) fn definition(&self) -> &Definition {
        &self.entry.definition
    }

    pub(crate) fn version(&self) -> u32 {
        self.entry.definition.version
    }

    /// Whether nothing has been taken for `after`; what is kept beyond need is burnt on the way.
    pub(crate) fn is_idle(&self, after: Duration) -> bool {
        self.reservoir.trim() >= after
    }
}

/// A live key's reservoir. While it is held, the key is not given up as idle.
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

    /// The version of the definition that its numbers are given under.
    pub fn version(&self) -> u32 {
        self.0.version()
    }
}

impl Inner {
    /// Builds the tower of a key, one room upon the other.
    pub(crate) async fn build(&self, name: &SequenceName, key: &Key) -> Result<Live, EngineError> {
        let entry = self.catalog.find_or_create(name).await?;
        let span = entry.body()?.span();
        let layout = self.desk.layout();
        let counters = self.keeper.counters(key, span.raw_max(layout)).await;
        let counters = counters.map_err(|error| EngineError::of_source(name, error))?;
        let ring: Arc<dyn Source> = self.ring.source(key.clone(), counters);
        let expanded = Arc::new(Expansion::new(ring, layout));
        let spanned = Arc::new(Spanned::new(expanded, layout, span));
        let reservoir = Reservoir::within(spanned, Arc::clone(&self.setting));
        Ok(Live { entry, reservoir })
    }
}
