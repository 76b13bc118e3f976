//! Admin listener: health, metrics, status and the console. It is read-only.

mod console;

use std::{convert::Infallible, future::Future, pin::Pin, sync::Arc, time::Instant};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use sequent_engine::{SlotGlance, report::Status};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::{
    error::ApiError,
    limits::STATUS_MAX_AGE,
    service::NumberService,
    shutdown::{
        drain::DrainState,
        phase::{Phase, PhaseWatch},
    },
    telemetry::{recorder::Recorder, request_metrics},
};

/// Content type of the Prometheus text format.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Status fields with numbers or raw ids. They are sent as strings, as in every other response.
const TEXT_FIELDS: [&str; 5] = ["ready", "given", "left", "above", "permitted"];

/// Status of slots and keys, and when it was read.
type StatusSnapshot = (Instant, Arc<Status>);

/// HTTP service of the admin listener. Cheap to clone.
#[derive(Clone)]
pub(crate) struct AdminService {
    service: NumberService,
    recorder: Recorder,
    phases: PhaseWatch,
    drain: DrainState,
    /// The latest status. Its lock is held while a new one is read, so concurrent requests cause one read.
    snapshot: Arc<Mutex<Option<StatusSnapshot>>>,
}

impl AdminService {
    pub(crate) fn new(
        service: NumberService,
        recorder: Recorder,
        (phases, drain): (PhaseWatch, DrainState),
    ) -> Self {
        Self { service, recorder, phases, drain, snapshot: Arc::default() }
    }

    async fn answer(self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let error = ApiError::field(
                "method",
                request.method().as_str(),
                "GET is allowed: nothing is changed here",
            );
            let mut response = error.with_status(StatusCode::METHOD_NOT_ALLOWED).into_response();
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        match request.uri().path() {
            "/metrics" => self.metrics().await,
            "/livez" => text(StatusCode::OK, "text/plain", "live\n"),
            "/readyz" if self.is_ready() => text(StatusCode::OK, "text/plain", "ready\n"),
            "/readyz" => text(StatusCode::SERVICE_UNAVAILABLE, "text/plain", "draining\n"),
            "/v1/status" => self.status().await,
            "/" | "/console" => console::page(),
            path => {
                let bound = "/, /metrics, /livez, /readyz and /v1/status are served";
                ApiError::field("path", path, bound).with_status(StatusCode::NOT_FOUND).into_response()
            }
        }
    }

    fn is_ready(&self) -> bool {
        self.phases.now() == Phase::Serving
    }

    async fn metrics(&self) -> Response<Full<Bytes>> {
        let engine = self.service.engine();
        engine.measure().await;
        request_metrics::set_slots(engine);
        self.drain.record_metrics(self.service.now());
        request_metrics::set_ready(self.is_ready(), self.service.in_flight().count());
        text(StatusCode::OK, METRICS_TYPE, self.recorder.render())
    }

    async fn status(&self) -> Response<Full<Bytes>> {
        let Some(status) = self.snapshot().await else {
            let text = "this server is stopping: its stores are closed\n";
            return self::text(StatusCode::SERVICE_UNAVAILABLE, "text/plain", text);
        };
        let Ok(mut value) = serde_json::to_value(&*status) else {
            return text(
                StatusCode::INTERNAL_SERVER_ERROR,
                "text/plain",
                "the status can't be written as JSON\n",
            );
        };
        // The snapshot may be a few seconds old. The state of each slot is read from the ring now.
        let shards = value["shards"].as_array_mut().into_iter().flatten();
        for (shard, slot) in shards.zip(self.service.engine().slots()) {
            overlay_current_state(shard, slot);
        }
        let (behind, more) = self.service.engine().behind();
        value["behind"] = serde_json::to_value(behind).unwrap_or_default();
        value["behind_more"] = more.into();
        value["events"] = serde_json::to_value(self.service.engine().told()).unwrap_or_default();
        numbers_as_text(&mut value);
        value["phase"] = format!("{:?}", self.phases.now()).to_lowercase().into();
        text(StatusCode::OK, "application/json", value.to_string())
    }

    /// The latest snapshot, or a new one if that is too old. `None` if the engine is shutting down before the first
    /// snapshot: the engine has closed its stores, and they must not be opened again.
    async fn snapshot(&self) -> Option<Arc<Status>> {
        let mut snapshot = self.snapshot.lock().await;
        let is_ending = self.phases.now() >= Phase::Ending;
        Some(match &*snapshot {
            None if is_ending => return None,
            Some((_, status)) if is_ending => Arc::clone(status),
            Some((at, status)) if self.service.now().saturating_duration_since(*at) < STATUS_MAX_AGE => {
                Arc::clone(status)
            }
            _ => {
                let status = Arc::new(self.service.engine().status().await);
                *snapshot = Some((self.service.now(), Arc::clone(&status)));
                status
            }
        })
    }
}

impl hyper::service::Service<Request<Incoming>> for AdminService {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.answer(request).await) })
    }
}

fn text(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn overlay_current_state(shard: &mut Value, slot: SlotGlance) {
    if slot.state == "empty" {
        return;
    }
    if slot.state == "live" && shard["state"] != slot.state {
        // The slot returned after the snapshot, so its cause is outdated.
        shard["cause"] = Value::Null;
    }
    shard["state"] = slot.state.into();
    shard["slow_events"] = slot.slow_events.into();
    shard["evictions"] = slot.evictions.into();
    shard["rescues"] = slot.rescues.into();
    shard["since_ms"] = slot.since_ms.into();
    shard["out_ms"] = slot.out_ms.into();
    shard["retry_in_ms"] = slot.retry_in_ms.into();
    if let Some((kind, detail)) = slot.cause {
        shard["cause"] = serde_json::json!({ "kind": kind, "detail": detail });
    }
}

fn numbers_as_text(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(numbers_as_text),
        Value::Object(fields) => {
            for (field, value) in fields {
                if value.is_u64() && TEXT_FIELDS.contains(&field.as_str()) {
                    *value = Value::String(value.to_string());
                }
                numbers_as_text(value);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_slot_that_came_back_since_the_look_is_not_shown_with_what_it_was_out_for() {
        let glance = |state| SlotGlance {
            slot: 1,
            state,
            cause: None,
            since_ms: Some(12),
            out_ms: None,
            retry_in_ms: None,
            slow_events: 0,
            evictions: 1,
            rescues: 1,
        };
        let cause = json!({ "kind": "timeout", "detail": "no answer" });
        let shown = |was: &str| {
            let mut shard = json!({ "slot": 1, "state": was, "cause": cause, "out_ms": 9_000 });
            overlay_current_state(&mut shard, glance("live"));
            (shard["cause"].clone(), shard["out_ms"].clone())
        };
        assert_eq!(shown("evicted"), (Value::Null, Value::Null));
        assert_eq!(shown("live").0, cause, "what a fresh snapshot found, and the ring has not met yet");
    }
}
