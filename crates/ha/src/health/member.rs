//! One member: live, evicted, on probation, quarantined, draining or drained, under an operator's command or none.

mod commands;
pub(crate) mod events;
mod probes;

use std::time::{Duration, Instant};

use sequent_core::{Action, ErrorKind, Scope, SourceError, Why, ledger::SlotCommand, ledger::SlotVerb};

use self::events::{Cause, SLOT_TRANSITIONS, Transition};
use super::{backoff::Backoff, window::Window};
use crate::{config::RingConfig, status::SlotState};

/// How long a member on probation waits for a caller's take, before the probe loop takes one id itself.
pub(crate) const PROBE_IDLE: Duration = Duration::from_secs(1);

/// A member's health. Methods get the time, and a random fraction where they need jitter.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    state: SlotState,
    since: Instant,
    /// When it left the live state.
    left_at: Instant,
    cause: Option<Cause>,
    /// Evicted: when probation begins. On probation: when the probe loop probes it.
    due: Option<Instant>,
    window: Window,
    backoff: Backoff,
    /// The token of a probe in flight. Every transition clears it, and the result of that probe is ignored.
    probing: Option<u64>,
    is_probe_slow: bool,
    /// The last contention that the store reported, and when. A timeout itself says nothing about its cause.
    last_contention: Option<(Instant, Cause)>,
    /// It is out for being slow, but it answers.
    answers_slowly: bool,
    generation: u64,
    clear_count: u64,
    command: Option<SlotCommand>,
    /// Why it was out when an operator's command took over. It is shown beside the command.
    cause_before_command: Option<String>,
}

impl Member {
    pub(crate) fn new(config: &RingConfig, now: Instant) -> Self {
        Self {
            state: SlotState::Live,
            since: now,
            left_at: now,
            cause: None,
            due: None,
            window: Window::new(config.slow_limit, config.slow_window),
            backoff: Backoff::new(config.rescue_after, config.rescue_after_max),
            probing: None,
            is_probe_slow: false,
            last_contention: None,
            answers_slowly: false,
            generation: 0,
            clear_count: 0,
            command: None,
            cause_before_command: None,
        }
    }

    pub(crate) fn state(&self) -> SlotState {
        self.state
    }

    pub(crate) fn since(&self) -> Instant {
        self.since
    }

    /// When it left the rotation, if it is out. Failed probes do not change it.
    pub(crate) fn out_since(&self) -> Option<Instant> {
        (self.state != SlotState::Live).then_some(self.left_at)
    }

    pub(crate) fn cause(&self) -> Option<&Cause> {
        self.cause.as_ref()
    }

    /// The public cause. A command that keeps the member out takes precedence over an earlier error, which may have
    /// passed.
    pub(crate) fn why(&self) -> Option<Why> {
        match (self.state, self.command.as_ref().map(|command| command.verb)) {
            (SlotState::Draining, _) => Some(Why::Draining),
            (SlotState::Drained, _) => Some(Why::Drained),
            (SlotState::Evicted, Some(SlotVerb::Evict)) => Some(Why::EvictedByHand),
            _ => self.cause.as_ref()?.why,
        }
    }

    /// Whether it is out, but would serve callers that have no other member.
    pub(crate) fn answers_slowly(&self) -> bool {
        let is_out = matches!(self.state, SlotState::Evicted | SlotState::Probation);
        is_out && self.answers_slowly && !self.is_held_out()
    }

    /// When the next transition or probe of this member is due.
    pub(crate) fn due(&self) -> Option<Instant> {
        match self.state {
            SlotState::Evicted if self.is_held_out() => None,
            SlotState::Evicted | SlotState::Probation if self.probing.is_none() => self.due,
            _ => None,
        }
    }

    /// It answered, but slowly. The last live member is kept: slow service is better than none.
    pub(crate) fn slow(
        &mut self,
        now: Instant,
        fraction: f64,
        is_last: bool,
        cause: Cause,
    ) -> Option<Transition> {
        if self.state == SlotState::Live {
            let is_full = self.window.push(now);
            if !is_full || is_last {
                return None;
            }
            self.answers_slowly = true;
            return Some(self.evict_slow(now, fraction, cause));
        }
        self.is_probe_slow |= self.probing.is_some();
        None
    }

