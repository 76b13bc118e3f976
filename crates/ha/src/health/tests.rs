//! Every transition of a member, without a runtime.

use std::time::{Duration, Instant};

use sequent_core::{
    Clock, ErrorKind, SourceError, SystemClock,
    ledger::{SlotCommand, SlotVerb},
};

use super::member::{
    Member,
    events::{Cause, ProbeReason, SLOT_TRANSITIONS, Transition},
};
use crate::{config::RingConfig, status::SlotState};

const MS: Duration = Duration::from_millis(1);
const S: Duration = Duration::from_secs(1);
const WALL: u64 = 1_000_000;

struct Fixture {
    member: Member,
    now: Instant,
}

fn error(kind: ErrorKind) -> SourceError {
    SourceError::new(kind, "scripted")
}

fn cause(kind: ErrorKind) -> Cause {
    Cause::from(&error(kind))
}

fn command(verb: SlotVerb, at_ms: u64, until_ms: Option<u64>) -> SlotCommand {
    SlotCommand { slot: 0, verb, who: "ann".into(), why: "disk".into(), at_ms, until_ms }
}

impl Fixture {
    fn new() -> Self {
        let now = SystemClock.now();
        Self { member: Member::new(&RingConfig::default(), now), now }
    }

    fn after(&mut self, wait: Duration) -> &mut Self {
        self.now += wait;
        self
    }

    fn slow(&mut self, last: bool) -> Option<Transition> {
        self.member.slow(self.now, 1.0, last, cause(ErrorKind::Timeout))
    }

    fn fail(&mut self, kind: ErrorKind) -> Option<Transition> {
        self.member.fail(self.now, 1.0, &error(kind))
    }

    fn tick(&mut self) -> Option<Transition> {
        self.member.tick(self.now, WALL)
    }

    fn apply(&mut self, command: Option<&SlotCommand>) -> Option<Transition> {
        self.member.apply_command(self.now, WALL, command)
    }

    fn state(&self) -> SlotState {
        self.member.state()
    }

    /// Evicted, waited, on probation, claimed.
    fn probing(mut self) -> (Self, u64) {
        self.fail(ErrorKind::Unavailable);
        assert_eq!(self.after(500 * MS).tick(), Some(Transition::Probation));
        let token = self.member.begin_probe(ProbeReason::Due).unwrap();
        (self, token)
    }

    fn probe_passed(&mut self, token: u64) -> Option<Transition> {
        self.member.probe_passed(token, self.now, 1.0, false)
    }

    fn probe_failed(&mut self, token: u64, kind: ErrorKind) -> Option<Transition> {
        self.member.probe_failed(token, self.now, 1.0, &error(kind))
    }
}

/// The states of a configured slot.
const STATES: [SlotState; 6] = [
    SlotState::Live,
    SlotState::Evicted,
    SlotState::Probation,
    SlotState::Quarantined,
    SlotState::Draining,
    SlotState::Drained,
];

impl Fixture {
    /// A member in this state.
    fn of(state: SlotState) -> Self {
        let mut fixture = Self::new();
        match state {
            SlotState::Live | SlotState::Empty => {}
            SlotState::Evicted => drop(fixture.fail(ErrorKind::Unavailable)),
            SlotState::Probation => {
                fixture.fail(ErrorKind::Unavailable);
                fixture.after(500 * MS).tick();
            }
            SlotState::Quarantined => drop(fixture.fail(ErrorKind::Refused)),
            SlotState::Draining => drop(fixture.apply(Some(&command(SlotVerb::Drain, 1, None)))),
            SlotState::Drained => {
                fixture.apply(Some(&command(SlotVerb::Drain, 1, None)));
                fixture.go(SlotState::Drained);
            }
        }
        assert_eq!(fixture.state(), state);
        fixture
    }

