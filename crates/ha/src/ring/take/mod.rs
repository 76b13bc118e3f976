//! One take of one key: the slots are asked in parallel, and others are asked when they fail.

mod combined_error;
mod requests;
mod results;
pub(crate) mod slot_request;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sequent_core::{Blocks, SourceError};
use tokio::time::sleep;

use self::{
    combined_error::{Attempts, combined_error},
    results::{Results, SlotResult, WaitPolicy},
};
use super::{
    key::{KeyCounters, slot_counter::SlotCounter},
    slot_blocks::{SlotBlock, count, interleave::interleave, take_lowest},
};

/// A take in progress. Dropped at any point, it leaves its blocks, and those still to come, to the next take.
pub(super) struct RingTake {
    key: Arc<KeyCounters>,
    want: u64,
    results: Arc<Results>,
    blocks: Vec<SlotBlock>,
    attempts: Attempts,
    in_flight: InFlight,
    /// When the first request was made for which the take waits only briefly.
    brief_since: Option<Instant>,
    is_late: bool,
}

/// Requests without a result, by how long the take waits for them.
#[derive(Default)]
struct InFlight {
    fully: usize,
    briefly: usize,
    not_at_all: usize,
}

impl InFlight {
    fn of(&mut self, wait: WaitPolicy) -> &mut usize {
        match wait {
            WaitPolicy::Fully => &mut self.fully,
            WaitPolicy::Briefly => &mut self.briefly,
            WaitPolicy::NotAtAll => &mut self.not_at_all,
        }
    }

    fn is_awaited(&self) -> bool {
        self.fully + self.briefly > 0
    }
}

impl RingTake {
    pub(super) fn new(key: Arc<KeyCounters>, want: u64) -> Self {
        Self {
            key,
            want,
            results: Arc::default(),
            blocks: Vec::new(),
            attempts: Attempts::new(),
            in_flight: InFlight::default(),
            brief_since: None,
            is_late: false,
        }
    }

    pub(super) async fn run(mut self) -> Result<Blocks, SourceError> {
        self.blocks = self.key.take_late_blocks(self.want);
        if self.missing() > 0 {
            self.first_requests();
            self.wait().await;
        }
        self.finish()
    }

    /// Waits until one slot has answered, and the others have answered, failed or passed `slow_after`.
    ///
    /// If no slot has answered by `slow_after`, the slots not asked yet are asked too. So a take lasts at most
    /// `slow_after` and one attempt limit.
    ///
    /// If only silent slots that are out are left, the take waits for them at most `slow_after`. Their probes go on, and
    /// callers get an error meanwhile.
    async fn wait(&mut self) {
        let config = *self.key.membership().config();
        let began = self.now();
        let (slow_at, end) = (config.slow_after, config.slow_after + config.attempt_timeout);
        let mut has_hedged = false;
        loop {
            self.collect();
            let took = self.now().saturating_duration_since(began);
            if !self.in_flight.is_awaited() {
                if !self.blocks.is_empty() {
                    return;
                }
                if self.more_requests(0) {
                    continue;
                }
                if self.in_flight.not_at_all == 0 {
                    return;
                }
            }
            self.is_late = took >= slow_at;
            let brief_wait = self.brief_wait_left(config.slow_after);
            if self.is_late && !self.blocks.is_empty() || took >= end || brief_wait.is_zero() {
                return;
            }
            if self.is_late && !has_hedged {
                has_hedged = true;
                // All of them, since the next one may hang as well.
                self.more_requests(1);
            }
            let left = if self.is_late { end } else { slow_at }.saturating_sub(took).min(brief_wait);
            tokio::select! {
                () = self.results.arrived() => {}
                () = sleep(left) => {}
            }
        }
    }

    /// How long the take still waits for silent slots that are out, if no other slot is awaited.
    fn brief_wait_left(&self, limit: Duration) -> Duration {
        let since = self.brief_since.filter(|_| self.in_flight.fully == 0);
        let passed = since.map(|since| self.now().saturating_duration_since(since));
        passed.map_or(Duration::MAX, |passed| limit.saturating_sub(passed))
    }

    fn collect(&mut self) {
        for result in self.results.collect() {
            *self.in_flight.of(result.wait) -= 1;
            self.receive(result);
        }
    }

    fn receive(&mut self, SlotResult { slot, result, .. }: SlotResult) {
        match result {
            Ok(blocks) => self.blocks.extend(blocks),
            Err(error) => self.attempts.entry(slot).or_default().failure = Some(error),
        }
    }

    fn finish(&mut self) -> Result<Blocks, SourceError> {
        self.end();
        let mut blocks = std::mem::take(&mut self.blocks);
        if blocks.is_empty() {
            // They may have come while the others failed, and be the last ones that there are.
            blocks = self.key.take_late_blocks(self.want);
        }
        if blocks.is_empty() {
            return Err(combined_error(&self.key, &self.attempts));
        }
        let (lowest, mut surplus) = take_lowest(blocks, self.want);
        let (blocks, rest) = interleave(self.key.layout(), lowest);
        surplus.extend(rest);
        self.key.keep(surplus);
        Ok(blocks)
    }

    /// Stops waiting, with what has arrived by now.
    fn end(&mut self) {
        let key = Arc::clone(&self.key);
        let mark_late = |slot| key.counter(slot).into_iter().for_each(SlotCounter::begin_late);
        for result in self.results.end(self.is_late, mark_late) {
            self.receive(result);
        }
    }

    fn missing(&self) -> u64 {
        self.want.saturating_sub(count(&self.blocks))
    }

    fn now(&self) -> Instant {
        self.key.membership().env().clock.now()
    }
}

impl Drop for RingTake {
    fn drop(&mut self) {
        self.is_late = false;
        self.end();
        self.key.keep(std::mem::take(&mut self.blocks));
    }
}
