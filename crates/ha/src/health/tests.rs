//! Every transition of a member, without any runtime.

use std::time::{Duration, Instant};

use sequent_core::{
    Clock, ErrorKind, SourceError, SystemClock,
    ledger::{Word, WordVerb},
};

use super::{Cause, Claim, Flip, Member};
use crate::{RingConfig, SlotState};

const MS: Duration = Duration::from_millis(1);
const S: Duration = Duration::from_secs(1);
const WALL: u64 = 1_000_000;

struct Bench {
    member: Member,
    now: Instant,
}

fn error(kind: ErrorKind) -> SourceError {
    SourceError::new(kind, "scripted")
}

fn cause(kind: ErrorKind) -> Cause {
    Cause::from(&error(kind))
}

fn word(verb: WordVerb, at_ms: u64, until_ms: Option<u64>) -> Word {
    Word { slot: 0, verb, who: "ann".into(), why: "disk".into(), at_ms, until_ms }
}

impl Bench {
    fn new() -> Self {
        let now = SystemClock.now();
        Self { member: Member::new(&RingConfig::default(), now), now }
    }

    fn after(&mut self, wait: Duration) -> &mut Self {
        self.now += wait;
        self
    }

    fn slow(&mut self, last: bool) -> Option<Flip> {
        self.member.slow(self.now, 1.0, last, cause(ErrorKind::Timeout))
    }

    fn fail(&mut self, kind: ErrorKind) -> Option<Flip> {
        self.member.fail(self.now, 1.0, &error(kind))
    }

    fn tick(&mut self) -> Option<Flip> {
        self.member.tick(self.now, WALL)
    }

    fn obey(&mut self, word: Option<&Word>) -> Option<Flip> {
        self.member.obey(self.now, WALL, word)
    }

    fn state(&self) -> SlotState {
        self.member.state()
    }

    /// Evicted, waited, on probation, claimed.
    fn probing(mut self) -> (Self, u64) {
        self.fail(ErrorKind::Unavailable);
        assert_eq!(self.after(500 * MS).tick(), Some(Flip::Probation));
        let token = self.member.claim(Claim::Due).unwrap();
        (self, token)
    }

    fn pass(&mut self, token: u64) -> Option<Flip> {
        self.member.pass(token, self.now, 1.0, false)
    }

    fn flunk(&mut self, token: u64, kind: ErrorKind) -> Option<Flip> {
        self.member.flunk(token, self.now, 1.0, &error(kind))
    }
}

fn evicted(kind: ErrorKind, wait: Duration) -> Flip {
    Flip::Evicted { cause: cause(kind), retry_after: Some(wait) }
}

/// The same of one that was slow too often, with what is told of that.
fn evicted_for(kind: ErrorKind, told: &str) -> Flip {
    let own = cause(kind);
    let detail = format!("{}; {told}", own.detail);
    Flip::Evicted { cause: Cause { detail, ..own }, retry_after: Some(500 * MS) }
}

#[test]
fn each_kind_flips_by_its_verdict_and_by_nothing_else() {
    for kind in ErrorKind::ALL {
        let mut bench = Bench::new();
        let flip = bench.fail(kind);
        let expected = match kind {
            ErrorKind::Unavailable => Some(evicted(kind, 500 * MS)),
            ErrorKind::Refused => Some(Flip::Quarantined { cause: cause(kind) }),
            _ => None,
        };
        assert_eq!(flip, expected, "{kind}");
        assert_eq!(bench.fail(kind), None, "{kind}: reported on the flip only");
    }
}

#[test]
fn slow_events_evict_at_the_limit_within_the_window() {
    let mut bench = Bench::new();
    assert_eq!(bench.fail(ErrorKind::Timeout), None);
    assert_eq!(bench.after(59 * S).fail(ErrorKind::Contended), None);
    assert_eq!(bench.after(S).slow(false), None, "the first is a minute old");
    // The store's own word within the window goes before a silence.
    let told = "slow 3 times within 1000 ms";
    assert_eq!(bench.fail(ErrorKind::Timeout), Some(evicted_for(ErrorKind::Contended, told)));
}

