//! What the ledger's settings make of it: they may be others after a restart of it, and while it runs.

use std::time::Duration;

use sequent_core::{DurabilityClass, ErrorKind, SourceError, ledger::LedgerInspection};

use super::{LedgerClient, LedgerFault, lossy};

/// How old what is known of them may be while dense numbers are given: whoever changes them tells nobody.
const LOOK_EVERY: Duration = Duration::from_secs(10);

impl LedgerClient {
    /// How much of what it acknowledges outlives a crash, by its settings when they were looked at last.
    pub(crate) fn durability(&self) -> DurabilityClass {
        self.state().durability.class
    }

    /// Refuses dense numbers of a ledger that may lose what it acknowledged, unless somebody allowed it by name.
    pub(crate) fn may_count(&self) -> Result<(), SourceError> {
        let durability = self.state().durability.clone();
        if self.config.lossy_dense || durability.class == DurabilityClass::Durable {
            return Ok(());
        }
        Err(SourceError::new(ErrorKind::LedgerBehind, lossy(&durability)))
    }

    /// Why a run of the ledger with these settings is not to be trusted: it forgets, and so does every shard, and nobody
    /// allowed that. Of a shard that was not seen yet nobody knows.
    pub(super) fn forgets_with_all(&self, found: &LedgerInspection) -> Option<LedgerFault> {
        let durability = &found.durability;
        let is_well = self.config.volatile_alone || durability.class != DurabilityClass::Volatile;
        if is_well || !self.shards.iter().all(|shard| shard.forgets()) {
            return None;
        }
        Some(LedgerFault::Forgets { durability: durability.clone() })
    }

    /// Looks at them, where [`LOOK_EVERY`] has passed.
    pub(crate) async fn look_at_the_settings(&self) {
        let since = self.env.clock.now().saturating_duration_since(self.state().looked);
        if since < LOOK_EVERY || self.loss().is_some() {
            return;
        }
        self.state().looked = self.env.clock.now();
        // Where it does not answer, the call that counts says so; else what is known goes on for as long again.
        if let Ok(found) = self.limited("inspect", self.ledger.inspect()).await {
            self.take_up_settings(&found);
        }
    }

    /// Those of the run in force alone: another run of the ledger, or another ledger, is a renewal's to judge, and gives nothing
    /// before.
    pub(super) fn take_up_settings(&self, found: &LedgerInspection) {
        let mut state = self.state();
        if found.id == self.id && found.instance == state.instance {
            state.durability = found.durability.clone();
            state.other_master = LedgerFault::of_masters(found);
        }
    }
}
