//! Results of the slots' requests: a take receives them, or the request learns that the take has ended.

use std::sync::Mutex;

use sequent_core::{SlotIndex, SourceError, sync};
use tokio::sync::Notify;

use crate::ring::slot_blocks::SlotBlock;

/// How long a take waits for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitPolicy {
    /// Until the request ends: the slot serves, however slowly.
    Fully,
    /// At most `slow_after`: the slot is out, and has not answered lately.
    Briefly,
    /// Not at all: other slots serve.
    NotAtAll,
}

/// The result of one slot's request.
pub(super) struct SlotResult {
    pub(super) slot: SlotIndex,
    /// How long the take waits for it.
    pub(super) wait: WaitPolicy,
    pub(super) result: Result<Vec<SlotBlock>, SourceError>,
}

/// A result that no take waits for any more.
pub(super) struct Undelivered {
    pub(super) result: SlotResult,
    /// Whether its counter was marked as late when the take ended.
    pub(super) is_late: bool,
}

/// The results of one take's requests.
#[derive(Default)]
pub(super) struct Results {
    /// Not locked by [`crate::sync::lock`]: only one take and its own requests share this mutex.
    state: Mutex<State>,
    arrival: Notify,
}

#[derive(Default)]
struct State {
    arrived: Vec<SlotResult>,
    expected: Vec<SlotIndex>,
    /// Set once the take has ended: whether it marked the expected slots as late.
    ended: Option<bool>,
}

impl Results {
    /// A result of this slot will come.
    pub(super) fn expect(&self, slot: SlotIndex) {
        sync::lock(&self.state).expected.push(slot);
    }

    /// Delivers a result, or returns it if the take has ended.
    pub(super) fn deliver(&self, result: SlotResult) -> Result<(), Undelivered> {
        let mut state = sync::lock(&self.state);
        if let Some(is_late) = state.ended {
            return Err(Undelivered { result, is_late });
        }
        if let Some(at) = state.expected.iter().position(|slot| *slot == result.slot) {
            state.expected.swap_remove(at);
        }
        state.arrived.push(result);
        drop(state);
        self.arrival.notify_one();
        Ok(())
    }

    /// Waits for a result since the last call of [`collect`](Self::collect).
    pub(super) async fn arrived(&self) {
        self.arrival.notified().await;
    }

    /// The results since the last call.
    pub(super) fn collect(&self) -> Vec<SlotResult> {
        std::mem::take(&mut sync::lock(&self.state).arrived)
    }

    /// Ends the wait. If `is_late`, `mark` is called for each slot whose result is missing, before it can come.
    pub(super) fn end(&self, is_late: bool, mark: impl Fn(SlotIndex)) -> Vec<SlotResult> {
        let mut state = sync::lock(&self.state);
        if state.ended.is_none() {
            state.ended = Some(is_late);
            state.expected.drain(..).filter(|_| is_late).for_each(mark);
        }
        std::mem::take(&mut state.arrived)
    }
}
