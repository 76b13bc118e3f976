//! What a caller can know of a sequence without a number: whether there is one, and what its numbers are like.

use std::{sync::Arc, time::Instant};

use sequent_core::{Key, SequenceName, Span};

use crate::{
    catalog::Entry,
    definition::Placement,
    engine::Engine,
    error::{EngineError, reason::Reason},
    issue::dense::dense_number,
};

/// The numbers of a sequence, by the version in effect now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceShape {
    /// Where they are counted.
    pub placement: Placement,
    /// Start, step and end.
    pub span: Span,
    /// Whether each has a text, without which it is never issued.
    pub has_texts: bool,
}

impl SequenceShape {
    /// Whether several numbers of one request are consecutive, whatever else happens: those of a dense sequence are.
    /// Shards of a spread one can be apart.
    pub fn is_consecutive(&self) -> bool {
        self.placement == Placement::Dense && self.span.step() == 1 && !self.has_texts
    }
}

impl Engine {
    /// A sequence that this process knows. One that another server has just defined may be missing for two seconds.
    /// Asks no store, and defines nothing.
    pub fn known_shape(&self, name: &SequenceName) -> Option<SequenceShape> {
        let entry = self.0.catalog.find(name)?;
        self.shape_of(&entry).ok()
    }

    /// The same, from the ledger if this process does not know the sequence.
    pub async fn shape(&self, name: &SequenceName) -> Result<Option<SequenceShape>, EngineError> {
        let entry = self.0.catalog.find_defined(name).await?;
        entry.map(|entry| self.shape_of(&entry)).transpose()
    }

    /// The highest number that a dense sequence without texts has issued; `None` if it has issued none, and for any
    /// other sequence: what servers and clients hold ready was not issued, and only they know how much that is.
    pub async fn highest_issued(
        &self,
        name: &SequenceName,
        deadline: Instant,
    ) -> Result<Option<u64>, EngineError> {
        let dense = |shape: &SequenceShape| shape.placement == Placement::Dense && !shape.has_texts;
        let Some(shape) = self.known_shape(name).filter(dense) else { return Ok(None) };
        let key = Key::of(name);
        let asked = self.dense_at(name, &key, shape.span.capacity());
        let Ok(ordinal) = tokio::time::timeout_at(deadline.into(), asked).await else {
            let text = format!("the ledger did not say in time what {name} has issued");
            return Err(EngineError::new(Reason::DeadlineExceeded, text));
        };
        let ordinal = ordinal?;
        Ok((ordinal > 0).then(|| dense_number(shape.span, ordinal)))
    }

    fn shape_of(&self, entry: &Arc<Entry>) -> Result<SequenceShape, EngineError> {
        let entry = entry.in_effect(self.0.request_clock.now(&*self.0.env.clock));
        let body = entry.body()?;
        let (placement, span) = (body.placement(), body.span());
        Ok(SequenceShape { placement, span, has_texts: body.texts().is_some() })
    }
}
