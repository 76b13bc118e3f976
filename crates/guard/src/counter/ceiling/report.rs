//! Reports of a counter to the ledger, and the effect of its answers.

use std::time::{Duration, Instant};

use sequent_core::{
    Epoch, Event, InstanceId,
    ledger::{Moved, Raise, Raised, Row},
};

use crate::counter::{CounterState, Guarded, State, ceiling::rate::Room, grant::Grant};
use crate::jump_limit;

/// An ended epoch of this process, and the highest id that left in it, until that is reported and compared.
pub(in crate::counter) struct FormerEpoch {
    pub(in crate::counter) epoch: Epoch,
    seen: u64,
    /// Whether the ledger has no row of the counter, or only a claim. It is asked again once another epoch has begun.
    awaits_next: bool,
}

/// Ids up to `given` left this server, although the next epoch began below, at `begun_at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GivenAbove {
    given: u64,
    begun_at: u64,
    is_told: bool,
}

/// A row's epoch and `seen`, as reported by another server.
#[derive(Debug, Clone, Copy)]
pub(in crate::counter) struct Told {
    epoch: Epoch,
    seen: u64,
}

/// Result of adding a report to a row that was being read at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::counter) enum Adds {
    /// The row includes the report.
    Good,
    /// Row and report have different epochs, and it is unknown which is older.
    Doubt,
}

impl Told {
    pub(in crate::counter) fn adds_to(self, row: &mut Row) -> Adds {
        if self.epoch != row.epoch {
            return Adds::Doubt;
        }
        row.seen = row.seen.max(self.seen);
        Adds::Good
    }
}

impl State {
    /// Notes that other servers have taken up to `seen`.
    fn came_to(&mut self, seen: u64, now: Instant) {
        let ids = seen.saturating_sub(self.position);
        if ids > 0 {
            self.pace.advanced(ids, now);
            self.position = seen;
        }
    }

    /// Compares what left in an epoch that has ended with where a later one began.
    fn compare_given(&mut self, given: u64, begun_at: u64) {
        if given > begun_at {
            let given = self.above.map_or(given, |above| above.given.max(given));
            self.above = Some(GivenAbove { given, begun_at, is_told: false });
        }
    }

    /// Compares what left in the epoch held before with where the row's epoch begins, as the ledger may have lost the raise that
    /// permitted it. Not only once it is reported: by then the row may have a later epoch, which begins above.
    pub(in crate::counter) fn compare_former(&mut self, row: &Row) {
        if let Some(former) = self.former.as_ref().filter(|former| former.epoch != row.epoch) {
            self.compare_given(former.seen, row.base);
        }
        self.former.take_if(|former| former.epoch == row.epoch || former.awaits_next);
    }

    /// Drops the grant, if there is one: nothing leaves under it any more. What was given under it is reported once more, even if
    /// that was acknowledged: the ledger that acknowledged it may have lost it since.
    pub(in crate::counter) fn lay_down(&mut self, next: CounterState) {
        let Some(epoch) = self.grant().map(|grant| grant.row.epoch) else { return };
        self.former = Some(FormerEpoch { epoch, seen: self.seen, awaits_next: false });
        self.enter(next);
    }
}

impl Guarded {
    /// The counter's report in a heartbeat; `None` if nothing has changed.
    pub(crate) fn report(&self, outage: Duration) -> Option<Raise> {
        let mut state = self.state();
        if state.grant().is_some_and(|grant| !self.shared.client.speaks_as(&grant.row.ledger)) {
            state.lay_down(CounterState::Closed);
        }
        if let Some(former) = state.former.as_ref().filter(|former| !former.awaits_next) {
            return Some(self.last_report(former));
        }
        let grant = state.grant()?;
        let ceiling = self.raised(&state, grant, outage);
        if ceiling == 0 && state.seen == state.reported {
            return None;
        }
        let jump_max = jump_limit::jump_max(grant.ceiling, self.raw_max(), state.pace.block());
        let (counter, epoch, seen) = (self.counter.clone(), grant.row.epoch, state.seen);
        Some(Raise { counter, epoch, ceiling, seen, jump_max })
    }

    /// Whether the counter has anything to report. It must be true whenever [`report`](Self::report) returns something, since
    /// unlisted counters are not asked.
    pub(in crate::counter) fn has_to_say(&self, state: &State) -> bool {
        let has_news = |grant: &Grant| {
            state.seen != state.reported
                || !self.shared.client.speaks_as(&grant.row.ledger)
                || self.raised(state, grant, self.shared.config.outage) > 0
        };
        state.former.as_ref().is_some_and(|former| !former.awaits_next) || state.grant().is_some_and(has_news)
    }

    /// The ceiling that is due under this grant; 0 if none is due, or none can be had within the range.
    fn raised(&self, state: &State, grant: &Grant, outage: Duration) -> u64 {
        let wanted = self.wanted_room(state, outage);
        let is_due = state.seen > grant.row.base && grant.ceiling.saturating_sub(state.seen) < wanted.least;
        let ceiling = state.seen.saturating_add(wanted.full).min(self.raw_max());
        if is_due && ceiling > grant.ceiling { ceiling } else { 0 }
    }

