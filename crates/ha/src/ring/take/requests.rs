//! Which slots a take asks, for how many ids, and which it asks next.

use std::{sync::Arc, time::Duration};

use arc_swap::Guard;
use sequent_core::{Action, SlotIndex, SourceError};

use super::{
    RingTake,
    results::WaitPolicy,
    slot_request::{PROBE_IDS, SlotRequest},
};
use crate::{
    health::member::events::ProbeReason,
    membership::{probe_permit::ProbePermit, snapshot::Snapshot},
    ring::{key::slot_counter::SlotCounter, slot_blocks::split::split},
    status::SlotState,
};

/// While no slot is live, all are tried together at most this often.
const TRY_ALL_EVERY: Duration = Duration::from_secs(2);

impl RingTake {
    /// Asks the live slots for their shares. Slots on probation are probed with one id each; the take does not wait for
    /// them while others serve.
    pub(super) fn first_requests(&mut self) {
        let snapshot = self.current_snapshot();
        let usable: Vec<SlotIndex> = self.usable(&snapshot, snapshot.live());
        let prompt: Vec<SlotIndex> = usable.iter().copied().filter(|slot| !self.is_late_in(*slot)).collect();
        let chosen = if prompt.is_empty() { usable } else { prompt };
        self.ask_shares(&snapshot, &chosen, 0);
        if snapshot.some_out() {
            let due: Vec<SlotIndex> = snapshot.in_state(SlotState::Probation).collect();
            let due = self.usable(&snapshot, &due);
            self.probe(&snapshot, &due, ProbeReason::Due, !chosen.is_empty());
        }
    }

    /// Asks the slots that are left, each for at least `least` ids; returns whether there was one.
    pub(super) fn more_requests(&mut self, least: u64) -> bool {
        let snapshot = self.current_snapshot();
        let live = self.usable(&snapshot, snapshot.live());
        let fresh: Vec<SlotIndex> =
            live.iter().copied().filter(|slot| !self.attempts.contains_key(slot)).collect();
        if self.ask_shares(&snapshot, &fresh, least) > 0 {
            return true;
        }
        let again: Vec<SlotIndex> = live.into_iter().filter(|slot| self.may_retry(*slot)).collect();
        if self.ask_shares(&snapshot, &again, least) > 0 {
            return true;
        }
        let out: Vec<SlotIndex> =
            snapshot.in_state(SlotState::Evicted).chain(snapshot.in_state(SlotState::Probation)).collect();
        let mut out = self.usable(&snapshot, &out);
        out.retain(|slot| !self.attempts.contains_key(slot));
        // Slow service is better than none.
        let slow: Vec<SlotIndex> =
            out.iter().copied().filter(|slot| snapshot.slot(*slot).answers_slowly).collect();
        if self.ask_shares(&snapshot, &slow, least) > 0 {
            return true;
        }
        if out.is_empty() || !self.key.membership().may_try_all(TRY_ALL_EVERY) {
            return false;
        }
        self.probe(&snapshot, &out, ProbeReason::LastResort, false) > 0
    }

    /// The snapshot after all transitions that are due.
    fn current_snapshot(&self) -> Guard<Arc<Snapshot>> {
        let snapshot = self.key.snapshot();
        if !snapshot.some_out() {
            return snapshot;
        }
        self.key.membership().tick();
        self.key.snapshot()
    }

    fn usable(&self, snapshot: &Snapshot, slots: &[SlotIndex]) -> Vec<SlotIndex> {
        slots.iter().copied().filter(|slot| self.key.can_ask(snapshot, *slot)).collect()
    }

    fn is_late_in(&self, slot: SlotIndex) -> bool {
        self.key.counter(slot).is_some_and(SlotCounter::is_late)
    }

    /// A counter whose epoch has ended is asked once more: its guard gives it a new one.
    fn may_retry(&self, slot: SlotIndex) -> bool {
        self.attempts.get(&slot).is_some_and(|attempt| {
            let is_retry = |error: &SourceError| error.kind().verdict().action == Action::Retry;
            attempt.times == 1 && attempt.failure.as_ref().is_some_and(is_retry)
        })
    }

    /// Asks each slot for its share of what is missing, and at least `least`; returns how many were asked.
    fn ask_shares(&mut self, snapshot: &Snapshot, slots: &[SlotIndex], least: u64) -> usize {
        let key = Arc::clone(&self.key);
        let start = |slot: &SlotIndex| {
            let generation = snapshot.slot(*slot).generation;
            let floor = key.floor(snapshot, *slot, generation, false);
            (*slot, generation, floor)
        };
        let starts: Vec<(SlotIndex, u64, Option<u64>)> = slots.iter().map(start).collect();
        let positions: Vec<u64> =
            starts.iter().map(|(slot, _, floor)| floor.unwrap_or_else(|| key.raw_position(*slot))).collect();
        let shares = split(&positions, self.missing()).into_iter().map(|share| share.max(least));
        let mut asked = 0;
        for ((slot, generation, floor), want) in starts.into_iter().zip(shares).filter(|(_, want)| *want > 0)
        {
            let request = SlotRequest::new(Arc::clone(&key), (slot, generation), want, floor, None);
            self.spawn(request, WaitPolicy::Fully);
            asked += 1;
        }
        asked
    }

    /// Probes slots that are out; returns how many. `others_serve` says that live slots were asked too.
    fn probe(
        &mut self,
        snapshot: &Snapshot,
        slots: &[SlotIndex],
        reason: ProbeReason,
        others_serve: bool,
    ) -> usize {
        let even = self.missing().div_ceil(u64::try_from(slots.len()).unwrap_or(1).max(1));
        let want = if others_serve { PROBE_IDS } else { even };
        let mut asked = 0;
        for slot in slots {
            let permit = ProbePermit::acquire(self.key.membership(), *slot, reason);
            let Some(permit) = permit else { continue };
            let generation = permit.generation();
            let floor = self.key.floor(snapshot, *slot, generation, true);
            let key = Arc::clone(&self.key);
            let policy = match others_serve {
                true => WaitPolicy::NotAtAll,
                false if snapshot.slot(*slot).answers_slowly => WaitPolicy::Fully,
                false => WaitPolicy::Briefly,
            };
            self.spawn(SlotRequest::new(key, (*slot, generation), want, floor, Some(permit)), policy);
            asked += 1;
        }
        asked
    }

    fn spawn(&mut self, request: SlotRequest, wait: WaitPolicy) {
        self.attempts.entry(request.slot()).or_default().times += 1;
        *self.in_flight.of(wait) += 1;
        if wait == WaitPolicy::Briefly {
            self.brief_since = self.brief_since.or_else(|| Some(self.now()));
        }
        self.results.expect(request.slot());
        tokio::spawn(request.run(wait, Arc::clone(&self.results)));
    }
}
