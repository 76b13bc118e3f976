//! Who is speaking: an incarnation, and how the next one is made.

use sequent_core::{Entropy, ErrorKind, Incarnation, SourceError};

/// The incarnation in force, with a count that never goes back, whatever the data does.
#[derive(Debug, Clone)]
pub(super) struct Speaker {
    prefix: String,
    generation: u64,
    incarnation: Incarnation,
}

impl Speaker {
    pub(super) fn new(engine: &str, entropy: &dyn Entropy) -> Self {
        let prefix = format!("{engine} {:016x}", entropy.bits());
        let incarnation = Incarnation::new(format!("{prefix} 1"));
        Self { prefix, generation: 1, incarnation }
    }

    pub(super) fn incarnation(&self) -> &Incarnation {
        &self.incarnation
    }

    pub(super) fn rebear(&mut self) -> Incarnation {
        self.generation += 1;
        self.incarnation = Incarnation::new(format!("{} {}", self.prefix, self.generation));
        self.incarnation.clone()
    }

    pub(super) fn check(&self, under: &Incarnation) -> Result<(), SourceError> {
        reborn_unless(&self.incarnation, under)
    }
}

/// `Reborn` where `under` is not the incarnation that speaks.
pub(super) fn reborn_unless(speaks: &Incarnation, under: &Incarnation) -> Result<(), SourceError> {
    if speaks == under {
        return Ok(());
    }
    let context = format!("found incarnation {speaks:?}, expected {under:?}");
    Err(SourceError::new(ErrorKind::Reborn, context))
}
