//! Endpoints at which another program answers: a proxy's page, or another service.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sequent_core::{SlotIndex, SourceError};

use crate::error::Error;

/// Last error of each foreign endpoint.
pub(crate) struct ForeignEndpoints(Mutex<Vec<Option<Error>>>);

impl ForeignEndpoints {
    /// No endpoint is foreign at first.
    pub(crate) fn new(endpoints: usize) -> Self {
        Self(Mutex::new(vec![None; endpoints]))
    }

    /// Records the outcome of an endpoint: its error tells whether it is foreign.
    pub(crate) fn record(&self, endpoint: SlotIndex, fault: Option<&SourceError>) {
        let beneath = fault.and_then(std::error::Error::source);
        let said = beneath.and_then(|beneath| beneath.downcast_ref::<Error>());
        if let Some(place) = self.said().get_mut(usize::from(endpoint)) {
            *place = said.cloned();
        }
    }

    /// The error of the first endpoint, if all of them are foreign.
    pub(crate) fn error_of_all(&self) -> Option<Error> {
        let said = self.said();
        if said.iter().any(Option::is_none) { None } else { said.first().cloned().flatten() }
    }

    fn said(&self) -> MutexGuard<'_, Vec<Option<Error>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
