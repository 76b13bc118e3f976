//! The sequences of a cluster as this server knows them. Nothing is asked of the ledger, so that callers who list can't
//! keep it from counting.

use sequent_core::SequenceName;
use sequent_format::Timestamp;

use crate::{
    catalog::Entry,
    definition::Body,
    engine::Engine,
    error::{EngineError, reason::Reason},
    ledger_timeout::not_found,
    status::{
        report::{KnownSequence, KnownSequences, SequenceSummary},
        sequences::summary,
    },
};

impl Engine {
    /// At most `most` sequences after a name, ascending, of those whose names are `wanted`. Any text is allowed as a name.
    pub fn known_sequences(&self, after: &str, most: usize, wanted: impl Fn(&str) -> bool) -> KnownSequences {
        let catalog = &self.0.catalog;
        let (mut entries, as_of) = (catalog.after(after, most.saturating_add(1), wanted), catalog.as_of());
        let more = entries.len() > most;
        entries.truncate(most);
        let now = catalog.now();
        let sequences = entries.iter().map(|entry| summary_of(entry, now)).collect();
        KnownSequences { sequences, more, as_of: as_of.to_string() }
    }

    /// One sequence. The ledger is asked only for a name that is unknown here, and not for each.
    ///
    /// # Errors
    ///
    /// `SEQUENCE_NOT_FOUND`, for a forgotten name, too; errors of the ledger; `QUOTA_EXCEEDED` if too many unknown names are asked for.
    pub async fn known_sequence(&self, name: &SequenceName) -> Result<KnownSequence, EngineError> {
        let catalog = &self.0.catalog;
        let Some(entry) = catalog.find_defined(name).await? else {
            // A ledger that went back may have lost it.
            let trouble = self.0.guard.trouble();
            return Err(trouble.map_or_else(|| not_found(name), |trouble| trouble.error().into()));
        };
        if entry.is_forgotten() {
            return Err(EngineError::new(Reason::SequenceNotFound, entry.forgotten()));
        }
        Ok(KnownSequence {
            summary: summary_of(&entry, catalog.now()),
            definition: entry.text().to_owned(),
            as_of: catalog.as_of().to_string(),
        })
    }
}

fn summary_of(entry: &Entry, now: Timestamp) -> SequenceSummary {
    let named = (entry.name().as_str(), entry.version);
    match entry.known() {
        Ok(body) => summary(named, (Some(body), None), now),
        // A definition that can't be verified here, for lack of an obfuscation key, is still shown.
        Err(fault) => {
            let body = Body::unproven(entry.text()).ok();
            summary(named, (body.as_ref(), Some(fault.clone())), now)
        }
    }
}