#[test]
fn the_last_live_member_is_kept_while_it_answers_at_all() {
    let mut bench = Bench::new();
    for _ in 0..9 {
        assert_eq!(bench.slow(true), None);
    }
    let and_now = bench.member.clone().slow(bench.now, 1.0, false, cause(ErrorKind::Timeout));
    let out = Some(evicted_for(ErrorKind::Timeout, "slow 3 times within 1 ms"));
    assert_eq!(and_now, out, "another one is live again");
    assert_eq!(bench.fail(ErrorKind::Timeout), out, "no answer is no service");
}

#[test]
fn what_is_out_for_slowness_still_answers_and_what_is_silent_does_not() {
    let mut bench = Bench::new();
    while bench.slow(false).is_none() {}
    assert!(bench.member.answers());
    let token = bench.after(500 * MS).tick().and_then(|_| bench.member.claim(Claim::Due)).unwrap();
    assert!(bench.member.answers(), "on probation too");
    bench.flunk(token, ErrorKind::Timeout);
    assert!(!bench.member.answers());
    let token = bench.after(S).tick().and_then(|_| bench.member.claim(Claim::Due)).unwrap();
    bench.slow(false);
    bench.pass(token);
    assert!(bench.member.answers(), "slowly again");
    bench.obey(Some(&word(WordVerb::Evict, 1, None)));
    assert!(!bench.member.answers(), "an operator said no");
}

#[test]
fn an_eviction_ends_in_probation_and_a_passed_probe_in_rescue() {
    let mut bench = Bench::new();
    bench.fail(ErrorKind::Unavailable);
    assert_eq!(bench.after(499 * MS).tick(), None);
    assert_eq!(bench.member.claim(Claim::Due), None, "its time has not come");
    assert_eq!(bench.after(MS).tick(), Some(Flip::Probation));
    assert_eq!((bench.tick(), bench.member.generation()), (None, 1));
    let token = bench.member.claim(Claim::Due).unwrap();
    assert_eq!(bench.member.claim(Claim::Due), None, "one probe at a time");
    assert_eq!(bench.after(20 * MS).pass(token), Some(Flip::Rescued { out: 520 * MS }));
    assert_eq!((bench.state(), bench.member.cause()), (SlotState::Live, None));
    assert_eq!(bench.pass(token), None);
}

#[test]
fn a_failed_probe_doubles_the_wait() {
    let (mut bench, token) = Bench::new().probing();
    let failed = Flip::ProbeFailed { kind: ErrorKind::Timeout, retry_after: S };
    assert_eq!(bench.flunk(token, ErrorKind::Timeout), Some(failed));
    assert_eq!(bench.after(999 * MS).tick(), None);
    assert_eq!(bench.after(MS).tick(), Some(Flip::Probation));
    let token = bench.member.claim(Claim::Due).unwrap();
    let failed = Flip::ProbeFailed { kind: ErrorKind::Unavailable, retry_after: 2 * S };
    assert_eq!(bench.flunk(token, ErrorKind::Unavailable), Some(failed));
}

#[test]
fn waits_shrink_again_with_health() {
    for (healthy, wait) in [(999 * MS, S), (S, 500 * MS)] {
        let (mut bench, token) = Bench::new().probing();
        bench.pass(token);
        assert_eq!(
            bench.after(healthy).fail(ErrorKind::Unavailable),
            Some(evicted(ErrorKind::Unavailable, wait))
        );
    }
}

#[test]
fn a_slow_probe_fails_where_others_serve() {
    for (last, claim_passes) in [(false, false), (true, true)] {
        let (mut bench, token) = Bench::new().probing();
        assert_eq!(bench.slow(last), None);
        let flip = bench.member.pass(token, bench.now, 1.0, last);
        assert_eq!(matches!(flip, Some(Flip::Rescued { .. })), claim_passes);
        assert_eq!(matches!(flip, Some(Flip::ProbeFailed { .. })), !claim_passes);
    }
}

