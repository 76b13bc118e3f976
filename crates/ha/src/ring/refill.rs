//! One take of one key: shares for the slots, their answers in parallel, and whom to ask when they fail.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use arc_swap::Guard;
use sequent_core::{Action, Blocks, SlotIndex, SourceError};
use tokio::time::sleep;

use super::{
    ask::Ask,
    blame::blame,
    key::KeyRing,
    lane::Lane,
    mailbox::{Awaited, Mailbox},
    probe::Probe,
};
use crate::{
    SlotState,
    health::Claim,
    join::{Piece, count, join, trim},
    shares::shares,
    snapshot::Snapshot,
};

/// A probe beside slots that serve takes so many ids.
pub(super) const PROBE_IDS: u64 = 1;

/// One take under way. Dropped at any point, it leaves what it has in hand, and what is still to come, to the next.
pub(super) struct Refill {
    key: Arc<KeyRing>,
    want: u64,
    mailbox: Arc<Mailbox>,
    hand: Vec<Piece>,
    asked: BTreeMap<SlotIndex, Asked>,
    /// How many asks are out, by how long they are waited for.
    out: Out,
    /// When the first was asked for which it waits but briefly.
    hoped: Option<Instant>,
    is_late: bool,
}

/// Asks without an answer.
#[derive(Default)]
struct Out {
    to_the_end: usize,
    briefly: usize,
    never: usize,
}

impl Out {
    fn of(&mut self, awaited: Awaited) -> &mut usize {
        match awaited {
            Awaited::ToTheEnd => &mut self.to_the_end,
            Awaited::Briefly => &mut self.briefly,
            Awaited::Never => &mut self.never,
        }
    }

    fn is_awaited(&self) -> bool {
        self.to_the_end + self.briefly > 0
    }
}

/// What became of asking a slot, and how often it was asked.
#[derive(Default)]
pub(super) struct Asked {
    times: u32,
    pub(super) failure: Option<SourceError>,
}

impl Refill {
    pub(super) fn new(key: Arc<KeyRing>, want: u64) -> Self {
        Self {
            key,
            want,
            mailbox: Arc::default(),
            hand: Vec::new(),
            asked: BTreeMap::new(),
            out: Out::default(),
            hoped: None,
            is_late: false,
        }
    }

    pub(super) async fn run(mut self) -> Result<Blocks, SourceError> {
        self.hand = self.key.use_spares(self.want);
        if self.missing() > 0 {
            self.first_wave();
            self.wait().await;
        }
        self.finish()
    }

    /// Until a slot has answered and the others answered, failed or passed `slow_after`; or all is lost.
    ///
    /// Where none has answered by then, the slots not asked yet are asked besides, so that it never lasts longer than
    /// that and one attempt limit. Where all that is left are slots that are out and silent, nobody waits for them longer
    /// than a slow answer takes: they go on being tried, and whoever asks meanwhile is told at once.
    async fn wait(&mut self) {
        let config = *self.key.roster().config();
        let begun = self.now();
        let (slow_at, end) = (config.slow_after, config.slow_after + config.attempt_timeout);
        let mut hedged = false;
        loop {
            self.collect();
            let took = self.now().saturating_duration_since(begun);
            if !self.out.is_awaited() {
                if !self.hand.is_empty() {
                    return;
                }
                if self.next_wave(0) {
                    continue;
                }
                if self.out.never == 0 {
                    return;
                }
            }
            self.is_late = took >= slow_at;
            let hope = self.hope_left(config.slow_after);
            if self.is_late && !self.hand.is_empty() || took >= end || hope.is_zero() {
                return;
            }
            if self.is_late && !hedged {
                hedged = true;
                // All of them: the one whose turn it would be may hang as well.
                self.next_wave(1);
            }
            let left = if self.is_late { end } else { slow_at }.saturating_sub(took).min(hope);
            tokio::select! {
                () = self.mailbox.arrived() => {}
                () = sleep(left) => {}
            }
        }
    }

