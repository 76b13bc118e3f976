//! Names that have been defined or used. Any other name may be misspelt, and creates no sequence.

use std::sync::Arc;

use sequent_core::{SequenceName, sync};
use sequent_format::did_you_mean;

use super::{Catalog, Entry};
use crate::error::{EngineError, reason::Reason};

/// Upper limit of the names compared to find the nearest; with more names there is no suggestion.
const NAMES_COMPARED_MAX: usize = 10_000;

impl Catalog {
    /// A definition in force; none is created. The error suggests the nearest name, if there is one.
    pub(crate) async fn find_known(&self, name: &SequenceName) -> Result<Arc<Entry>, EngineError> {
        if self.lost.get(name).is_none() && self.find_defined(name).await?.is_none() {
            return Err(self.unknown(name));
        }
        self.find_or_create(name).await
    }

    fn unknown(&self, name: &SequenceName) -> EngineError {
        let create = if self.may_create(name) { "--create" } else { "define it" };
        let mut text = format!(
            "no sequence {name} is defined, and none of that name was used: where it is meant, {create}"
        );
        let hint = self.nearest(name);
        if !hint.is_empty() {
            text = format!("{text}; {hint}");
        }
        let bound = "a sequence that is defined, or was used, is expected";
        EngineError::new(Reason::SequenceNotFound, text).of_field("sequence", name, bound)
    }

    fn nearest(&self, name: &SequenceName) -> String {
        let (snapshot, fresh) = (self.snapshot.load(), sync::read(&self.fresh));
        if snapshot.entries.len() + fresh.len() > NAMES_COMPARED_MAX {
            return String::new();
        }
        let names: Vec<&str> =
            snapshot.entries.keys().chain(fresh.keys()).map(SequenceName::as_str).collect();
        did_you_mean(name.as_str(), &names)
    }
}
