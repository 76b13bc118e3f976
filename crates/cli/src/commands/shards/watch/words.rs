//! What is said of a look: one line of the whole, and the cells of each slot.

use serde_json::Value;

use crate::{commands::shards::span, output};

/// The most keys of a slot that are named as resting.
const RESTING_NAMED_MAX: usize = 3;

/// One line about the whole.
pub(super) fn head(look: &Value) -> String {
    let text = |field: &str| look[field].as_str().unwrap_or_default().to_owned();
    let mut parts = vec![text("at"), format!("{} {}", text("cluster"), text("phase")).trim().to_owned()];
    parts.extend(serving(look));
    parts.extend(resting(look));
    parts.extend(look["rate"].as_f64().map(|rate| format!("{rate:.0} numbers a second")));
    parts.extend(look["ledger_away_ms"].as_u64().map(|ms| format!("ledger away for {}", span(ms))));
    parts.extend(look["trouble"].as_str().map(ToOwned::to_owned));
    parts.extend(look["error"].as_str().map(|error| format!("{}: {error}", text("of"))));
    parts.retain(|part| !part.is_empty());
    parts.join("  ")
}

/// How many slots of those that have a store can serve.
fn serving(look: &Value) -> Option<String> {
    let live = slots(look).filter(|slot| serves(slot)).count();
    let stored = slots(look).filter(|slot| slot["state"] != "empty").count();
    // A server knows its ring; a look at the stores finds what could be in it.
    let word = if look["phase"].is_null() { "can serve" } else { "live" };
    (stored > 0).then(|| format!("{live} of {stored} {word}"))
}

/// How many of those that can serve are not asked for some key.
fn resting(look: &Value) -> Option<String> {
    let resting = slots(look).filter(|slot| rests(slot).is_some()).count();
    (resting > 0).then(|| format!("{resting} of them {}", if resting == 1 { "rests" } else { "rest" }))
}

pub(super) fn slots(look: &Value) -> impl Iterator<Item = &Value> {
    look["slots"].as_array().into_iter().flatten()
}

pub(super) fn serves(slot: &Value) -> bool {
    matches!(slot["state"].as_str(), Some("live" | "open" | "new"))
}

/// The cells of a slot: its index, its state and for how long, its store, evictions, rescues, why it does not serve.
pub(super) fn row(slot: &Value) -> [String; 6] {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let count = |field: &str| slot[field].as_u64().map_or_else(|| "-".to_owned(), |count| count.to_string());
    let since = slot["out_ms"].as_u64().or_else(|| slot["since_ms"].as_u64());
    let since = since.map(|ms| format!(" for {}", span(ms / 1000 * 1000)));
    [
        slot["slot"].to_string(),
        format!("{}{}", text(&slot["state"]), since.unwrap_or_default()),
        text(&slot["store"]),
        count("evictions"),
        count("rescues"),
        cause(slot),
    ]
}

/// Why a slot does not serve, or is not asked.
fn cause(slot: &Value) -> String {
    let (kind, detail) = (slot["cause"]["kind"].as_str(), slot["cause"]["detail"].as_str());
    let of = |kind: &str| format!("{kind}: {}", output::detail(kind, detail.unwrap_or_default()));
    kind.map(of).or_else(|| rests(slot)).unwrap_or_default()
}

/// Which keys a slot that could serve is not asked for, until the other slots have come up to it. How far ahead it is changes from
/// second to second.
fn rests(slot: &Value) -> Option<String> {
    let resting = slot["resting"].as_array().filter(|resting| serves(slot) && !resting.is_empty())?;
    let keys: Vec<&str> =
        resting.iter().take(RESTING_NAMED_MAX).filter_map(|rest| rest["key"].as_str()).collect();
    let more = if resting.len() > keys.len() { ", and more" } else { "" };
    Some(format!("rests until the other slots come up to it: {}{more}", keys.join(", ")))
}
