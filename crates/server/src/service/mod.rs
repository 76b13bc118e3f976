//! Number service behind all APIs: validates a request, takes numbers from the engine, and counts the outcome.

mod cancel_guard;
pub(crate) mod definition_input;
pub(crate) mod definitions;
pub(crate) mod request_id;
#[cfg(test)]
mod tests;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sequent_core::SequenceName;
use sequent_engine::{
    Engine, EngineError, Issued, NextRequest, QuotaFault, Ready, ReadyBlock, Reason, Timestamp, Values, Way,
    config::Verb,
};
use tokio::time::timeout_at;

use crate::{
    auth::Caller,
    error::ApiError,
    limits::{IN_FLIGHT_MAX, proof_queue::ProofQueue, runtime_limits::RuntimeLimits},
    service::cancel_guard::CancelGuard,
    telemetry::request_metrics::{InFlight, RequestMetrics},
};

/// A request for numbers, independent of the protocol.
#[derive(Clone, Copy)]
pub(crate) struct NumberRequest<'a> {
    /// Name of the parameter in errors, and the name of the sequence, not yet validated.
    pub(crate) name: (&'static str, &'a str),
    /// How many numbers.
    pub(crate) count: u64,
    /// How long the caller waits, if it says so.
    pub(crate) timeout: Option<Duration>,
    /// Values for the template.
    pub(crate) values: &'a Values,
    /// Instant that selects the period. Empty means now.
    pub(crate) at: &'a str,
    /// The highest number that the caller was given; 0 if it does not say.
    pub(crate) above: i64,
    /// Who asks.
    pub(crate) caller: &'a Caller,
}

/// Whether numbers are for immediate use or leased.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Next,
    Lease,
}

/// The service behind all APIs. Cheap to clone.
#[derive(Clone)]
pub(crate) struct NumberService(Arc<Inner>);

struct Inner {
    engine: Engine,
    limits: RuntimeLimits,
    in_flight: InFlight,
    proofs: ProofQueue,
}

impl NumberService {
    pub(crate) fn new(engine: Engine, limits: RuntimeLimits) -> Self {
        Self(Arc::new(Inner {
            engine,
            limits,
            in_flight: InFlight::default(),
            proofs: ProofQueue::default(),
        }))
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.0.engine
    }

    pub(crate) fn in_flight(&self) -> &InFlight {
        &self.0.in_flight
    }

    pub(crate) fn now(&self) -> Instant {
        self.0.engine.clock().now()
    }

    /// How long the numbers of a lease may be handed out: until the end of their period, and until another version
    /// takes effect. The end of the period does not count if the holder named an instant.
    pub(crate) fn lease_age(&self, issued: &Issued, at: &str) -> Duration {
        let most = self.0.limits.current().lease_max_age;
        let end = issued.dated.as_ref().filter(|_| at.is_empty()).and_then(|dated| dated.period_end);
        let left = |end: Timestamp| {
            let end_ms = u64::try_from(end.as_millisecond()).unwrap_or(0);
            Duration::from_millis(end_ms.saturating_sub(self.0.engine.clock().wall_ms()))
        };
        // The clock of a holder that names an instant may be behind this one. It gets the end of the version besides.
        let version = issued.version_end.map(left).filter(|left| at.is_empty() || !left.is_zero());
        let version = version.map(|left| left.max(Duration::from_millis(1)));
        end.map(left).into_iter().chain(version).fold(most, Duration::min)
    }

    /// Text of the allowed counts of `Next`.
    pub(crate) fn next_bound(&self) -> String {
        bound(self.0.limits.current().max_count, Operation::Next)
    }

    /// Text of the allowed counts of `Lease`.
    pub(crate) fn lease_bound(&self) -> String {
        bound(self.0.limits.current().lease_max_count, Operation::Lease)
    }