    /// How long it still waits for slots that are out and silent, where no other is left.
    fn hope_left(&self, patience: Duration) -> Duration {
        let only = self.out.to_the_end == 0;
        let hoped = self.hoped.filter(|_| only).map(|hoped| self.now().saturating_duration_since(hoped));
        hoped.map_or(Duration::MAX, |passed| patience.saturating_sub(passed))
    }

    /// The live slots by their shares; and those on probation, one id each, for which nobody waits while others serve.
    fn first_wave(&mut self) {
        let snapshot = self.look();
        let usable: Vec<SlotIndex> = self.usable(&snapshot, snapshot.live());
        let prompt: Vec<SlotIndex> = usable.iter().copied().filter(|slot| !self.is_late_in(*slot)).collect();
        let chosen = if prompt.is_empty() { usable } else { prompt };
        self.ask_shares(&snapshot, &chosen, 0);
        if snapshot.some_out() {
            let due: Vec<SlotIndex> = snapshot.in_state(SlotState::Probation).collect();
            let due = self.usable(&snapshot, &due);
            self.probe(&snapshot, &due, Claim::Due, !chosen.is_empty());
        }
    }

    /// Asks whoever is left to ask, each for `least` ids even where it has no share; whether there was anybody.
    fn next_wave(&mut self, least: u64) -> bool {
        let snapshot = self.look();
        let live = self.usable(&snapshot, snapshot.live());
        let fresh: Vec<SlotIndex> =
            live.iter().copied().filter(|slot| !self.asked.contains_key(slot)).collect();
        if self.ask_shares(&snapshot, &fresh, least) > 0 {
            return true;
        }
        let again: Vec<SlotIndex> = live.into_iter().filter(|slot| self.may_ask_again(*slot)).collect();
        if self.ask_shares(&snapshot, &again, least) > 0 {
            return true;
        }
        let out: Vec<SlotIndex> =
            snapshot.in_state(SlotState::Evicted).chain(snapshot.in_state(SlotState::Probation)).collect();
        let mut out = self.usable(&snapshot, &out);
        out.retain(|slot| !self.asked.contains_key(slot));
        // Slow service is service, where this key has no other.
        let slow: Vec<SlotIndex> =
            out.iter().copied().filter(|slot| snapshot.standing(*slot).answers).collect();
        if self.ask_shares(&snapshot, &slow, least) > 0 {
            return true;
        }
        if out.is_empty() || !self.key.roster().may_try_all() {
            return false;
        }
        self.probe(&snapshot, &out, Claim::LastResort, false) > 0
    }

    /// Where things stand now, with what has become due done.
    fn look(&self) -> Guard<Arc<Snapshot>> {
        let snapshot = self.key.snapshot();
        if !snapshot.some_out() {
            return snapshot;
        }
        self.key.roster().tick();
        self.key.snapshot()
    }

    fn usable(&self, snapshot: &Snapshot, slots: &[SlotIndex]) -> Vec<SlotIndex> {
        slots.iter().copied().filter(|slot| self.key.can_ask(snapshot, *slot)).collect()
    }

    fn is_late_in(&self, slot: SlotIndex) -> bool {
        self.key.lane(slot).is_some_and(Lane::is_late)
    }

    /// A counter that only lost its life is asked once more: its guard gives it a new one.
    fn may_ask_again(&self, slot: SlotIndex) -> bool {
        self.asked.get(&slot).is_some_and(|asked| {
            let retry = |error: &SourceError| error.kind().verdict().action == Action::Retry;
            asked.times == 1 && asked.failure.as_ref().is_some_and(retry)
        })
    }

