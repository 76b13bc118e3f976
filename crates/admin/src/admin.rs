//! Handle for operators' commands on a cluster, and slot commands.

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

/// A slot command, before the ledger has dated it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saying {
    /// The slot.
    pub slot: SlotIndex,
    /// What is to be done with the slot.
    pub verb: SlotVerb,
    /// The operator who gives it.
    pub who: String,
    /// The reason.
    pub why: String,
    /// The end of its validity, in milliseconds since 1970; `None`: until another slot command.
    pub until_ms: Option<u64>,
}

/// Handle for operators' commands on an existing cluster. It takes no number, stamps nothing, and needs no
/// shard that answers. Cheap to clone.
#[derive(Clone)]
pub struct Admin(pub(crate) Arc<ClusterHandle>);

impl Admin {
    /// Opens the ledger of an existing cluster; never makes one.
    pub async fn open(config: &Config, options: &Options) -> Result<Self, OpenError> {
        Ok(Self(Arc::new(ClusterHandle::open(config, options).await?)))
    }

    /// The handle for the cluster of a running engine; it ends with the engine.
    pub fn of(engine: &Engine) -> Self {
        Self(Arc::clone(engine.cluster()))
    }

    /// What can be read of the cluster: lists, and the state of each store.
    pub fn cluster(&self) -> &ClusterHandle {
        &self.0
    }

    /// Closes the files that it has opened; returns those that could not be closed in time.
    pub async fn close(&self) -> Vec<String> {
        self.0.close().await
    }

    /// Gives a slot command; every server obeys within two seconds.
    pub async fn say(&self, saying: &Saying) -> Result<SlotCommandReport, EngineError> {
        let slots = self.layout().slots();
        if saying.slot >= slots {
            let bound = format!("0 to {} are allowed", slots - 1);
            return Err(EngineError::invalid("slot", saying.slot, bound));
        }
        let Saying { slot, verb, who, why, until_ms } = saying.clone();
        let word = SlotCommand { slot, verb, who, why, at_ms: 0, until_ms };
        let said = within(self.limit(), "give a slot command", self.ledger().say(&word)).await;
        let said = said.map_err(|error| of_ledger(&error))?;
        if verb == SlotVerb::Rescue {
            // If this fails, the new slot command hides the notes until another one replaces it.
            self.0.clear_quarantined(slot);
        }
        Ok(SlotCommandReport::from(&said))
    }

    /// The quarantined counters of a slot, as processes of this data directory noted them: those that only a
    /// [rescue](SlotVerb::Rescue) releases. Empty if the slot commands can't be read.
    pub async fn put_aside(&self, slot: SlotIndex) -> Vec<QuarantineReport> {
        let commands = within(self.limit(), "read slot commands", self.ledger().slot_commands()).await;
        let mut aside = commands.map(|commands| self.0.quarantined(&commands)).unwrap_or_default();
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