#[test]
fn an_undecided_probe_is_tried_again_in_a_while() {
    let (mut bench, token) = Bench::new().probing();
    assert_eq!(bench.member.due(), None, "it is being tried");
    bench.member.undecided(token, bench.now);
    assert_eq!(bench.state(), SlotState::Probation);
    assert_eq!(bench.member.due(), Some(bench.now + S));
    assert!(bench.member.claim(Claim::Due).is_some());
}

#[test]
fn a_last_resort_may_try_the_evicted_but_never_the_quarantined_or_held() {
    let mut bench = Bench::new();
    bench.fail(ErrorKind::Unavailable);
    let due = bench.member.due();
    let token = bench.member.claim(Claim::LastResort).unwrap();
    assert_eq!(bench.flunk(token, ErrorKind::Timeout), None, "no flip: it was out and stays out");
    assert_eq!((bench.state(), bench.member.due()), (SlotState::Evicted, due), "its own time is as it was");
    let token = bench.member.claim(Claim::LastResort).unwrap();
    assert!(matches!(bench.pass(token), Some(Flip::Rescued { .. })));

    bench.fail(ErrorKind::Refused);
    assert_eq!(bench.member.claim(Claim::LastResort), None);

    let mut held = Bench::new();
    held.obey(Some(&word(WordVerb::Evict, 1, None)));
    assert_eq!(held.member.claim(Claim::LastResort), None);
}

#[test]
fn a_quarantine_is_cleared_by_nothing_but_a_word() {
    let mut bench = Bench::new();
    bench.fail(ErrorKind::Refused);
    assert_eq!(bench.after(10_000 * S).tick(), None);
    assert_eq!((bench.fail(ErrorKind::Unavailable), bench.state()), (None, SlotState::Quarantined));
    assert_eq!(bench.obey(Some(&word(WordVerb::Rescue, 1, None))), Some(Flip::Probation));
    assert_eq!((bench.member.due(), bench.member.pardon()), (Some(bench.now), 1), "a probe at once");
    let token = bench.member.claim(Claim::Due).unwrap();
    assert_eq!(
        bench.flunk(token, ErrorKind::Refused),
        Some(Flip::Quarantined { cause: cause(ErrorKind::Refused) })
    );
}

#[test]
fn a_probe_that_was_overtaken_counts_for_nothing() {
    for overtake in [ErrorKind::Refused, ErrorKind::Unavailable] {
        let (mut bench, old) = Bench::new().probing();
        match overtake {
            ErrorKind::Refused => drop(bench.fail(ErrorKind::Refused)),
            _ => drop(bench.obey(Some(&word(WordVerb::Evict, 1, None)))),
        }
        let state = bench.state();
        assert_eq!((bench.pass(old), bench.state()), (None, state));
        bench.obey(Some(&word(WordVerb::Rescue, 2, None)));
        let new = bench.member.claim(Claim::Due).unwrap();
        assert_eq!((bench.pass(old), bench.state()), (None, SlotState::Probation));
        assert!(matches!(bench.pass(new), Some(Flip::Rescued { .. })));
    }
}

#[test]
fn a_word_is_obeyed_once_and_timed_rescue_never_undoes_it() {
    let mut bench = Bench::new();
    let evict = word(WordVerb::Evict, 7, None);
    let flip = bench.obey(Some(&evict));
    assert!(
        matches!(flip, Some(Flip::Evicted { retry_after: None, ref cause }) if cause.detail == "evict by ann: disk")
    );
    assert_eq!(bench.obey(Some(&evict)), None);
    assert_eq!((bench.after(10_000 * S).tick(), bench.member.due()), (None, None));
    assert_eq!(bench.obey(Some(&word(WordVerb::Rescue, 8, None))), Some(Flip::Probation));
    assert_eq!(bench.obey(Some(&word(WordVerb::Rescue, 8, None))), None);
}

#[test]
fn a_word_on_top_of_an_eviction_holds_it() {
    let mut bench = Bench::new();
    bench.fail(ErrorKind::Unavailable);
    assert_eq!(bench.obey(Some(&word(WordVerb::Drain, 1, None))), None, "it is out already");
    assert_eq!(bench.after(10_000 * S).tick(), None);
    assert_eq!(bench.obey(None), Some(Flip::Probation), "withdrawn");
}

