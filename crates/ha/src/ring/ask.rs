//! One slot's part in a refill: lift if need be, take, judge what went wrong, hand in what came.

use std::{sync::Arc, time::Duration};

use sequent_core::{Action, Block, ErrorKind, Scope, SlotIndex, SourceError};
use tokio::time::timeout;

use super::{
    key::KeyRing,
    lane::Lane,
    mailbox::{Awaited, Mailbox, Missed, Outcome},
    probe::Probe,
};
use crate::join::Piece;

/// A probe may take so many attempt limits: one lift and one take.
const PROBE_ATTEMPTS: u32 = 2;

/// Any ask may take so many: read, close, open, install, lift, take, raise and mark, each to its limit. What is not
/// done by then hangs, and is given up.
pub(crate) const ASK_ATTEMPTS: u32 = 8;

/// What one slot is to do.
pub(super) struct Ask {
    key: Arc<KeyRing>,
    slot: SlotIndex,
    want: u64,
    generation: u64,
    floor: Option<u64>,
    probe: Option<Probe>,
}

impl Ask {
    /// An ask is under way from here on, until it is dropped.
    pub(super) fn new(
        key: Arc<KeyRing>,
        (slot, generation): (SlotIndex, u64),
        want: u64,
        floor: Option<u64>,
        probe: Option<Probe>,
    ) -> Self {
        key.lane(slot).into_iter().for_each(Lane::begin_ask);
        Self { key, slot, want, generation, floor, probe }
    }

    pub(super) fn slot(&self) -> SlotIndex {
        self.slot
    }

    /// Runs in a task of its own, which outlives its caller.
    pub(super) async fn run(mut self, awaited: Awaited, mailbox: Arc<Mailbox>) {
        let result = self.attempt().await;
        let outcome = Outcome { slot: self.slot, awaited, result };
        if let Err(Missed { outcome, late }) = mailbox.deliver(outcome) {
            if let Some(lane) = self.key.lane(self.slot).filter(|_| late) {
                lane.end_late();
            }
            self.key.keep(outcome.result.unwrap_or_default());
        }
    }

    /// Only tries the slot: what it gives is burnt.
    pub(super) async fn burn(mut self) {
        let pieces = self.attempt().await.unwrap_or_default();
        self.key.dropped(&pieces, "taken to try a slot that nobody asked");
    }

    async fn attempt(&mut self) -> Result<Vec<Piece>, SourceError> {
        let attempt = self.key.roster().config().attempt_timeout;
        let (key, slot) = (Arc::clone(&self.key), self.slot);
        let work = work(&key, slot, self.want, self.generation, self.floor);
        tokio::pin!(work);
        let mut result = None;
        if let Some(probe) = &mut self.probe {
            let limit = attempt * PROBE_ATTEMPTS;
            let first = timeout(limit, &mut work).await;
            let first = first.map_err(|_| unanswered("the probe", limit));
            probe.settle(&first.clone().and_then(|answer| answer));
            result = first.ok();
        }
        let limit = attempt * ASK_ATTEMPTS;
        let result = match result {
            Some(result) => result,
            None => timeout(limit, work).await.unwrap_or_else(|_| Err(unanswered("the ask", limit))),
        };
        if let Err(error) = &result {
            judge(&key, slot, self.generation, error);
        }
        result
    }
}

impl Drop for Ask {
    /// After what came has been handed in, or kept.
    fn drop(&mut self) {
        self.key.lane(self.slot).into_iter().for_each(Lane::end_ask);
    }
}

async fn work(
    key: &KeyRing,
    slot: SlotIndex,
    want: u64,
    generation: u64,
    floor: Option<u64>,
) -> Result<Vec<Piece>, SourceError> {
    let set_used = || key.lane(slot).into_iter().for_each(|lane| lane.set_used(generation));
    match floor {
        None => set_used(),
        Some(floor) => match key.lift(slot, floor).await {
            Err(error) if error.kind().verdict().scope == Scope::Slot => return Err(error),
            // Order is worth less than service: while the ledger is away the slot serves as it is, and is lifted later.
            Err(error) if error.kind().verdict().scope == Scope::Nobody => {}
            // Lifted; or refused by its guard, for being a leap perhaps, and then it would be again.
            _ => set_used(),
        },
    }
    let blocks = key.take(slot, want).await?;
    let (layout, until) = (key.layout(), blocks.expiry());
    let raw_max = Block::NUMBER_MAX >> (layout.shard_bits() + layout.memory_bits());
    let fitting = blocks.as_slice().iter().filter_map(|raw| raw.up_to(raw_max));
    let pieces: Vec<Piece> = fitting.map(|raw| Piece { slot, raw, until }).collect();
    if pieces.is_empty() {
        let past = format!("raw ids of slot {slot} are past {raw_max}, the end of the layout's range");
        return Err(SourceError::new(ErrorKind::Exhausted, past));
    }
    Ok(pieces)
}

/// Holds a failure against whom its verdict names.
fn judge(key: &KeyRing, slot: SlotIndex, generation: u64, error: &SourceError) {
    let verdict = error.kind().verdict();
    match (verdict.scope, verdict.action) {
        // The store's decorator has counted it, where it was the store: here it would count twice.
        (Scope::Slot, Action::CountSlow) => {}
        (Scope::Slot, _) => key.roster().accuse(slot, generation, error),
        (Scope::Counter, Action::Retire) => key.retire(slot, error),
        (Scope::Counter, Action::Quarantine) => key.quarantine(slot, error),
        (Scope::Counter | Scope::Nobody, _) => {}
    }
}

fn unanswered(what: &str, limit: Duration) -> SourceError {
    SourceError::new(ErrorKind::Timeout, format!("{what} had no answer within {} ms", limit.as_millis()))
}
