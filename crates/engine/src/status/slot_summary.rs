//! A summary of each slot, as the ring knows it. No store is asked.

use std::time::Duration;

use sequent_core::{ErrorKind, SlotIndex, Why};
use sequent_ha::SlotStatus;
use serde::Serialize;

use crate::engine::Engine;

/// The class of a cause that is an operator's word.
pub(crate) const WORD: &str = "word";

/// A slot as the ring has it: no store was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SlotGlance {
    /// The slot.
    pub slot: SlotIndex,
    /// `live`, `evicted`, `probation`, `quarantined`, `draining`, `drained` or `empty`.
    pub state: &'static str,
    /// The class of what keeps it from serving, and what was found.
    pub cause: Option<(&'static str, String)>,
    /// How long it has been in this state.
    pub since_ms: Option<u64>,
    /// How long it has been out, through all tries that failed; not there while it is live.
    pub out_ms: Option<u64>,
    /// When it will be tried again, where a time is set.
    pub retry_in_ms: Option<u64>,
    /// How often it was slow: answers after `slow_after_ms`, verbs without one, verbs that gave up against others.
    /// `slow_limit` of them within `slow_window_s` evict it.
    pub slow_events: u64,
    /// How often it left the rotation.
    pub evictions: u64,
    /// How often it came back.
    pub rescues: u64,
}

impl Engine {
    /// Every slot as the ring has it, without asking any store: cheap enough for each call of a probe.
    pub fn slots(&self) -> Vec<SlotGlance> {
        let now = self.0.env.clock.now();
        let glance = |slot: SlotStatus| SlotGlance {
            slot: slot.slot,
            state: slot.state.as_str(),
            cause: slot.cause.map(|(kind, detail)| (class_of(kind, slot.why), detail)),
            since_ms: slot.since.map(|since| ms(now.saturating_duration_since(since))),
            out_ms: slot.out_since.map(|since| ms(now.saturating_duration_since(since))),
            retry_in_ms: slot.retry_at.map(|at| ms(at.saturating_duration_since(now))),
            slow_events: slot.counts.slow + slot.counts.timeouts + slot.counts.contended,
            evictions: slot.counts.evictions,
            rescues: slot.counts.rescues,
        };
        self.0.ring.status().into_iter().map(glance).collect()
    }

    /// How many keys are in use.
    pub fn live_keys(&self) -> usize {
        self.0.keys.len()
    }

    /// How many counters have something to report to the ledger, and at how many heartbeats have looked so far.
    pub fn reporting(&self) -> (usize, u64) {
        let keeper = self.0.keeper.status();
        (keeper.unsaid, keeper.looks)
    }
}

/// The class that is shown of what keeps a slot from serving: an operator's word is none of the store's.
pub(crate) fn class_of(kind: ErrorKind, why: Option<Why>) -> &'static str {
    if why.is_some_and(Why::is_by_word) { WORD } else { kind.as_str() }
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