    /// The event that leads to this state, from wherever it can be reached.
    fn go(&mut self, to: SlotState) {
        let by = |fixture: &mut Self, verb| drop(fixture.apply(Some(&command(verb, 2, None))));
        match to {
            SlotState::Live => {
                if let Some(token) = self.member.begin_probe(ProbeReason::LastResort) {
                    self.probe_passed(token);
                }
            }
            SlotState::Evicted => by(self, SlotVerb::Evict),
            SlotState::Probation => by(self, SlotVerb::Rescue),
            SlotState::Quarantined => drop(self.fail(ErrorKind::Refused)),
            SlotState::Draining => by(self, SlotVerb::Drain),
            SlotState::Drained => drop(self.member.drained(self.now + S)),
            SlotState::Empty => {}
        }
    }
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "transitions are seen where debug assertions are on")]
fn each_listed_transition_happens_and_no_other() {
    for (from, to) in STATES.into_iter().flat_map(|from| STATES.map(|to| (from, to))) {
        let mut fixture = Fixture::of(from);
        fixture.go(to);
        let is_listed = from == to || SLOT_TRANSITIONS.legal().contains(&(from.as_str(), to.as_str()));
        assert_eq!(fixture.state() == to, is_listed, "from {from:?} to {to:?}");
    }
    assert_eq!(SLOT_TRANSITIONS.unseen(), []);
}

fn evicted(kind: ErrorKind, wait: Duration) -> Transition {
    Transition::Evicted { cause: cause(kind), retry_after: Some(wait) }
}

/// The same for a member that was slow too often, with the description of its slow events.
fn evicted_for(kind: ErrorKind, slow_events: &str) -> Transition {
    let own = cause(kind);
    let detail = format!("{}; {slow_events}", own.detail);
    Transition::Evicted { cause: Cause { detail, ..own }, retry_after: Some(500 * MS) }
}

#[test]
fn each_error_kind_changes_the_state_by_its_verdict() {
    for kind in ErrorKind::ALL {
        let mut fixture = Fixture::new();
        let transition = fixture.fail(kind);
        let expected = match kind {
            ErrorKind::Unavailable => Some(evicted(kind, 500 * MS)),
            ErrorKind::Refused => Some(Transition::Quarantined { cause: cause(kind) }),
            _ => None,
        };
        assert_eq!(transition, expected, "{kind}");
        assert_eq!(fixture.fail(kind), None, "{kind}: reported on the transition only");
    }
}

#[test]
fn slow_events_evict_at_the_limit_within_the_window() {
    let mut fixture = Fixture::new();
    assert_eq!(fixture.fail(ErrorKind::Timeout), None);
    assert_eq!(fixture.after(59 * S).fail(ErrorKind::Contended), None);
    assert_eq!(fixture.after(S).slow(false), None, "the first is a minute old");
    // Contention that the store reported within the window is shown instead of a timeout.
    let slow_events = "slow 3 times within 1000 ms";
    assert_eq!(fixture.fail(ErrorKind::Timeout), Some(evicted_for(ErrorKind::Contended, slow_events)));
}

#[test]
fn the_last_live_member_is_kept_while_it_answers_at_all() {
    let mut fixture = Fixture::new();
    for _ in 0..9 {
        assert_eq!(fixture.slow(true), None);
    }
    let and_now = fixture.member.clone().slow(fixture.now, 1.0, false, cause(ErrorKind::Timeout));
    let out = Some(evicted_for(ErrorKind::Timeout, "slow 3 times within 1 ms"));
    assert_eq!(and_now, out, "another one is live again");
    assert_eq!(fixture.fail(ErrorKind::Timeout), out, "no answer is no service");
}

#[test]
fn a_slow_member_still_answers_and_a_silent_one_does_not() {
    let mut fixture = Fixture::new();
    while fixture.slow(false).is_none() {}
    assert!(fixture.member.answers_slowly());
    let token =
        fixture.after(500 * MS).tick().and_then(|_| fixture.member.begin_probe(ProbeReason::Due)).unwrap();
    assert!(fixture.member.answers_slowly(), "on probation too");
    fixture.probe_failed(token, ErrorKind::Timeout);
    assert!(!fixture.member.answers_slowly());
    let token = fixture.after(S).tick().and_then(|_| fixture.member.begin_probe(ProbeReason::Due)).unwrap();
    fixture.slow(false);
    fixture.probe_passed(token);
    assert!(fixture.member.answers_slowly(), "slowly again");
    fixture.apply(Some(&command(SlotVerb::Evict, 1, None)));
    assert!(!fixture.member.answers_slowly(), "an operator said no");
}