    /// It failed. Only verdicts about the slot count. A member that is out already can only be quarantined.
    pub(crate) fn fail(&mut self, now: Instant, fraction: f64, error: &SourceError) -> Option<Transition> {
        let verdict = error.kind().verdict();
        if verdict.scope != Scope::Slot {
            return None;
        }
        let is_live = self.state == SlotState::Live;
        self.answers_slowly = false;
        if error.kind() == ErrorKind::Contended {
            self.last_contention = Some((now, error.into()));
        }
        match verdict.action {
            Action::Quarantine => self.quarantine(now, error.into()),
            Action::Evict if is_live => Some(self.evict(now, fraction, error.into())),
            Action::CountSlow if is_live && self.window.push(now) => {
                let cause = self.cause_to_show(now, error);
                Some(self.evict_slow(now, fraction, cause))
            }
            _ => None,
        }
    }

    /// It could not be admitted at start: it is out, whatever the verdict's scope, until it is rescued or cleared.
    pub(crate) fn exclude(&mut self, now: Instant, fraction: f64, error: &SourceError) -> Option<Transition> {
        let verdict = error.kind().verdict();
        if verdict.scope == Scope::Slot && verdict.action == Action::Quarantine {
            return self.quarantine(now, error.into());
        }
        (self.state == SlotState::Live).then(|| self.evict(now, fraction, error.into()))
    }

    /// Time has passed: an eviction may end in probation, and a command may end.
    pub(crate) fn tick(&mut self, now: Instant, wall_ms: u64) -> Option<Transition> {
        if self.command_ends_ms().is_some_and(|until| until <= wall_ms) {
            return self.apply_command(now, wall_ms, None);
        }
        let is_due = self.due().is_some_and(|due| due <= now);
        (self.state == SlotState::Evicted && is_due).then(|| self.begin_probation(now, now + PROBE_IDLE))
    }

    /// The cause to show. For a timeout, this is the contention that the store reported within the window, if any.
    fn cause_to_show(&self, now: Instant, error: &SourceError) -> Cause {
        let is_recent = |reported: &&(Instant, Cause)| self.window.is_recent(now, reported.0);
        let reported = self.last_contention.as_ref().filter(is_recent);
        let reported = reported.filter(|_| error.kind() == ErrorKind::Timeout);
        reported.map_or_else(|| error.into(), |(_, cause)| cause.clone())
    }

    /// Its window is full: the cause also says how many slow events there were, and within which time.
    fn evict_slow(&mut self, now: Instant, fraction: f64, mut cause: Cause) -> Transition {
        cause.detail = format!("{}; {}", cause.detail, self.window.describe());
        self.evict(now, fraction, cause)
    }

    fn evict(&mut self, now: Instant, fraction: f64, cause: Cause) -> Transition {
        self.leave_live(now);
        let wait = self.backoff.next(fraction);
        self.enter(SlotState::Evicted, now, Some(cause.clone()), Some(now + wait));
        Transition::Evicted { cause, retry_after: Some(wait) }
    }

    fn quarantine(&mut self, now: Instant, cause: Cause) -> Option<Transition> {
        if self.state == SlotState::Quarantined {
            return None;
        }
        self.leave_live(now);
        self.enter(SlotState::Quarantined, now, Some(cause.clone()), None);
        Some(Transition::Quarantined { cause })
    }

    fn begin_probation(&mut self, now: Instant, due: Instant) -> Transition {
        self.generation += 1;
        let cause = self.cause.take();
        self.enter(SlotState::Probation, now, cause, Some(due));
        Transition::Probation
    }

    /// Reduces the backoff by the healthy time that ends now. So a success has nothing to write.
    fn leave_live(&mut self, now: Instant) {
        if self.state == SlotState::Live {
            self.backoff.reduce(now.saturating_duration_since(self.since));
            self.left_at = now;
        }
    }

    /// Changes the state. Nothing else does.
    fn enter(&mut self, state: SlotState, now: Instant, cause: Option<Cause>, due: Option<Instant>) {
        SLOT_TRANSITIONS.check(self.state.as_str(), state.as_str());
        self.state = state;
        self.probing = None;
        self.since = now;
        self.cause = cause;
        self.due = due;
    }
}
