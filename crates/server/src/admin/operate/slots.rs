//! `POST /v1/slots/{slot}/evict`, `drain` and `rescue`: slot commands.

use std::time::Duration;

use axum::{Extension, extract::State};
use http::Uri;
use sequent_admin::{Admin as ClusterAdmin, Saying};
use sequent_core::{SlotIndex, ledger::SlotVerb};
use serde::Deserialize;

use super::{Asked, JsonResult, carried_out, counted};
use crate::{audit::Entry, error::ApiError, http::json};

/// Segment of a path that is the slot: `/v1/slots/{slot}/evict`.
const SLOT_SEGMENT: usize = 3;

/// Limit on how long a slot is out by one command: ten years.
const FOR_S_MAX: u64 = 10 * 366 * 24 * 3600;

/// Body of a command that takes a slot out.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AbsenceBody {
    why: String,
    for_s: Option<u64>,
    leave_none: bool,
}

/// Body of a rescue.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RescueBody {
    why: String,
}

pub(super) async fn evict(asked: Asked) -> JsonResult {
    say(asked, SlotVerb::Evict).await
}

pub(super) async fn drain(asked: Asked) -> JsonResult {
    say(asked, SlotVerb::Drain).await
}

pub(super) async fn rescue(asked: Asked) -> JsonResult {
    say(asked, SlotVerb::Rescue).await
}

async fn say((State(admin), Extension(caller), uri, body): Asked, verb: SlotVerb) -> JsonResult {
    let call = async {
        let _admitted = caller.admit("")?;
        let slot = slot(&uri)?;
        let AbsenceBody { why, for_s, leave_none } = read(verb, &body.read().await?)?;
        let engine = admin.service.engine().clone();
        let until_ms = for_s.map(|for_s| end(for_s, engine.clock().wall_ms())).transpose()?;
        // The principal's name, whatever the caller would claim.
        let saying = Saying { slot, verb, who: caller.name().to_owned(), why, until_ms };
        saying.check()?;
        let change = Entry::new(verb.as_str(), "").with("slot", slot).with("why", &*saying.why);
        let change = if until_ms.is_some() { change.with("until_ms", until_ms) } else { change };
        let work = async move { Ok(ClusterAdmin::of(&engine).command(&saying, leave_none).await?) };
        carried_out((&admin, &caller), change, work, |change, _| change).await
    };
    counted(&caller, call).await
}

fn slot(uri: &Uri) -> Result<SlotIndex, ApiError> {
    let segment = uri.path().split('/').nth(SLOT_SEGMENT).unwrap_or_default();
    let slot = Some(segment).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let slot = slot.and_then(|text| text.parse().ok());
    slot.ok_or_else(|| ApiError::field("slot", segment, "a slot's index, from 0, is expected"))
}

fn read(verb: SlotVerb, body: &[u8]) -> Result<AbsenceBody, ApiError> {
    let expected = "a JSON object with a reason (why) is expected";
    if verb != SlotVerb::Rescue {
        return json::read(body, expected);
    }
    let RescueBody { why } = json::read(body, expected)?;
    Ok(AbsenceBody { why, ..AbsenceBody::default() })
}

/// The end of an absence, in milliseconds since 1970.
fn end(for_s: u64, now_ms: u64) -> Result<u64, ApiError> {
    if !(1..=FOR_S_MAX).contains(&for_s) {
        return Err(ApiError::field("for_s", &for_s.to_string(), format!("1 to {FOR_S_MAX} are allowed")));
    }
    let lasts = Duration::from_secs(for_s).as_millis();
    Ok(now_ms.saturating_add(u64::try_from(lasts).unwrap_or(u64::MAX)))
}
