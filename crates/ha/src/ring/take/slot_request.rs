//! One slot's request of a take: lift if needed, take, judge errors, deliver the blocks.

use std::{sync::Arc, time::Duration};

use sequent_core::{Action, Block, ErrorKind, Scope, SlotIndex, SourceError};
use tokio::time::timeout;

use super::results::{Results, SlotResult, Undelivered, WaitPolicy};
use crate::{
    config::REQUEST_ATTEMPTS,
    membership::probe_permit::ProbePermit,
    ring::{
        key::{KeyCounters, slot_counter::SlotCounter},
        slot_blocks::SlotBlock,
    },
};

/// A probe takes this many ids while other slots serve.
pub(crate) const PROBE_IDS: u64 = 1;

/// A probe may take this many attempt limits: one lift and one take.
const PROBE_ATTEMPTS: u32 = 2;

/// A request to one slot.
pub(crate) struct SlotRequest {
    key: Arc<KeyCounters>,
    slot: SlotIndex,
    want: u64,
    generation: u64,
    floor: Option<u64>,
    permit: Option<ProbePermit>,
}

impl SlotRequest {
    /// The request counts as in flight from here until it is dropped.
    pub(crate) fn new(
        key: Arc<KeyCounters>,
        (slot, generation): (SlotIndex, u64),
        want: u64,
        floor: Option<u64>,
        permit: Option<ProbePermit>,
    ) -> Self {
        key.counter(slot).into_iter().for_each(SlotCounter::begin_request);
        Self { key, slot, want, generation, floor, permit }
    }

    pub(super) fn slot(&self) -> SlotIndex {
        self.slot
    }

    /// Runs in a task of its own, which outlives its take.
    pub(super) async fn run(mut self, wait: WaitPolicy, results: Arc<Results>) {
        let result = self.attempt().await;
        let result = SlotResult { slot: self.slot, wait, result };
        if let Err(Undelivered { result, is_late }) = results.deliver(result) {
            if let Some(counter) = self.key.counter(self.slot).filter(|_| is_late) {
                counter.end_late();
            }
            self.key.keep(result.result.unwrap_or_default());
        }
    }

    /// Only probes the slot: what it gives is discarded.
    pub(crate) async fn run_and_discard(mut self) {
        let blocks = self.attempt().await.unwrap_or_default();
        self.key.dropped(&blocks, "taken to try a slot that nobody asked");
    }

    async fn attempt(&mut self) -> Result<Vec<SlotBlock>, SourceError> {
        let attempt = self.key.membership().config().attempt_timeout;
        let (key, slot) = (Arc::clone(&self.key), self.slot);
        let work = lift_and_take(&key, slot, self.want, self.generation, self.floor);
        tokio::pin!(work);
        let mut result = None;
        if let Some(permit) = &mut self.permit {
            let limit = attempt * PROBE_ATTEMPTS;
            let first = timeout(limit, &mut work).await;
            let first = first.map_err(|_| timed_out("the probe", limit));
            permit.report(&first.clone().and_then(|answer| answer));
            result = first.ok();
        }
        let limit = attempt * REQUEST_ATTEMPTS;
        let result = match result {
            Some(result) => result,
            None => timeout(limit, work).await.unwrap_or_else(|_| Err(timed_out("the request", limit))),
        };
        if let Err(error) = &result {
            apply_verdict(&key, slot, self.generation, error);
        }
        result
    }
}

impl Drop for SlotRequest {
    /// After its blocks have been delivered or kept.
    fn drop(&mut self) {
        self.key.counter(self.slot).into_iter().for_each(SlotCounter::end_request);
    }
}

async fn lift_and_take(
    key: &KeyCounters,
    slot: SlotIndex,
    want: u64,
    generation: u64,
    floor: Option<u64>,
) -> Result<Vec<SlotBlock>, SourceError> {
    let set_used = || key.counter(slot).into_iter().for_each(|counter| counter.set_used(generation));
    match floor {
        None => set_used(),
        Some(floor) => match key.lift(slot, floor).await {
            Err(error) if error.kind().verdict().scope == Scope::Slot => return Err(error),
            // Without the ledger the slot serves at its old position, and is lifted later: service is worth more than
            // order.
            Err(error) if error.kind().verdict().scope == Scope::Nobody => {}
            // Lifted, or refused by its guard (perhaps as a jump), which would refuse it again.
            _ => set_used(),
        },
    }
    let blocks = key.take(slot, want).await?;
    let (layout, expires_at) = (key.layout(), blocks.expiry());
    let raw_max = Block::NUMBER_MAX >> (layout.shard_bits() + layout.memory_bits());
    let fitting = blocks.as_slice().iter().filter_map(|raw| raw.up_to(raw_max));
    let blocks: Vec<SlotBlock> = fitting.map(|raw| SlotBlock { slot, raw, expires_at }).collect();
    if blocks.is_empty() {
        let past = format!("raw ids of slot {slot} are past {raw_max}, the end of the layout's range");
        return Err(SourceError::new(ErrorKind::Exhausted, past));
    }
    Ok(blocks)
}

/// Applies the error's verdict to the slot or the counter that it names.
fn apply_verdict(key: &KeyCounters, slot: SlotIndex, generation: u64, error: &SourceError) {
    let verdict = error.kind().verdict();
    match (verdict.scope, verdict.action) {
        // The store's decorator has counted slow events of the store: here they would count twice.
        (Scope::Slot, Action::CountSlow) => {}
        (Scope::Slot, _) => key.membership().apply_failure(slot, generation, error),
        (Scope::Counter, Action::Retire) => key.retire(slot, error),
        (Scope::Counter, Action::Quarantine) => key.quarantine(slot, error),
        (Scope::Counter | Scope::Nobody, _) => {}
    }
}

fn timed_out(what: &str, limit: Duration) -> SourceError {
    SourceError::new(ErrorKind::Timeout, format!("{what} had no answer within {} ms", limit.as_millis()))
}
