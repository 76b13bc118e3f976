//! One call: which endpoint to ask, which next, and what to make of their outcomes.

use std::{
    future::poll_fn,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::Poll,
};

use sequent_core::{BoxFuture, ErrorKind, SlotFailure, SlotIndex, SourceError};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    outcome::Outcome,
    state::{State, TRY_ALL_EVERY},
};
use crate::{
    health::member::events::ProbeReason,
    membership::{Membership, probe_permit::ProbePermit},
    status::SlotState,
};

/// A call in progress. Dropped, it leaves its requests to finish by themselves.
pub(super) struct Call<'a, T: 'static, F> {
    state: &'a State,
    request: F,
    asked: Vec<bool>,
    /// At most one for each endpoint.
    requests: JoinSet<(SlotIndex, Outcome<T>)>,
    try_next: Option<T>,
    failures: Vec<SlotFailure>,
}

impl<T, F> Drop for Call<'_, T, F> {
    fn drop(&mut self) {
        // An aborted request could not report a fault of its endpoint.
        self.requests.detach_all();
    }
}

impl<'a, T: Send + 'static, F: Fn(SlotIndex) -> BoxFuture<'static, Outcome<T>>> Call<'a, T, F> {
    pub(super) fn new(state: &'a State, request: F) -> Self {
        let asked = vec![false; usize::from(state.endpoints)];
        Self { state, request, asked, requests: JoinSet::new(), try_next: None, failures: Vec::new() }
    }

    pub(super) async fn run(mut self) -> Result<T, Vec<SlotFailure>> {
        let slow_after = self.state.membership.config().slow_after;
        let mut more = self.ask_next();
        loop {
            if self.requests.is_empty() && !self.ask_due() && !self.ask_all() {
                return self.none_answered();
            }
            tokio::select! {
                outcome = self.requests.join_next() => match outcome {
                    Some(Ok((endpoint, outcome))) => {
                        if let Some(answer) = self.receive(endpoint, outcome) { return Ok(answer) }
                    }
                    // The request's runtime has ended. The others may still be asked.
                    Some(Err(_)) => {}
                    None => return self.none_answered(),
                },
                // An endpoint that hangs delays nobody while another one can be asked.
                () = sleep(slow_after), if more => more = self.ask_next(),
            }
        }
    }

    fn receive(&mut self, endpoint: SlotIndex, outcome: Outcome<T>) -> Option<T> {
        match outcome {
            Outcome::Answer(answer) => {
                self.state.prefer(endpoint);
                return Some(answer);
            }
            Outcome::TryNext(answer) => self.try_next = Some(answer),
            Outcome::Fault(error) => {
                self.failures.push(SlotFailure::of(endpoint, &error));
            }
        }
        None
    }

    /// Asks the best endpoint not asked yet; returns whether there was one.
    fn ask_next(&mut self) -> bool {
        let Some((endpoint, permit)) = self.next() else { return false };
        self.ask(endpoint, permit);
        true
    }

    /// The next endpoint: first the live ones from the preferred one on, then those on probation, then those that are
    /// out only for slowness.
    fn next(&self) -> Option<(SlotIndex, Option<ProbePermit>)> {
        let membership = &self.state.membership;
        let snapshot = membership.snapshot();
        let (preferred, endpoints) = (self.state.preferred(), self.state.endpoints);
        let order = (0..endpoints).map(|offset| (preferred + offset) % endpoints);
        let fresh = order.filter(|endpoint| !self.is_asked(*endpoint));
        let state = |endpoint: SlotIndex| snapshot.slot(endpoint).state;
        if let Some(endpoint) = fresh.clone().find(|endpoint| state(*endpoint) == SlotState::Live) {
            return Some((endpoint, None));
        }
        let mut probation = fresh.clone().filter(|endpoint| state(*endpoint) == SlotState::Probation);
        let probe =
            |endpoint| Some((endpoint, Some(ProbePermit::acquire(membership, endpoint, ProbeReason::Due)?)));
        let mut slow = fresh.clone().filter(|endpoint| snapshot.slot(*endpoint).answers_slowly);
        probation.find_map(probe).or_else(|| slow.next().map(|endpoint| (endpoint, None)))
    }