#[test]
fn an_eviction_ends_in_probation_and_a_passed_probe_in_a_rescue() {
    let mut fixture = Fixture::new();
    fixture.fail(ErrorKind::Unavailable);
    assert_eq!(fixture.after(499 * MS).tick(), None);
    assert_eq!(fixture.member.begin_probe(ProbeReason::Due), None, "its time has not come");
    assert_eq!(fixture.after(MS).tick(), Some(Transition::Probation));
    assert_eq!((fixture.tick(), fixture.member.generation()), (None, 1));
    let token = fixture.member.begin_probe(ProbeReason::Due).unwrap();
    assert_eq!(fixture.member.begin_probe(ProbeReason::Due), None, "one probe at a time");
    assert_eq!(fixture.after(20 * MS).probe_passed(token), Some(Transition::Rescued { out: 520 * MS }));
    assert_eq!((fixture.state(), fixture.member.cause()), (SlotState::Live, None));
    assert_eq!(fixture.probe_passed(token), None);
}

#[test]
fn a_failed_probe_doubles_the_wait() {
    let (mut fixture, token) = Fixture::new().probing();
    let failed = Transition::ProbeFailed { kind: ErrorKind::Timeout, retry_after: S };
    assert_eq!(fixture.probe_failed(token, ErrorKind::Timeout), Some(failed));
    assert_eq!(fixture.after(999 * MS).tick(), None);
    assert_eq!(fixture.after(MS).tick(), Some(Transition::Probation));
    let token = fixture.member.begin_probe(ProbeReason::Due).unwrap();
    let failed = Transition::ProbeFailed { kind: ErrorKind::Unavailable, retry_after: 2 * S };
    assert_eq!(fixture.probe_failed(token, ErrorKind::Unavailable), Some(failed));
}

#[test]
fn waits_shrink_again_with_health() {
    for (healthy, wait) in [(999 * MS, S), (S, 500 * MS)] {
        let (mut fixture, token) = Fixture::new().probing();
        fixture.probe_passed(token);
        assert_eq!(
            fixture.after(healthy).fail(ErrorKind::Unavailable),
            Some(evicted(ErrorKind::Unavailable, wait))
        );
    }
}

#[test]
fn a_slow_probe_fails_if_others_serve() {
    for (last, claim_passes) in [(false, false), (true, true)] {
        let (mut fixture, token) = Fixture::new().probing();
        assert_eq!(fixture.slow(last), None);
        let transition = fixture.member.probe_passed(token, fixture.now, 1.0, last);
        assert_eq!(matches!(transition, Some(Transition::Rescued { .. })), claim_passes);
        assert_eq!(matches!(transition, Some(Transition::ProbeFailed { .. })), !claim_passes);
    }
}

#[test]
fn an_inconclusive_probe_is_repeated_after_a_second() {
    let (mut fixture, token) = Fixture::new().probing();
    assert_eq!(fixture.member.due(), None, "it is being tried");
    fixture.member.probe_inconclusive(token, fixture.now);
    assert_eq!(fixture.state(), SlotState::Probation);
    assert_eq!(fixture.member.due(), Some(fixture.now + S));
    assert!(fixture.member.begin_probe(ProbeReason::Due).is_some());
}

