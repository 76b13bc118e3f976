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
    pub(crate) fn record(&self, endpoint: SlotIndex, failure: Option<&SourceError>) {
        let cause = failure.and_then(std::error::Error::source);
        let error = cause.and_then(|cause| cause.downcast_ref::<Error>());
        if let Some(entry) = self.errors().get_mut(usize::from(endpoint)) {
            *entry = error.cloned();
        }
    }

    /// The error of the first endpoint, if all of them are foreign.
    pub(crate) fn error_of_all(&self) -> Option<Error> {
        let errors = self.errors();
        if errors.iter().any(Option::is_none) { None } else { errors.first().cloned().flatten() }
    }

    fn errors(&self) -> MutexGuard<'_, Vec<Option<Error>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
