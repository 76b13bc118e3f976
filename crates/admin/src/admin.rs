//! What an operator does with a cluster: the handle, and words about slots.

use std::{sync::Arc, time::Duration};

use sequent_core::{
    Layout, SlotIndex,
    ledger::{Ledger, SlotCommand, SlotVerb},
};
use sequent_engine::{
    ClusterHandle, Engine, EngineError, OpenError, Options,
    config::Config,
    ledger_timeout::{of_ledger, within},
    report::{QuarantineReport, SlotCommandReport},
};

/// An operator's word about a slot, before the ledger has dated it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saying {
    /// The slot.
    pub slot: SlotIndex,
    /// What shall be done.
    pub verb: SlotVerb,
    /// Who says it.
    pub who: String,
    /// Why.
    pub why: String,
    /// Until when it counts, in milliseconds since 1970; `None`: until another word.
    pub until_ms: Option<u64>,
}

/// What an operator does with a cluster that exists. It takes no number, stamps nothing, and needs no shard that answers. Cheap to clone.
#[derive(Clone)]
pub struct Admin(pub(crate) Arc<ClusterHandle>);

impl Admin {
    /// Opens the ledger of a cluster that exists; never makes one.
    pub async fn open(config: &Config, options: &Options) -> Result<Self, OpenError> {
        Ok(Self(Arc::new(ClusterHandle::open(config, options).await?)))
    }

    /// The same for the cluster of an engine that runs; it ends with the engine.
    pub fn of(engine: &Engine) -> Self {
        Self(Arc::clone(engine.cluster()))
    }

    /// What can be read of it: lists, a look at each store.
    pub fn cluster(&self) -> &ClusterHandle {
        &self.0
    }

    /// Leaves the files that it has opened; names those that could not be left in time.
    pub async fn close(&self) -> Vec<String> {
        self.0.close().await
    }

    /// Says a word about a slot; every server obeys within two seconds.
    pub async fn say(&self, saying: &Saying) -> Result<SlotCommandReport, EngineError> {
        let slots = self.layout().slots();
        if saying.slot >= slots {
            let bound = format!("0 to {} are allowed", slots - 1);
            return Err(EngineError::invalid("slot", saying.slot, bound));
        }
        let Saying { slot, verb, who, why, until_ms } = saying.clone();
        let word = SlotCommand { slot, verb, who, why, at_ms: 0, until_ms };
        let said = within(self.limit(), "say a word", self.ledger().say(&word)).await;
        let said = said.map_err(|error| of_ledger(&error))?;
        if verb == SlotVerb::Rescue {
            // Where they stay, the word that was just said hides them, until another word takes its place.
            self.0.clear_quarantined(slot);
        }
        Ok(SlotCommandReport::from(&said))
    }

    /// The counters of a slot from which nothing is taken, as processes of this data directory noted them; those that wait for
    /// nothing but a [rescue](SlotVerb::Rescue). None where the words can't be read.
    pub async fn put_aside(&self, slot: SlotIndex) -> Vec<QuarantineReport> {
        let words = within(self.limit(), "read the words", self.ledger().slot_commands()).await;
        let mut aside = words.map(|words| self.0.quarantined(&words)).unwrap_or_default();
        aside.retain(|counter| counter.slot == slot);
        aside
    }

    pub(crate) fn layout(&self) -> Layout {
        self.0.layout()
    }

    pub(crate) fn ledger(&self) -> &dyn Ledger {
        &*self.0.ledger
    }

    pub(crate) fn limit(&self) -> Duration {
        self.0.limit
    }
}
