//! Durability of the ledger: its settings may change at a restart, and while it runs.

use std::time::Duration;

use sequent_core::{DurabilityClass, ErrorKind, SourceError, ledger::LedgerInspection};

use super::{LedgerClient, LedgerFault, lossy};

/// The greatest age of known settings while dense numbers are given, since nothing reports a change.
const LOOK_EVERY: Duration = Duration::from_secs(10);

impl LedgerClient {
    /// How much of what the ledger acknowledges survives a crash, by its settings at the last look.
    pub(crate) fn durability(&self) -> DurabilityClass {
        self.state().durability.class
    }

    /// Refuses dense numbers if the ledger may lose acknowledged writes, unless the config allows it.
    pub(crate) fn may_count(&self) -> Result<(), SourceError> {
        let durability = self.state().durability.clone();
        if self.config.lossy_dense || durability.class == DurabilityClass::Durable {
            return Ok(());
        }
        Err(SourceError::new(ErrorKind::LedgerBehind, lossy(&durability)))
    }

    /// The fault if the ledger and every shard are volatile and the config does not allow it. A shard not seen yet counts as
    /// not volatile.
    pub(super) fn forgets_with_all(&self, found: &LedgerInspection) -> Option<LedgerFault> {
        let durability = &found.durability;
        let is_well = self.config.volatile_alone || durability.class != DurabilityClass::Volatile;
        if is_well || !self.shards.iter().all(|shard| shard.forgets()) {
            return None;
        }
        Some(LedgerFault::Forgets { durability: durability.clone() })
    }

    /// Reads the settings, if [`LOOK_EVERY`] has passed.
    pub(crate) async fn look_at_the_settings(&self) {
        let since = self.env.clock.now().saturating_duration_since(self.state().looked);
        if since < LOOK_EVERY || self.loss().is_some() {
            return;
        }
        self.state().looked = self.env.clock.now();
        // If the ledger does not answer, the next count reports it; otherwise the known settings stay valid for as long again.
        if let Ok(found) = self.limited("inspect", self.ledger.inspect()).await {
            self.take_up_settings(&found);
        }
    }

    /// Takes over the settings, but only from the instance in force. Another instance or another ledger is judged by a
    /// reconnection, and gives nothing before.
    pub(super) fn take_up_settings(&self, found: &LedgerInspection) {
        let mut state = self.state();
        if found.id == self.id && found.instance == state.instance {
            state.durability = found.durability.clone();
            state.other_master = LedgerFault::of_masters(found);
        }
    }
}