    /// The last report of an epoch whose grant is gone. Without it, the next server to join the row could not know that its
    /// store forgot.
    ///
    /// The ids have left, so no jump is too wide. The report goes to whichever instance of the ledger answers; that one may
    /// have lost the ceiling that permitted them.
    fn last_report(&self, former: &FormerEpoch) -> Raise {
        let FormerEpoch { epoch, seen, .. } = *former;
        Raise { counter: self.counter.clone(), epoch, ceiling: 0, seen, jump_max: seen }
    }

    /// Reports ids given above the next epoch's base, notes them in the ledger, and begins the next epoch above them. A failure
    /// is retried with the next heartbeat; the event is sent once.
    pub(crate) async fn step_over_given(&self) {
        let Some(above) = self.state().above else { return };
        let GivenAbove { given, begun_at, is_told } = above;
        let key = &self.counter.key;
        if !is_told {
            let (slot, key) = (self.counter.slot, key.clone());
            self.shared.env.events.emit(Event::GivenAbove { slot, key, given, begun_at });
        }
        let stepped = match self.shared.client.note_given_above(key, given).await {
            Ok(()) => self.advance_to(given).await,
            failed => failed,
        };
        let mut state = self.state();
        if state.above == Some(above) {
            state.above = stepped.is_err().then_some(GivenAbove { is_told: true, ..above });
        }
    }

    /// Takes in the answer to a raise or a report.
    pub(crate) fn learn(&self, asked: &Raise, answer: &Raised) {
        let now = self.shared.env.clock.now();
        let mut state = self.state();
        if let Raised::Ended { begun_at: Some(begun_at) } = answer {
            let held = state.held(asked.epoch);
            let former = state.former.as_ref().filter(|former| former.epoch == asked.epoch);
            // Not the id in the request: a block in hand has not left.
            let given = former.map(|former| former.seen).or(held.map(|_| state.seen)).unwrap_or(0);
            state.compare_given(given, *begun_at);
            // Nothing more has to be reported of that epoch.
            state.reported = state.reported.max(given);
        }
        if let Some(former) = state.former.as_mut().filter(|former| former.epoch == asked.epoch) {
            let seen = former.seen;
            if matches!(answer, Raised::Ended { begun_at: None }) {
                former.awaits_next = true;
            } else {
                state.former = None;
            }
            state.reported = state.reported.max(seen);
        }
        let under = |grant: &Grant| self.shared.client.speaks_as(&grant.row.ledger);
        if !state.held(asked.epoch).is_some_and(under) {
            return;
        }
        let Raised::Held { ceiling, seen } = answer else {
            state.lay_down(CounterState::Closed);
            if matches!(answer, Raised::Ended { begun_at: Some(_) }) {
                // Judged above.
                state.former = None;
            }
            return;
        };
        if *seen > asked.seen && state.doubts(*seen) {
            // It is checked before anything is taken again.
            state.lay_down(CounterState::Closed);
            return;
        }
        let Some(grant) = state.held_mut(asked.epoch) else { return };
        grant.ceiling = grant.ceiling.max(*ceiling);
        let base = grant.row.base;
        state.reported = state.reported.max(asked.seen);
        state.came_to(*seen, now);
        state.saw(*seen, base);
        state.order.saw(*seen);
    }

    /// Takes in what another server opened, raised or reported: its ids must not be given here, even if the store forgot them.
    /// Returns whether this is news.
    pub(crate) fn hear(&self, under: &InstanceId, moved: &Moved) -> bool {
        let now = self.shared.env.clock.now();
        let mut state = self.state();
        if let Some(former) = state.former.as_mut().filter(|former| former.epoch != moved.epoch) {
            former.awaits_next = false;
        }
        if let Some(preread) = state.preread.as_mut().filter(|preread| preread.row.ledger == *under) {
            if preread.row.epoch == moved.epoch {
                preread.row.seen = preread.row.seen.max(moved.seen);
            } else {
                state.preread = None;
            }
        }
        let Some(grant) = state.grant().filter(|grant| grant.row.ledger == *under) else {
            state.told = Some(Told { epoch: moved.epoch, seen: moved.seen });
            return false;
        };
        if grant.row.epoch != moved.epoch {
            // Ended by another server. If this server has just begun the next epoch, it joins it again.
            state.lay_down(CounterState::Closed);
            return false;
        }
        let base = grant.row.base;
        if state.doubts(moved.seen) {
            state.lay_down(CounterState::Closed);
            return false;
        }
        let is_news = moved.seen > state.seen;
        state.came_to(moved.seen, now);
        state.saw(moved.seen, base);
        state.order.saw(moved.seen);
        state.reported = state.reported.max(moved.seen);
        is_news
    }

    /// The ids that should be left under the ceiling: fewer near the end of the range.
    pub(crate) fn wanted_room(&self, state: &State, outage: Duration) -> Room {
        let at = state.grant().map_or(0, |grant| grant.ceiling);
        let wanted = state.pace.wanted_room(outage, self.shared.config.raise_within());
        if wanted.full == 0 { wanted } else { wanted.at_most(jump_limit::ahead_max(at, self.raw_max())) }
    }
}