    /// Asks each slot for its share of what is missing, and `least` at least; returns how many were asked.
    fn ask_shares(&mut self, snapshot: &Snapshot, slots: &[SlotIndex], least: u64) -> usize {
        let key = Arc::clone(&self.key);
        let start = |slot: &SlotIndex| {
            let generation = snapshot.standing(*slot).generation;
            let floor = key.floor(snapshot, *slot, generation, false);
            (*slot, generation, floor)
        };
        let starts: Vec<(SlotIndex, u64, Option<u64>)> = slots.iter().map(start).collect();
        let positions: Vec<u64> =
            starts.iter().map(|(slot, _, floor)| floor.unwrap_or_else(|| key.raw_position(*slot))).collect();
        let shares = shares(&positions, self.missing()).into_iter().map(|share| share.max(least));
        let mut asked = 0;
        for ((slot, generation, floor), want) in starts.into_iter().zip(shares).filter(|(_, want)| *want > 0)
        {
            let ask = Ask::new(Arc::clone(&key), (slot, generation), want, floor, None);
            self.ask(ask, Awaited::ToTheEnd);
            asked += 1;
        }
        asked
    }

    /// Tries slots that are out; returns how many.
    fn probe(&mut self, snapshot: &Snapshot, slots: &[SlotIndex], claim: Claim, beside: bool) -> usize {
        let even = self.missing().div_ceil(u64::try_from(slots.len()).unwrap_or(1).max(1));
        let want = if beside { PROBE_IDS } else { even };
        let mut asked = 0;
        for slot in slots {
            let Some(probe) = Probe::claim(self.key.roster(), *slot, claim) else { continue };
            let generation = probe.generation();
            let floor = self.key.floor(snapshot, *slot, generation, true);
            let key = Arc::clone(&self.key);
            let awaited = match beside {
                true => Awaited::Never,
                false if snapshot.standing(*slot).answers => Awaited::ToTheEnd,
                false => Awaited::Briefly,
            };
            self.ask(Ask::new(key, (*slot, generation), want, floor, Some(probe)), awaited);
            asked += 1;
        }
        asked
    }

    fn ask(&mut self, ask: Ask, awaited: Awaited) {
        self.asked.entry(ask.slot()).or_default().times += 1;
        *self.out.of(awaited) += 1;
        if awaited == Awaited::Briefly {
            self.hoped = self.hoped.or_else(|| Some(self.now()));
        }
        self.mailbox.expect(ask.slot());
        tokio::spawn(ask.run(awaited, Arc::clone(&self.mailbox)));
    }

    fn collect(&mut self) {
        for outcome in self.mailbox.collect() {
            *self.out.of(outcome.awaited) -= 1;
            match outcome.result {
                Ok(pieces) => self.hand.extend(pieces),
                Err(error) => self.asked.entry(outcome.slot).or_default().failure = Some(error),
            }
        }
    }

    fn finish(&mut self) -> Result<Blocks, SourceError> {
        self.leave();
        let hand = std::mem::take(&mut self.hand);
        if hand.is_empty() {
            return Err(blame(&self.key, &self.asked));
        }
        let (kept, mut surplus) = trim(hand, self.want);
        let (blocks, rest) = join(self.key.layout(), kept);
        surplus.extend(rest);
        self.key.keep(surplus);
        Ok(blocks)
    }

    fn leave(&mut self) {
        let key = &self.key;
        for outcome in
            self.mailbox.leave(self.is_late, |slot| key.lane(slot).into_iter().for_each(Lane::set_late))
        {
            match outcome.result {
                Ok(pieces) => self.hand.extend(pieces),
                Err(error) => self.asked.entry(outcome.slot).or_default().failure = Some(error),
            }
        }
    }

    fn missing(&self) -> u64 {
        self.want.saturating_sub(count(&self.hand))
    }

    fn now(&self) -> Instant {
        self.key.roster().env().clock.now()
    }
}

impl Drop for Refill {
    fn drop(&mut self) {
        self.is_late = false;
        self.leave();
        self.key.keep(std::mem::take(&mut self.hand));
    }
}