#[test]
fn a_last_resort_may_try_the_evicted_but_never_the_quarantined_or_held() {
    let mut fixture = Fixture::new();
    fixture.fail(ErrorKind::Unavailable);
    let due = fixture.member.due();
    let token = fixture.member.begin_probe(ProbeReason::LastResort).unwrap();
    assert_eq!(
        fixture.probe_failed(token, ErrorKind::Timeout),
        None,
        "no transition: it was out and stays out"
    );
    assert_eq!(
        (fixture.state(), fixture.member.due()),
        (SlotState::Evicted, due),
        "its own time is as it was"
    );
    let token = fixture.member.begin_probe(ProbeReason::LastResort).unwrap();
    assert!(matches!(fixture.probe_passed(token), Some(Transition::Rescued { .. })));

    fixture.fail(ErrorKind::Refused);
    assert_eq!(fixture.member.begin_probe(ProbeReason::LastResort), None);

    let mut held = Fixture::new();
    held.apply(Some(&command(SlotVerb::Evict, 1, None)));
    assert_eq!(held.member.begin_probe(ProbeReason::LastResort), None);
}

#[test]
fn only_a_command_clears_a_quarantine() {
    let mut fixture = Fixture::new();
    fixture.fail(ErrorKind::Refused);
    assert_eq!(fixture.after(10_000 * S).tick(), None);
    assert_eq!((fixture.fail(ErrorKind::Unavailable), fixture.state()), (None, SlotState::Quarantined));
    assert_eq!(fixture.apply(Some(&command(SlotVerb::Rescue, 1, None))), Some(Transition::Probation));
    assert_eq!(
        (fixture.member.due(), fixture.member.clear_count()),
        (Some(fixture.now), 1),
        "a probe at once"
    );
    let token = fixture.member.begin_probe(ProbeReason::Due).unwrap();
    assert_eq!(
        fixture.probe_failed(token, ErrorKind::Refused),
        Some(Transition::Quarantined { cause: cause(ErrorKind::Refused) })
    );
}

#[test]
fn the_result_of_an_overtaken_probe_is_ignored() {
    for overtake in [ErrorKind::Refused, ErrorKind::Unavailable] {
        let (mut fixture, old) = Fixture::new().probing();
        match overtake {
            ErrorKind::Refused => drop(fixture.fail(ErrorKind::Refused)),
            _ => drop(fixture.apply(Some(&command(SlotVerb::Evict, 1, None)))),
        }
        let state = fixture.state();
        assert_eq!((fixture.probe_passed(old), fixture.state()), (None, state));
        fixture.apply(Some(&command(SlotVerb::Rescue, 2, None)));
        let new = fixture.member.begin_probe(ProbeReason::Due).unwrap();
        assert_eq!((fixture.probe_passed(old), fixture.state()), (None, SlotState::Probation));
        assert!(matches!(fixture.probe_passed(new), Some(Transition::Rescued { .. })));
    }
}

#[test]
fn a_command_is_applied_once_and_no_timer_undoes_it() {
    let mut fixture = Fixture::new();
    let evict = command(SlotVerb::Evict, 7, None);
    let transition = fixture.apply(Some(&evict));
    assert!(
        matches!(transition, Some(Transition::Evicted { retry_after: None, ref cause }) if cause.detail == "evict by ann: disk")
    );
    assert_eq!(fixture.apply(Some(&evict)), None);
    assert_eq!((fixture.after(10_000 * S).tick(), fixture.member.due()), (None, None));
    assert_eq!(fixture.apply(Some(&command(SlotVerb::Rescue, 8, None))), Some(Transition::Probation));
    assert_eq!(fixture.apply(Some(&command(SlotVerb::Rescue, 8, None))), None);
}

#[test]
fn a_command_keeps_an_evicted_member_out() {
    let mut fixture = Fixture::new();
    fixture.fail(ErrorKind::Unavailable);
    assert_eq!(fixture.apply(Some(&command(SlotVerb::Drain, 1, None))), None, "it is out already");
    assert_eq!(fixture.after(10_000 * S).tick(), None);
    assert_eq!(fixture.apply(None), Some(Transition::Probation), "withdrawn");
}

