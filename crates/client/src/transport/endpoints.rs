//! Endpoints of a client with failover: one is used at a time, under the health rules of shards.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sequent_core::{BoxFuture, Clock, Env, ErrorKind, Event, Events, SlotFailure, SlotIndex, SourceError};
use sequent_ha::{Failover, Outcome, RingConfig, SlotState};

use crate::{
    client::definitions::none_here,
    error::{DEADLINE_EXCEEDED, Error, SERVER_UNAVAILABLE},
    lease::{grant::Grant, high_water::HighWater, request_scope::RequestScope},
    telemetry::{client_metrics, gauge_share::EndpointGauges},
    transport::{
        NumberRequest, Refusal, Transport, Verb, foreign_endpoints::ForeignEndpoints, grpc::DefinitionsMethod,
    },
};

/// Endpoints of a client.
pub(crate) struct Endpoints {
    transports: Vec<Arc<dyn Transport>>,
    failover: Arc<Failover>,
    foreign: Arc<ForeignEndpoints>,
    clock: Arc<dyn Clock>,
    attempt: Duration,
}

impl Endpoints {
    /// Needs at least one transport. `env` has the clock of timers; its events become metrics.
    pub(crate) fn new(transports: Vec<Arc<dyn Transport>>, health: RingConfig, env: Env) -> Arc<Self> {
        let members = SlotIndex::try_from(transports.len()).unwrap_or(SlotIndex::MAX);
        let gauges: Arc<[EndpointGauges]> = (0..members).map(client_metrics::endpoint).collect();
        let clock = Arc::clone(&env.clock);
        let events = Events::to(move |event| record_event(&event, &gauges));
        let failover = Failover::new(members, health, Env { events, ..env });
        let foreign = Arc::new(ForeignEndpoints::new(transports.len()));
        Arc::new(Self { transports, failover, foreign, clock, attempt: health.attempt_timeout })
    }

    /// Requests numbers from one endpoint after the other until one answers. A retry may burn numbers but never
    /// repeats one, so every kind of failure goes on to the next endpoint.
    pub(crate) async fn ask(
        &self,
        verb: Verb,
        (scope, high_water): (&RequestScope, &HighWater),
        count: u32,
    ) -> Result<Grant, Error> {
        let ask = NumberRequest {
            verb,
            scope: scope.clone(),
            count,
            above: high_water.value(),
            within: self.attempt,
        };
        let answer = self.failover.call(|member| self.ask_one(member, ask.clone())).await;
        let answer = answer.unwrap_or_else(|failures| Err(self.all_failed(&failures)));
        answer.inspect(|grant| high_water.record(grant))
    }

    /// Calls the service of definitions on one endpoint after the other. A repeated call changes nothing.
    pub(crate) async fn call_definitions<Q, A>(
        &self,
        request: &Q,
        method: DefinitionsMethod<Q, A>,
    ) -> Result<A, Error>
    where
        Q: Clone + Send + Sync + 'static,
        A: Send + 'static,
    {
        let answer = self.failover.call(|member| {
            let (transport, foreign) = (self.transport(member), Arc::clone(&self.foreign));
            let (request, within) = (request.clone(), self.attempt);
            Box::pin(async move {
                let Some(transport) = transport else { return std::future::pending().await };
                let outcome = match transport.server() {
                    Some(server) => server.call_definitions(&request, within, method).await,
                    None => Err(none_here()),
                };
                foreign.record(member, endpoint_error(&outcome));
                into_outcome(outcome)
            })
        });
        answer.await.unwrap_or_else(|failures| Err(self.all_failed(&failures)))
    }

    /// Whether any endpoint is serving.
    pub(crate) async fn check_any_serving(&self) -> Result<(), Error> {
        let answer = self.failover.call(|member| {
            let check = self.check(member);
            Box::pin(async move { into_outcome(check.await.map_err(Refusal::Fault)) })
        });
        answer.await.unwrap_or_else(|failures| Err(self.all_failed(&failures)))
    }

    /// Probes failed endpoints until they recover. Spawn it once; it ends with the endpoints.
    pub(crate) fn watch(self: &Arc<Self>) -> impl Future<Output = ()> + Send + use<> {
        let here = Arc::downgrade(self);
        self.failover.run(move |member| match here.upgrade() {
            Some(here) => here.check(member),
            None => Box::pin(std::future::ready(Ok(()))),
        })
    }