#[test]
fn a_word_ends_at_its_time() {
    let mut bench = Bench::new();
    let short = word(WordVerb::Evict, 1, Some(WALL + 50));
    assert!(bench.obey(Some(&short)).is_some());
    assert_eq!(bench.member.tick(bench.now, WALL + 49), None);
    assert_eq!(bench.member.tick(bench.now, WALL + 50), Some(Flip::Probation));
    assert_eq!(bench.member.obey(bench.now, WALL + 51, Some(&short)), None, "an old list changes nothing");
    assert_eq!(Bench::new().obey(Some(&word(WordVerb::Evict, 1, Some(WALL)))), None, "over before it came");
}

#[test]
fn a_quarantine_under_a_word_outlives_it() {
    let mut bench = Bench::new();
    bench.obey(Some(&word(WordVerb::Evict, 1, None)));
    bench.fail(ErrorKind::Refused);
    assert_eq!((bench.obey(None), bench.state()), (None, SlotState::Quarantined));
}

#[test]
fn what_is_excluded_at_start_is_rescued_or_quarantined_by_its_verdict() {
    for kind in ErrorKind::ALL {
        let mut bench = Bench::new();
        let flip = bench.member.exclude(bench.now, 1.0, &error(kind));
        let quarantined = matches!(flip, Some(Flip::Quarantined { .. }));
        assert_eq!(quarantined, kind == ErrorKind::Refused, "{kind}");
        assert_eq!(bench.state(), if quarantined { SlotState::Quarantined } else { SlotState::Evicted });
    }
}

#[test]
fn a_store_that_said_why_is_not_shown_as_silent() {
    let shown = |flip: Option<Flip>| match flip {
        Some(Flip::Evicted { cause, .. }) => cause.kind,
        other => panic!("{other:?}"),
    };
    let mut bench = Bench::new();
    assert_eq!(bench.fail(ErrorKind::Contended), None);
    assert_eq!(bench.after(S).fail(ErrorKind::Timeout), None);
    assert_eq!(shown(bench.after(S).fail(ErrorKind::Timeout)), ErrorKind::Contended, "its own word");
    bench.after(S).tick();
    let token = bench.member.claim(Claim::Due).unwrap();
    bench.flunk(token, ErrorKind::Timeout);
    assert_eq!(bench.member.cause(), Some(&cause(ErrorKind::Contended)));

    let mut old = Bench::new();
    assert_eq!(old.fail(ErrorKind::Contended), None);
    for _ in 0..2 {
        assert_eq!(old.after(60 * S).fail(ErrorKind::Timeout), None);
    }
    old.fail(ErrorKind::Timeout);
    assert_eq!(shown(old.fail(ErrorKind::Timeout)), ErrorKind::Timeout, "what it said is long past");
}

#[test]
fn it_is_out_since_it_left_however_often_it_was_tried() {
    let mut bench = Bench::new();
    assert_eq!(bench.member.out_since(), None);
    let left = bench.after(7 * S).now;
    let (mut bench, token) = bench.probing();
    bench.flunk(token, ErrorKind::Timeout);
    assert_eq!(bench.after(S).tick(), Some(Flip::Probation));
    assert_eq!((bench.member.since(), bench.member.out_since()), (bench.now, Some(left)));
    let token = bench.member.claim(Claim::Due).unwrap();
    bench.pass(token);
    assert_eq!(bench.member.out_since(), None);
}

#[test]
fn beside_a_word_is_told_what_the_slot_was_out_for_before() {
    let mut bench = Bench::new();
    let told = |bench: &Bench| bench.member.cause().unwrap().detail.clone();
    bench.obey(Some(&word(WordVerb::Drain, 1, None)));
    assert_eq!(told(&bench), "drain by ann: disk", "there was nothing before");
    let mut bench = Bench::new();
    bench.fail(ErrorKind::Unavailable);
    let fault = cause(ErrorKind::Unavailable).detail;
    bench.obey(Some(&word(WordVerb::Drain, 1, None)));
    assert_eq!(told(&bench), format!("drain by ann: disk; it was out before, for: {fault}"));
}
