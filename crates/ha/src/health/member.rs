//! One member: live, evicted, on probation or quarantined, with an operator's word on top.

mod told;
mod tries;
mod words;

use std::time::{Duration, Instant};

use sequent_core::{Action, ErrorKind, Scope, SourceError, Why, ledger::Word, ledger::WordVerb};

pub(crate) use self::told::{Cause, Claim, Flip};
use super::{backoff::Backoff, window::Window};
use crate::{RingConfig, SlotState};

/// How long a member on probation waits for somebody's take before it takes one id itself.
pub(crate) const PROBE_IDLE: Duration = Duration::from_secs(1);

/// A member's health. Every method is told the time, and the fraction of the jitter where it needs one.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    state: SlotState,
    since: Instant,
    left_at: Instant,
    cause: Option<Cause>,
    /// Evicted: when probation begins. On probation: when it takes an id itself.
    due: Option<Instant>,
    window: Window,
    backoff: Backoff,
    /// The token of a try that is under way. Whatever moves the member meanwhile ends it: its outcome then counts
    /// for nothing.
    probing: Option<u64>,
    slow_probe: bool,
    /// What the store said last of why it did not serve in time, and when: of a silence nobody learns anything.
    said: Option<(Instant, Cause)>,
    /// It is out for being slow, not for being silent.
    answers: bool,
    generation: u64,
    pardon: u64,
    word: Option<Word>,
    /// What it was out for when an operator put it out: beside the word it is still to be seen.
    fault: Option<String>,
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
            slow_probe: false,
            said: None,
            answers: false,
            generation: 0,
            pardon: 0,
            word: None,
            fault: None,
        }
    }

    pub(crate) fn state(&self) -> SlotState {
        self.state
    }

    pub(crate) fn since(&self) -> Instant {
        self.since
    }

    /// Since when it has been out of the rotation, if it is: tries that failed change nothing of that.
    pub(crate) fn out_since(&self) -> Option<Instant> {
        (self.state != SlotState::Live).then_some(self.left_at)
    }

    pub(crate) fn cause(&self) -> Option<&Cause> {
        self.cause.as_ref()
    }

    /// Why it is out, as far as can be told: a word that keeps it out goes before what was met before, which may be over.
    pub(crate) fn why(&self) -> Option<Why> {
        match (self.state, self.word.as_ref().map(|word| word.verb)) {
            (SlotState::Draining, _) => Some(Why::Draining),
            (SlotState::Drained, _) => Some(Why::Drained),
            (SlotState::Evicted, Some(WordVerb::Evict)) => Some(Why::EvictedByHand),
            _ => self.cause.as_ref()?.why,
        }
    }

    /// Whether it is out, but would serve whoever has nobody else.
    pub(crate) fn answers(&self) -> bool {
        let out = matches!(self.state, SlotState::Evicted | SlotState::Probation);
        out && self.answers && !self.is_held()
    }

    /// When something is to be done about this member.
    pub(crate) fn due(&self) -> Option<Instant> {
        match self.state {
            SlotState::Evicted if self.is_held() => None,
            SlotState::Evicted | SlotState::Probation if self.probing.is_none() => self.due,
            _ => None,
        }
    }

    /// It answered, but slowly. The last member that answers at all is kept: slow service is service.
    pub(crate) fn slow(&mut self, now: Instant, fraction: f64, last: bool, cause: Cause) -> Option<Flip> {
        if self.state == SlotState::Live {
            let full = self.window.push(now);
            if !full || last {
                return None;
            }
            self.answers = true;
            return Some(self.evict_slow(now, fraction, cause));
        }
        self.slow_probe |= self.probing.is_some();
        None
    }

    /// It failed. Only verdicts about the slot count, and only a quarantine counts against one that is out already.
    pub(crate) fn fail(&mut self, now: Instant, fraction: f64, error: &SourceError) -> Option<Flip> {
        let verdict = error.kind().verdict();
        if verdict.scope != Scope::Slot {
            return None;
        }
        let live = self.state == SlotState::Live;
        self.answers = false;
        if error.kind() == ErrorKind::Contended {
            self.said = Some((now, error.into()));
        }
        match verdict.action {
            Action::Quarantine => self.quarantine(now, error.into()),
            Action::Evict if live => Some(self.evict(now, fraction, error.into())),
            Action::CountSlow if live && self.window.push(now) => {
                let cause = self.own_word(now, error);
                Some(self.evict_slow(now, fraction, cause))
            }
            _ => None,
        }
    }

    /// It could not be admitted at start: out, whatever the verdict's scope, until it is rescued or cleared.
    pub(crate) fn exclude(&mut self, now: Instant, fraction: f64, error: &SourceError) -> Option<Flip> {
        let verdict = error.kind().verdict();
        if verdict.scope == Scope::Slot && verdict.action == Action::Quarantine {
            return self.quarantine(now, error.into());
        }
        (self.state == SlotState::Live).then(|| self.evict(now, fraction, error.into()))
    }

    /// Time passed: an eviction may end in probation, an operator's word may expire.
    pub(crate) fn tick(&mut self, now: Instant, wall_ms: u64) -> Option<Flip> {
        if self.word_ends().is_some_and(|until| until <= wall_ms) {
            return self.obey(now, wall_ms, None);
        }
        let due = self.due().is_some_and(|due| due <= now);
        (self.state == SlotState::Evicted && due).then(|| self.begin_probation(now, now + PROBE_IDLE))
    }

    /// The cause to show: a store that was silent this time has perhaps said why, within the window that evicts it.
    fn own_word(&self, now: Instant, error: &SourceError) -> Cause {
        let lately = |said: &&(Instant, Cause)| self.window.reaches(now, said.0);
        let said = self.said.as_ref().filter(lately).filter(|_| error.kind() == ErrorKind::Timeout);
        said.map_or_else(|| error.into(), |(_, cause)| cause.clone())
    }

    /// Its window is full: people are told of how many, and how close to each other.
    fn evict_slow(&mut self, now: Instant, fraction: f64, mut cause: Cause) -> Flip {
        cause.detail = format!("{}; {}", cause.detail, self.window.told());
        self.evict(now, fraction, cause)
    }

    fn evict(&mut self, now: Instant, fraction: f64, cause: Cause) -> Flip {
        self.leave(now);
        let wait = self.backoff.next(fraction);
        self.enter(SlotState::Evicted, now, Some(cause.clone()), Some(now + wait));
        Flip::Evicted { cause, retry_after: Some(wait) }
    }

    fn quarantine(&mut self, now: Instant, cause: Cause) -> Option<Flip> {
        if self.state == SlotState::Quarantined {
            return None;
        }
        self.leave(now);
        self.enter(SlotState::Quarantined, now, Some(cause.clone()), None);
        Some(Flip::Quarantined { cause })
    }

    fn begin_probation(&mut self, now: Instant, due: Instant) -> Flip {
        self.generation += 1;
        let cause = self.cause.take();
        self.enter(SlotState::Probation, now, cause, Some(due));
        Flip::Probation
    }

    /// Health is paid out when it ends, so that a success has nothing to write.
    fn leave(&mut self, now: Instant) {
        if self.state == SlotState::Live {
            self.backoff.heal(now.saturating_duration_since(self.since));
            self.left_at = now;
        }
    }

    fn enter(&mut self, state: SlotState, now: Instant, cause: Option<Cause>, due: Option<Instant>) {
        self.state = state;
        self.probing = None;
        self.since = now;
        self.cause = cause;
        self.due = due;
    }
}