    /// Takes one number that is ready, without a task, a lock or an allocation. `None` if the request must take the
    /// slow path; then nothing was counted.
    pub(crate) fn next_ready(&self, name: &str, metrics: &RequestMetrics) -> Option<Ready> {
        let began = self.now();
        let ready = self.0.engine.try_next(name)?;
        metrics.done((1, Way::Reservoir), self.now().saturating_duration_since(began));
        Some(ready)
    }

    /// Takes at most `most` numbers that are ready, for as many requests, under the same conditions.
    pub(crate) fn next_ready_block(
        &self,
        name: &str,
        most: u64,
        metrics: &RequestMetrics,
    ) -> Option<ReadyBlock> {
        let began = self.now();
        let ready = self.0.engine.try_take(name, most)?;
        metrics.done_singly(ready.numbers.count(), self.now().saturating_duration_since(began));
        Some(ready)
    }

    /// When a request that begins now and names no deadline stops waiting.
    pub(crate) fn deadline(&self) -> Instant {
        self.now() + self.0.limits.current().deadline
    }

    /// Limit on numbers per request.
    pub(crate) fn max_count(&self) -> u64 {
        self.0.limits.current().max_count
    }

    /// Takes numbers for immediate use: all of them or none.
    pub(crate) async fn next(
        &self,
        request: NumberRequest<'_>,
        metrics: &RequestMetrics,
    ) -> Result<Issued, ApiError> {
        let most = self.0.limits.current().max_count;
        self.issue_metered(request, (most, Operation::Next), metrics).await
    }

    /// Leases numbers: as many as requested, or as many as one lease may have.
    pub(crate) async fn lease(
        &self,
        request: NumberRequest<'_>,
        metrics: &RequestMetrics,
    ) -> Result<Issued, ApiError> {
        let most = request.caller.lease_max(self.0.limits.current().lease_max_count);
        // A count of 0 stays 0, and is refused.
        let request = NumberRequest { count: request.count.min(most), ..request };
        self.issue_metered(request, (most, Operation::Lease), metrics).await
    }

    /// Runs a call that yields no numbers, and counts its outcome.
    pub(crate) async fn counted<T>(
        &self,
        metrics: &RequestMetrics,
        call: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        let began = self.now();
        let outcome = call.await;
        metrics.answered(&outcome, self.now().saturating_duration_since(began));
        outcome
    }

    async fn issue_metered(
        &self,
        request: NumberRequest<'_>,
        limit_and_operation: (u64, Operation),
        metrics: &RequestMetrics,
    ) -> Result<Issued, ApiError> {
        let began = self.now();
        let mut cancel_guard = CancelGuard { service: self, metrics, began, is_answered: false };
        let outcome = self.issue(request, limit_and_operation, began).await;
        cancel_guard.is_answered = true;
        let took = self.now().saturating_duration_since(began);
        match &outcome {
            Ok(issued) => {
                metrics.done((issued.numbers.count(), issued.way), took);
                request.caller.count(None, issued.numbers.count());
                let (sequence, numbers) = (&issued.sequence, issued.numbers.count());
                tracing::debug!(%sequence, numbers, way = issued.way.as_str(), took_us = micros(took), "request answered");
            }
            Err(error) => {
                metrics.failed(error, took);
                request.caller.count(Some(error.reason()), 0);
                let (sequence, reason) = (request.name.1, error.reason());
                tracing::debug!(sequence, %reason, took_us = micros(took), "request refused");
            }
        }
        outcome
    }

