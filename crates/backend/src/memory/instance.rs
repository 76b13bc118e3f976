//! Instance of a memory store or ledger, and the next one after a restart.

use sequent_core::{Entropy, ErrorKind, InstanceId, SourceError};

/// The current instance, with a count that never goes back, even if the data does.
#[derive(Debug, Clone)]
pub(super) struct CurrentInstance {
    prefix: String,
    generation: u64,
    instance: InstanceId,
}

impl CurrentInstance {
    pub(super) fn new(engine: &str, entropy: &dyn Entropy) -> Self {
        let prefix = format!("{engine} {:016x}", entropy.bits());
        let instance = InstanceId::new(format!("{prefix} 1"));
        Self { prefix, generation: 1, instance }
    }

    pub(super) fn instance(&self) -> &InstanceId {
        &self.instance
    }

    pub(super) fn renew(&mut self) -> InstanceId {
        self.generation += 1;
        self.instance = InstanceId::new(format!("{} {}", self.prefix, self.generation));
        self.instance.clone()
    }

    /// `InstanceChanged` unless the current instance is `under`.
    pub(super) fn check(&self, under: &InstanceId) -> Result<(), SourceError> {
        if self.instance == *under {
            return Ok(());
        }
        let context = format!("found instance {:?}, expected {under:?}", self.instance);
        Err(SourceError::new(ErrorKind::InstanceChanged, context))
    }
}