    /// Asks an endpoint that has become due, whether or not the check loop runs.
    fn ask_due(&mut self) -> bool {
        if self.ask_next() {
            return true;
        }
        self.state.membership.tick();
        self.ask_next()
    }

    /// The last resort if no endpoint is left: asks all that are out together, at a bounded rate.
    fn ask_all(&mut self) -> bool {
        let out: Vec<SlotIndex> =
            (0..self.state.endpoints).filter(|endpoint| !self.is_asked(*endpoint)).collect();
        if out.is_empty() || !self.state.membership.may_try_all(TRY_ALL_EVERY) {
            return false;
        }
        for endpoint in out {
            let permit = ProbePermit::acquire(&self.state.membership, endpoint, ProbeReason::LastResort);
            if let Some(permit) = permit {
                self.ask(endpoint, Some(permit));
            }
        }
        !self.requests.is_empty()
    }

    fn ask(&mut self, endpoint: SlotIndex, permit: Option<ProbePermit>) {
        if let Some(asked) = self.asked.get_mut(usize::from(endpoint)) {
            *asked = true;
        }
        let (membership, work) = (Arc::clone(&self.state.membership), (self.request)(endpoint));
        // In a task of its own: a caller that goes away does not affect an endpoint's health.
        self.requests.spawn(async move { (endpoint, attempt(&membership, endpoint, permit, work).await) });
    }

    fn is_asked(&self, endpoint: SlotIndex) -> bool {
        self.asked.get(usize::from(endpoint)).copied().unwrap_or(true)
    }

    fn none_answered(mut self) -> Result<T, Vec<SlotFailure>> {
        if let Some(answer) = self.try_next.take() {
            return Ok(answer);
        }
        for endpoint in 0..self.state.endpoints {
            if !self.is_asked(endpoint) {
                self.failures.extend(self.state.membership.failure(endpoint));
            }
        }
        self.failures.sort_by_key(|failure| failure.slot);
        Err(mem::take(&mut self.failures))
    }
}

/// Runs one request to its end or its time limit, and reports the outcome to the endpoint's health.
async fn attempt<T>(
    membership: &Membership,
    endpoint: SlotIndex,
    mut permit: Option<ProbePermit>,
    work: BoxFuture<'static, Outcome<T>>,
) -> Outcome<T> {
    let (clock, config) = (&membership.env().clock, membership.config());
    let generation = membership.snapshot().slot(endpoint).generation;
    let began = clock.now();
    let limit = config.attempt_timeout;
    let outcome = timeout(limit, catch_panic(work)).await.unwrap_or_else(|_| {
        let text = format!("no answer within {} ms", limit.as_millis());
        Outcome::Fault(SourceError::new(ErrorKind::Timeout, text))
    });
    let took = clock.now().saturating_duration_since(began);
    let result = match &outcome {
        Outcome::Answer(_) | Outcome::TryNext(_) => Ok(()),
        Outcome::Fault(error) => Err(error.clone()),
    };
    match &result {
        Ok(()) if took > config.slow_after => membership.record_slow(endpoint, generation, took),
        Ok(()) => {}
        Err(error) => membership.record_failure(endpoint, generation, error),
    }
    if let Some(permit) = &mut permit {
        permit.report(&result);
    }
    outcome
}

/// Turns a panic of a request into a fault, so that it does not end the caller.
async fn catch_panic<T>(mut work: BoxFuture<'static, Outcome<T>>) -> Outcome<T> {
    poll_fn(|cx| {
        catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))).unwrap_or_else(|_| {
            let text = "the attempt panicked";
            Poll::Ready(Outcome::Fault(SourceError::new(ErrorKind::Unavailable, text)))
        })
    })
    .await
}
