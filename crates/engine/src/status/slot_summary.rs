//! A summary of each slot, as the ring knows it. Stores are not probed.

use sequent_core::{ErrorKind, SlotIndex, Why, whole_ms};
use sequent_ha::SlotStatus;
use serde::Serialize;

use crate::{engine::Engine, telemetry::COMMAND};

/// A slot's state in the ring. The store is not probed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SlotGlance {
    /// The slot.
    pub slot: SlotIndex,
    /// `live`, `evicted`, `probation`, `quarantined`, `draining`, `drained` or `empty`.
    pub state: &'static str,
    /// The class of the reason why it does not serve, and what was found.
    pub cause: Option<(&'static str, String)>,
    /// How long it has been in this state, in milliseconds.
    pub since_ms: Option<u64>,
    /// How long it has been out, through all attempts that failed, in milliseconds; absent while it is live.
    pub out_ms: Option<u64>,
    /// When it will be tried again, in milliseconds from now, if a time is set.
    pub retry_in_ms: Option<u64>,
    /// How often it was slow: responses after `slow_after_ms`, calls without a response, calls that gave up to
    /// concurrent ones. `slow_limit` of them within `slow_window_s` evict it.
    pub slow_events: u64,
    /// How often it left the rotation.
    pub evictions: u64,
    /// How often it came back.
    pub rescues: u64,
}

impl Engine {
    /// Every slot's state in the ring. Stores are not probed, so that each health check can call it.
    pub fn slots(&self) -> Vec<SlotGlance> {
        let now = self.0.env.clock.now();
        let glance = |slot: SlotStatus| SlotGlance {
            slot: slot.slot,
            state: slot.state.as_str(),
            cause: slot.cause.map(|(kind, detail)| (class_of(kind, slot.why), detail)),
            since_ms: slot.since.map(|since| whole_ms(now.saturating_duration_since(since))),
            out_ms: slot.out_since.map(|since| whole_ms(now.saturating_duration_since(since))),
            retry_in_ms: slot.retry_at.map(|at| whole_ms(at.saturating_duration_since(now))),
            slow_events: slot.counts.slow + slot.counts.timeouts + slot.counts.contended,
            evictions: slot.counts.evictions,
            rescues: slot.counts.rescues,
        };
        self.0.ring.status().into_iter().map(glance).collect()
    }

    /// The number of active keys.
    pub fn live_keys(&self) -> usize {
        self.0.keys.len()
    }

    /// How many counters have something to report to the ledger, and how many heartbeats have checked that so far.
    pub fn reporting(&self) -> (usize, u64) {
        let guard_status = self.0.guard.status();
        (guard_status.unsaid, guard_status.looks)
    }
}

/// The displayed class of the reason why a slot does not serve: a slot command is not an error of the store.
pub(crate) fn class_of(kind: ErrorKind, why: Option<Why>) -> &'static str {
    if why.is_some_and(Why::is_by_word) { COMMAND } else { kind.as_str() }
}
