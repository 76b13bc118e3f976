//! `GET /v1/status`: slots and keys as of a few seconds ago, with the state of the slots as of now.

use axum::{
    Extension,
    extract::{RawQuery, State},
    http::{HeaderName, StatusCode, header},
};
use sequent_core::SequenceName;
use sequent_engine::SlotGlance;
use serde_json::Value;

use crate::{admin::state::Admin, auth::Caller};

/// JSON, or the reason why there is none.
type JsonOrText = Result<([(HeaderName, &'static str); 1], String), (StatusCode, &'static str)>;

pub(super) async fn show(
    State(admin): State<Admin>,
    Extension(caller): Extension<Caller>,
    RawQuery(query): RawQuery,
) -> JsonOrText {
    let stopping = (StatusCode::SERVICE_UNAVAILABLE, "this server is stopping: its stores are closed\n");
    let status = admin.snapshot().await.ok_or(stopping)?;
    let defect = |_| (StatusCode::INTERNAL_SERVER_ERROR, "the status can't be written as JSON\n");
    let mut value = serde_json::to_value(&*status).map_err(defect)?;
    // The snapshot may be a few seconds old. The state of each slot is read from the ring now.
    let shards = value["shards"].as_array_mut().into_iter().flatten();
    for (shard, slot) in shards.zip(admin.service.engine().slots()) {
        overlay_current_state(shard, slot);
    }
    let (behind, more) = admin.service.engine().behind();
    value["behind"] = serde_json::to_value(behind).unwrap_or_default();
    value["behind_more"] = more.into();
    value["events"] = serde_json::to_value(admin.service.engine().told()).unwrap_or_default();
    value["principals"] = admin.auth.report();
    // `keys` is a few seconds old, and has the first thousand.
    let name = query.as_deref().and_then(|query| query.strip_prefix("sequence="));
    if let Some(name) = name.and_then(|name| name.parse::<SequenceName>().ok()) {
        value["sequence"] = name.as_str().into();
        value["in_use"] = admin.service.engine().key_in_use(&name).into();
    }
    value["caller"] = caller.principal().into();
    value["audit"] = admin.auth.audit().status();
    value["tls"] = admin.tls.status();
    value["phase"] = format!("{:?}", admin.phases.now()).to_lowercase().into();
    Ok(([(header::CONTENT_TYPE, "application/json")], value.to_string()))
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
