//! The caller of one request: admits it by verb, pattern and quotas, and settles what it used.

use std::{net::IpAddr, sync::Arc};

use sequent_engine::{Reason, config::Verb};

use crate::{
    audit::Entry,
    auth::{
        ConnectionAuth, Principal,
        quota::{InFlight, QuotaExceeded, TakenNumbers},
        refusal::{denied, exceeded},
    },
    error::ApiError,
};

/// The caller of one request. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Caller {
    connection: Arc<ConnectionAuth>,
    principal: Arc<Principal>,
    /// What its route needs; `None`: nothing that concerns a sequence.
    verb: Option<Verb>,
    /// The quota of requests, if this one is above it.
    over: Option<QuotaExceeded>,
}

/// A request that was admitted. Numbers that it does not get are given back by [`Caller::settle`].
pub(crate) struct Admitted {
    /// If numbers are counted.
    numbers: Option<TakenNumbers>,
    _in_flight: InFlight,
}

impl Caller {
    /// The caller of a request, which counts from here on, whatever comes of it.
    pub(super) fn new(
        connection: Arc<ConnectionAuth>,
        principal: Arc<Principal>,
        verb: Option<Verb>,
    ) -> Self {
        let over = if principal.quotas.has_requests() {
            principal.quotas.take_request(connection.auth().elapsed()).err()
        } else {
            None
        };
        Self { connection, principal, verb, over }
    }

    /// The same caller of a further request.
    pub(crate) fn again(&self) -> Self {
        Self::new(Arc::clone(&self.connection), Arc::clone(&self.principal), self.verb)
    }

    /// Counts `count` requests that were refused together, of which the first is this one.
    pub(crate) fn refused_each(&self, reason: Reason, count: u64) {
        self.principal.metrics.refused(reason, count);
        self.count_further(count.saturating_sub(1));
    }

    /// Counts further requests that are answered as this one is.
    pub(crate) fn count_further(&self, count: u64) {
        if count > 0 && self.principal.quotas.has_requests() {
            let now = self.connection.auth().elapsed();
            let _counted = (0..count).take_while(|_| self.principal.quotas.take_request(now).is_ok()).count();
        }
    }

    /// The address of its peer.
    pub(crate) fn peer(&self) -> IpAddr {
        self.connection.peer()
    }

    /// The principal's name.
    pub(crate) fn name(&self) -> &str {
        self.principal.name()
    }

    /// The principal's name, if the caller had to say who it is.
    pub(crate) fn principal(&self) -> Option<&str> {
        self.principal.known()
    }

    /// Whether the caller may do something besides what its route needs.
    pub(crate) fn may(&self, verb: Verb, name: &str) -> bool {
        self.principal.may(verb, name)
    }

    /// Refuses a caller that may not do what its route needs. A request without a sequence has the empty name.
    pub(crate) fn authorize(&self, name: &str) -> Result<(), ApiError> {
        let checked = match self.verb {
            Some(verb) => self.principal.authorize(verb, name),
            // A route that the table does not know.
            None => Err(denied(self.principal.name(), None, name)),
        };
        checked.map_err(|error| self.connection.refused("denied", error))
    }

    /// Refuses a caller that may not do something besides what its route needs.
    pub(crate) fn authorize_also(&self, verb: Verb, name: &str) -> Result<(), ApiError> {
        self.principal.authorize(verb, name).map_err(|error| self.connection.refused("denied", error))
    }

    /// Refuses a request that is above the quota of requests. [`admit`](Self::admit) does so, too.
    pub(crate) fn within_requests(&self) -> Result<(), ApiError> {
        self.over.as_ref().map_or(Ok(()), |quota| Err(self.exceeded(quota)))
    }

    /// Admits a request of several names, each of which [`authorize`](Self::authorize) decides.
    pub(crate) fn begin(&self) -> Result<Admitted, ApiError> {
        self.admitted(0)
    }

    /// Admits a request that takes no numbers.
    pub(crate) fn admit(&self, name: &str) -> Result<Admitted, ApiError> {
        self.authorize(name)?;
        self.admitted(0)
    }

    /// Admits a request for numbers of a sequence that [`authorize`](Self::authorize) has allowed.
    pub(crate) fn admit_numbers(&self, name: &str, count: u64) -> Result<Admitted, ApiError> {
        if let Some((quota, limit)) = self.principal.quotas.numbers_max().filter(|(_, limit)| count > *limit)
        {
            // It would never be admitted, however long it waits.
            let bound = format!("at most {limit} are allowed: {quota} of {}", self.principal.name());
            return Err(ApiError::field("count", &count.to_string(), bound));
        }
        if self.verb == Some(Verb::Next) {
            self.connection.remember(&self.principal, name);
        }
        self.admitted(count)
    }

    /// Takes a key that this request brings into use, if keys are counted.
    pub(crate) fn take_key(&self, is_new: impl FnOnce() -> bool) -> Result<(), ApiError> {
        if !self.principal.quotas.has_new_keys() || !is_new() {
            return Ok(());
        }
        let taken = self.principal.quotas.take_key(self.connection.auth().elapsed());
        taken.map_err(|quota| self.exceeded(&quota))
    }

    /// The most numbers of one lease, of the server's `most`.
    pub(crate) fn lease_max(&self, most: u64) -> u64 {
        self.principal.quotas.lease_max(most)
    }

    /// Whether its requests are counted one by one within a period.
    pub(crate) fn has_rates(&self) -> bool {
        self.principal.quotas.has_rates()
    }

    /// Whether principals are demanded, so that a verb was allowed on purpose.
    pub(crate) fn is_principal(&self) -> bool {
        self.connection.auth().is_required()
    }

    /// Records a change that the caller asked for, and how it ended.
    pub(crate) fn record<T>(&self, change: Entry, outcome: &Result<T, ApiError>) {
        let ended = outcome.as_ref().map_or_else(|error| error.reason().as_str(), |_| "OK");
        self.connection.record(change.of(self.principal()).ended(ended));
    }

    /// Counts an answered request: its reason unless it succeeded, and the numbers that it was given.
    pub(crate) fn count(&self, failed: Option<Reason>, numbers: u64) {
        self.principal.metrics.answered(failed, numbers);
    }

    /// Gives back the numbers that were not given. A request that ended for an unknown reason may have used them up.
    pub(crate) fn settle(&self, admitted: &Admitted, outcome: Result<u64, Reason>) {
        let Some(numbers) = admitted.numbers else { return };
        let given = match outcome {
            Ok(given) => given,
            Err(Reason::DeadlineExceeded) => return,
            Err(_) => 0,
        };
        let unused = numbers.count().saturating_sub(given);
        if unused > 0 {
            self.principal.quotas.give_back_numbers(numbers, unused, self.connection.auth().elapsed());
        }
    }

    fn admitted(&self, count: u64) -> Result<Admitted, ApiError> {
        self.within_requests()?;
        let quotas = &self.principal.quotas;
        let in_flight = quotas.begin().map_err(|quota| self.exceeded(&quota))?;
        let numbers = if count > 0 && quotas.numbers_max().is_some() {
            let taken = quotas.take_numbers(count, self.connection.auth().elapsed());
            Some(taken.map_err(|quota| self.exceeded(&quota))?)
        } else {
            None
        };
        Ok(Admitted { numbers, _in_flight: in_flight })
    }

    fn exceeded(&self, quota: &QuotaExceeded) -> ApiError {
        exceeded(self.principal.name(), quota)
    }
}
