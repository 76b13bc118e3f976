//! What is known of the cluster that imports: its sequences, and how far each key was advanced.

use std::collections::{BTreeMap, HashMap};

use sequent_core::{Key, Layout, Numbering, SequenceName};
use sequent_engine::{Body, Engine, EngineError, NextRequest, report::SequenceSummary};

use super::{Planned, checks};
use crate::import::decide::Existing;

/// The request of a counter of a sequence.
pub(crate) async fn request(
    engine: &Engine,
    name: &SequenceName,
    period: Option<&str>,
) -> Result<NextRequest, EngineError> {
    let at = match period {
        Some(period) => Some(engine.beginning(name, period).await?),
        None => None,
    };
    Ok(NextRequest { at, ..NextRequest::of(name.clone()) })
}

/// What is known of this cluster.
pub(crate) struct Known {
    sequences: HashMap<String, SequenceSummary>,
    advanced: BTreeMap<Key, u64>,
}

impl Known {
    pub(crate) async fn of(engine: &Engine) -> Result<Self, EngineError> {
        let sequences = engine.cluster().list().await?;
        let sequences = sequences.into_iter().map(|summary| (summary.sequence.clone(), summary)).collect();
        Ok(Self { sequences, advanced: engine.all_advanced().await? })
    }

    /// The sequence of a counter, if it is there.
    pub(crate) async fn existing(
        &self,
        engine: &Engine,
        planned: &Planned,
    ) -> Result<Option<Existing>, EngineError> {
        let Some(summary) = self.sequences.get(&planned.shown.sequence) else { return Ok(None) };
        let SequenceSummary { start, end, step, ref template, .. } = *summary;
        let counted = match planned.name.as_ref().filter(|_| planned.shown.template == *template) {
            Some(name) => {
                Some(engine.key_of(&request(engine, name, planned.shown.period.as_deref()).await?).await?)
            }
            None => None,
        };
        let held = counted.as_ref().and_then(|(key, _)| self.advanced.get(key).copied()).unwrap_or(0);
        let body = counted.map(|(_, body)| body);
        let start =
            body.as_ref().and_then(|body| first_encoded(body, engine.cluster().layout())).unwrap_or(start);
        let zone = body.as_ref().and_then(checks::zone_of);
        let numbering = body.map_or(Numbering::Ordinal, |body| body.numbering());
        Ok(Some(Existing { start, end, step, template: template.clone(), zone, numbering, held }))
    }
}

/// The first number of a definition whose numbers are encoded.
fn first_encoded(body: &Body, layout: Layout) -> Option<u64> {
    let is_encoded = body.numbering() == Numbering::Encoded;
    is_encoded.then(|| u64::from(layout.slots()) * layout.numbers_per_id())
}