    /// Whether an endpoint is serving.
    fn check(&self, member: SlotIndex) -> BoxFuture<'static, Result<(), SourceError>> {
        let Some(transport) = self.transport(member) else { return Box::pin(std::future::pending()) };
        let foreign = Arc::clone(&self.foreign);
        Box::pin(async move {
            let outcome = transport.check().await;
            foreign.record(member, outcome.as_ref().err());
            outcome
        })
    }

    /// Each endpoint's address and state.
    pub(crate) fn states(&self) -> Vec<(String, SlotState)> {
        let states = self.failover.status().into_iter().map(|member| member.state);
        self.transports.iter().map(|transport| transport.address()).zip(states).collect()
    }

    fn ask_one(
        &self,
        member: SlotIndex,
        ask: NumberRequest,
    ) -> BoxFuture<'static, Outcome<Result<Grant, Error>>> {
        let Some(transport) = self.transport(member) else { return Box::pin(std::future::pending()) };
        let (clock, foreign) = (Arc::clone(&self.clock), Arc::clone(&self.foreign));
        Box::pin(async move {
            let request = RequestTimer { verb: ask.verb, started: clock.now(), clock, is_open: true };
            let granted = transport.ask(ask.clone()).await;
            let outcome = granted.and_then(|granted| Grant::checked(&ask, granted).map_err(Refusal::foreign));
            request.ended(outcome_label(&outcome));
            foreign.record(member, endpoint_error(&outcome));
            into_outcome(outcome)
        })
    }

    fn transport(&self, member: SlotIndex) -> Option<Arc<dyn Transport>> {
        self.transports.get(usize::from(member)).cloned()
    }

    /// The error if no endpoint answered, with the cause of each.
    fn all_failed(&self, failures: &[SlotFailure]) -> Error {
        let one = |failure: &SlotFailure| {
            let address = self.transport(failure.slot).map(|transport| transport.address());
            format!("{}: {}", address.unwrap_or_default(), failure.detail)
        };
        let causes: Vec<String> = failures.iter().map(one).collect();
        let causes = if causes.is_empty() { "all are being tried".to_owned() } else { causes.join("; ") };
        let all = |kind| !failures.is_empty() && failures.iter().all(|failure| failure.kind == kind);
        // Only if no endpoint is a server is it certain that a retry fails the same way.
        let foreign_error = if all(ErrorKind::Unavailable) { self.foreign.error_of_all() } else { None };
        let late = if all(ErrorKind::Timeout) { DEADLINE_EXCEEDED } else { SERVER_UNAVAILABLE };
        let reason = foreign_error.as_ref().map_or(late, Error::reason);
        Error::new(reason, format!("no server answers: {causes}"))
    }
}

impl std::fmt::Debug for Endpoints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.states()).finish()
    }
}

/// Measures a request. If it is dropped before the response, the request timed out.
struct RequestTimer {
    verb: Verb,
    started: Instant,
    clock: Arc<dyn Clock>,
    is_open: bool,
}

impl RequestTimer {
    fn ended(mut self, outcome: &'static str) {
        self.is_open = false;
        self.count(outcome);
    }

    fn count(&self, outcome: &'static str) {
        let took = self.clock.now().saturating_duration_since(self.started);
        client_metrics::request(self.verb.as_str(), outcome, took);
    }
}

impl Drop for RequestTimer {
    fn drop(&mut self) {
        if self.is_open {
            self.count(client_metrics::fault(ErrorKind::Timeout));
        }
    }
}

/// Maps a refusal to the action of the failover.
fn into_outcome<T>(outcome: Result<T, Refusal>) -> Outcome<Result<T, Error>> {
    match outcome {
        Ok(answer) => Outcome::Answer(Ok(answer)),
        Err(Refusal::Final(error)) => Outcome::Answer(Err(error)),
        Err(Refusal::Elsewhere(error)) => Outcome::TryNext(Err(error)),
        Err(Refusal::Fault(error)) => Outcome::Fault(error),
    }
}

fn endpoint_error<T>(outcome: &Result<T, Refusal>) -> Option<&SourceError> {
    match outcome {
        Err(Refusal::Fault(error)) => Some(error),
        _ => None,
    }
}

fn outcome_label<T>(outcome: &Result<T, Refusal>) -> &'static str {
    match outcome {
        Ok(_) => client_metrics::OK,
        Err(Refusal::Final(error) | Refusal::Elsewhere(error)) => error.label(),
        Err(Refusal::Fault(error)) => client_metrics::fault(error.kind()),
    }
}

fn record_event(event: &Event, gauges: &[EndpointGauges]) {
    let (slot, is_live) = match event {
        Event::Evicted { slot, .. } | Event::Quarantined { slot, .. } => (*slot, false),
        Event::Rescued { slot, .. } => (*slot, true),
        _ => return,
    };
    client_metrics::endpoint_changed(slot, is_live);
    if let Some(gauges) = gauges.get(usize::from(slot)) {
        gauges.set(is_live);
    }
}
