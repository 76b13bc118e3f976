//! Which panels show that a shard was killed and came back empty, and how: the others show that nobody noticed.

use serde_json::Value;

use super::watch::{Watch, chosen};
use crate::{dashboards, place::eventually};

/// What a panel shows of it, at some second.
pub(crate) struct Sign {
    dashboard: &'static str,
    panel: &'static str,
    /// The series, by their labels.
    of: fn(&Value) -> bool,
    is: fn(f64) -> bool,
}

const fn sign(
    dashboard: &'static str,
    panel: &'static str,
    of: fn(&Value) -> bool,
    is: fn(f64) -> bool,
) -> Sign {
    Sign { dashboard, panel, of, is }
}

fn any(_: &Value) -> bool {
    true
}

fn of_slot(labels: &Value) -> bool {
    labels["slot"] == "3"
}

fn is_out(labels: &Value) -> bool {
    of_slot(labels) && labels["state"] != "live"
}

/// Of four slots.
fn all_but_one(slots: f64) -> bool {
    (2.5..3.5).contains(&slots)
}

/// Something was counted.
fn some(value: f64) -> bool {
    value > 0.0
}

const OVERVIEW: &str = "Sequent: overview";
const SHARDS: &str = "Sequent: shards";
const GUARD: &str = "Sequent: guard";

/// While the store is dead. (*Takes that failed* has a series only where a take was under way: a connection that broke in
/// between is seen before the next take.)
pub(crate) const DEAD: [Sign; 8] = [
    // Probation or evicted, of panels.py.
    sign(OVERVIEW, "Slots, as each server sees them", of_slot, |code| (1.0..=2.0).contains(&code)),
    sign(OVERVIEW, "Live slots, least", any, all_but_one),
    sign(OVERVIEW, "Alerts that fire", |labels| labels["alertname"] == "SequentSlotOut", some),
    sign(SHARDS, "Slots, as each server sees them", of_slot, |code| (1.0..=2.0).contains(&code)),
    sign(SHARDS, "Live slots", any, all_but_one),
    sign(SHARDS, "Now", is_out, some),
    sign(SHARDS, "Evictions", of_slot, some),
    sign(SHARDS, "Rescues that failed", of_slot, some),
];

/// Once it is back, and has forgotten all.
pub(crate) const BACK: [Sign; 9] = [
    sign(OVERVIEW, "Uniqueness alerts", any, some),
    sign(SHARDS, "Rescues", of_slot, some),
    sign(GUARD, "What must never happen", |labels| labels["kind"] == "store_back", some),
    sign(GUARD, "Stores that came back empty", of_slot, some),
    sign(GUARD, "Another instance", of_slot, some),
    sign(GUARD, "Counters that went back", of_slot, some),
    sign(GUARD, "Counters that went back, a day", any, some),
    sign(GUARD, "Epochs opened", of_slot, some),
    sign(GUARD, "Raw ids skipped", of_slot, some),
];

/// Each shows it, at some second since an instant of Prometheus' clock.
pub(crate) fn are_seen(watch: &Watch, signs: &[Sign], since: f64) {
    for Sign { dashboard, panel, of, is } in signs {
        let expression = chosen(&dashboards::query(dashboard, panel));
        eventually(&format!("{dashboard}, {panel}: {expression}"), || {
            let drawn = watch.drawn(&expression, since);
            let shows =
                drawn.iter().any(|(labels, values)| of(labels) && values.iter().any(|value| is(*value)));
            shows.then_some(())
        });
    }
}