#[test]
fn a_command_ends_at_its_time() {
    let mut fixture = Fixture::new();
    let short = command(SlotVerb::Evict, 1, Some(WALL + 50));
    assert!(fixture.apply(Some(&short)).is_some());
    assert_eq!(fixture.member.tick(fixture.now, WALL + 49), None);
    assert_eq!(fixture.member.tick(fixture.now, WALL + 50), Some(Transition::Probation));
    assert_eq!(
        fixture.member.apply_command(fixture.now, WALL + 51, Some(&short)),
        None,
        "an old list changes nothing"
    );
    assert_eq!(
        Fixture::new().apply(Some(&command(SlotVerb::Evict, 1, Some(WALL)))),
        None,
        "over before it came"
    );
}

#[test]
fn a_quarantine_outlives_a_command() {
    let mut fixture = Fixture::new();
    fixture.apply(Some(&command(SlotVerb::Evict, 1, None)));
    fixture.fail(ErrorKind::Refused);
    assert_eq!((fixture.apply(None), fixture.state()), (None, SlotState::Quarantined));
}

#[test]
fn a_member_excluded_at_start_is_evicted_or_quarantined_by_the_verdict() {
    for kind in ErrorKind::ALL {
        let mut fixture = Fixture::new();
        let transition = fixture.member.exclude(fixture.now, 1.0, &error(kind));
        let quarantined = matches!(transition, Some(Transition::Quarantined { .. }));
        assert_eq!(quarantined, kind == ErrorKind::Refused, "{kind}");
        assert_eq!(fixture.state(), if quarantined { SlotState::Quarantined } else { SlotState::Evicted });
    }
}

#[test]
fn reported_contention_is_shown_instead_of_a_timeout() {
    let shown = |transition: Option<Transition>| match transition {
        Some(Transition::Evicted { cause, .. }) => cause.kind,
        other => panic!("{other:?}"),
    };
    let mut fixture = Fixture::new();
    assert_eq!(fixture.fail(ErrorKind::Contended), None);
    assert_eq!(fixture.after(S).fail(ErrorKind::Timeout), None);
    assert_eq!(
        shown(fixture.after(S).fail(ErrorKind::Timeout)),
        ErrorKind::Contended,
        "as the store reported"
    );
    fixture.after(S).tick();
    let token = fixture.member.begin_probe(ProbeReason::Due).unwrap();
    fixture.probe_failed(token, ErrorKind::Timeout);
    assert_eq!(fixture.member.cause(), Some(&cause(ErrorKind::Contended)));

    let mut old = Fixture::new();
    assert_eq!(old.fail(ErrorKind::Contended), None);
    for _ in 0..2 {
        assert_eq!(old.after(60 * S).fail(ErrorKind::Timeout), None);
    }
    old.fail(ErrorKind::Timeout);
    assert_eq!(shown(old.fail(ErrorKind::Timeout)), ErrorKind::Timeout, "what it said is long past");
}

#[test]
fn failed_probes_do_not_change_out_since() {
    let mut fixture = Fixture::new();
    assert_eq!(fixture.member.out_since(), None);
    let left = fixture.after(7 * S).now;
    let (mut fixture, token) = fixture.probing();
    fixture.probe_failed(token, ErrorKind::Timeout);
    assert_eq!(fixture.after(S).tick(), Some(Transition::Probation));
    assert_eq!((fixture.member.since(), fixture.member.out_since()), (fixture.now, Some(left)));
    let token = fixture.member.begin_probe(ProbeReason::Due).unwrap();
    fixture.probe_passed(token);
    assert_eq!(fixture.member.out_since(), None);
}

#[test]
fn a_command_shows_the_earlier_cause() {
    let mut fixture = Fixture::new();
    let detail = |fixture: &Fixture| fixture.member.cause().unwrap().detail.clone();
    fixture.apply(Some(&command(SlotVerb::Drain, 1, None)));
    assert_eq!(detail(&fixture), "drain by ann: disk", "there was nothing before");
    let mut fixture = Fixture::new();
    fixture.fail(ErrorKind::Unavailable);
    let fault = cause(ErrorKind::Unavailable).detail;
    fixture.apply(Some(&command(SlotVerb::Drain, 1, None)));
    assert_eq!(detail(&fixture), format!("drain by ann: disk; it was out before, for: {fault}"));
}