    async fn issue(
        &self,
        request: NumberRequest<'_>,
        (most, operation): (u64, Operation),
        began: Instant,
    ) -> Result<Issued, ApiError> {
        let Some(_in_flight) = self.0.in_flight.begin() else {
            let text = format!(
                "this server has {IN_FLIGHT_MAX} requests in work: at most {IN_FLIGHT_MAX} are allowed"
            );
            return Err(ApiError::new(Reason::QuotaExceeded, text));
        };
        let name = named(&request)?;
        request.caller.authorize(name.as_str())?;
        check(&request, most, operation)?;
        let admitted = request.caller.admit_numbers(name.as_str(), request.count)?;
        let deadline = self.0.limits.current().deadline;
        let deadline = began + request.timeout.map_or(deadline, |timeout| timeout.min(deadline));
        // The timer is set only if the first poll is pending.
        let issued = timeout_at(deadline.into(), self.issue_by(&name, &request, (operation, deadline))).await;
        let issued = issued.unwrap_or_else(|_| Err(ApiError::late(name.as_str())));
        let given = issued.as_ref().map(|issued| issued.numbers.count()).map_err(ApiError::reason);
        request.caller.settle(&admitted, given);
        issued
    }

    async fn issue_by(
        &self,
        name: &SequenceName,
        request: &NumberRequest<'_>,
        (operation, deadline): (Operation, Instant),
    ) -> Result<Issued, ApiError> {
        let (engine, caller) = (&self.0.engine, request.caller);
        let at = (!request.at.is_empty()).then(|| request.at.to_owned());
        let above = u64::try_from(request.above).unwrap_or(0);
        // A report that pages an operator is believed of few.
        let above = if above > 0 && caller.may(Verb::Tell, name.as_str()) { above } else { 0 };
        let request = NextRequest {
            count: request.count,
            with: request.values.clone(),
            above,
            at,
            ..NextRequest::of(name.clone())
        };
        caller.take_key(|| engine.brings_a_key(&request))?;
        let issued = match operation {
            Operation::Next => engine.give(&request, deadline).await,
            Operation::Lease => engine.lend(&request, deadline).await,
        };
        issued.map_err(|error| told_to(caller, &request, error))
    }
}

/// Microseconds for a log line.
fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Text of the allowed counts.
fn bound(most: u64, operation: Operation) -> String {
    match operation {
        Operation::Next => format!("1 to {most} are allowed"),
        // The caller need not know the limit of this server.
        Operation::Lease => format!("1 to {} are allowed; one lease has at most {most}", u32::MAX),
    }
}

/// The error of a request, as its caller may see it: how far a sequence is, is told to those who may see it.
fn told_to(caller: &Caller, request: &NextRequest, error: EngineError) -> ApiError {
    let name = &request.name;
    if caller.may(Verb::Show, name.as_str()) {
        return error.into();
    }
    match (error.reason(), error.quota()) {
        (Reason::ClusterBehind, _) => {}
        (Reason::SequenceExhausted, _) => {
            return ApiError::new(Reason::SequenceExhausted, format!("{name} is at its end"));
        }
        (_, Some(quota)) => {
            let limit = "more than it may have now".to_owned();
            let text = format!("numbers of {name} are asked for too fast: try again later");
            return ApiError::over_quota(text, QuotaFault { of: name.to_string(), limit, ..quota.clone() });
        }
        _ => return error.into(),
    }
    let text = format!(
        "the caller was given {}, and this cluster can't have given that of {}: it is older than its caller, or another; \
         a person must act, `sequent recover --help` says how",
        request.above, request.name
    );
    ApiError::new(Reason::ClusterBehind, text)
}

/// The name of a request's sequence.
fn named(request: &NumberRequest<'_>) -> Result<SequenceName, ApiError> {
    let (field, text) = request.name;
    text.parse().map_err(|_| ApiError::name(field, text))
}

/// Validates the numbers of a request.
fn check(request: &NumberRequest<'_>, most: u64, operation: Operation) -> Result<(), ApiError> {
    if request.count == 0 || request.count > most {
        return Err(ApiError::field("count", &request.count.to_string(), bound(most, operation)));
    }
    if request.above < 0 {
        let bound = format!("0 (not told) to {} are allowed", i64::MAX);
        return Err(ApiError::field("above", &request.above.to_string(), bound));
    }
    Ok(())
}
