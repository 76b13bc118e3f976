//! Endpoints that answer, but not like servers of sequences: a proxy's page, another service at the address.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sequent_core::{SlotIndex, SourceError};

use crate::error::Error;

/// What each endpoint that is none said last.
pub(crate) struct ForeignEndpoints(Mutex<Vec<Option<Error>>>);

impl ForeignEndpoints {
    /// None of so many endpoints is one, as far as anybody knows.
    pub(crate) fn new(endpoints: usize) -> Self {
        Self(Mutex::new(vec![None; endpoints]))
    }

    /// An endpoint was heard: its fault says whether it is one.
    pub(crate) fn record(&self, endpoint: SlotIndex, fault: Option<&SourceError>) {
        let beneath = fault.and_then(std::error::Error::source);
        let said = beneath.and_then(|beneath| beneath.downcast_ref::<Error>());
        if let Some(place) = self.said().get_mut(usize::from(endpoint)) {
            *place = said.cloned();
        }
    }

    /// What the first of them said, where all endpoints are strangers.
    pub(crate) fn error_of_all(&self) -> Option<Error> {
        let said = self.said();
        if said.iter().any(Option::is_none) { None } else { said.first().cloned().flatten() }
    }

    fn said(&self) -> MutexGuard<'_, Vec<Option<Error>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
