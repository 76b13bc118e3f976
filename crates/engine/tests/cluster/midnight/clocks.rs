//! Ten clocks over one time, at most two seconds behind it: the time goes on by every look of a server's, and by steps
//! beside callers who are in flight; now and then a clock is set.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use sequent_core::{Clock, SystemClock};
use sequent_testkit::SeededEntropy;

/// The most that a clock is behind the time, in microseconds, as all times here: two of them are no further apart.
const BEHIND_MAX: u64 = 2_000_000;

/// How long before a period's end the clocks begin, and how far beyond it the last of them goes.
const BEFORE: u64 = 1_000_000;
const BEYOND: u64 = 500_000;

/// By how much a look moves the time.
const LOOK: u64 = 10;

/// At how many looks before an end a clock may stop.
const LOOKS_BEFORE: u64 = 4;

/// The least that a step moves it, and by how much more it may.
const STEP_MIN: u64 = 20_000;
const STEP_MORE: u64 = 100_000;

/// In how many of 100 steps a clock is set, forward or back; every other time to the most that it may be behind.
const SET_PERCENT: u64 = 60;

/// A server's clock on the wall.
#[derive(Debug)]
pub(super) struct Dial {
    time: Arc<AtomicU64>,
    behind: AtomicU64,
    /// Goes up before it is set, and after.
    settings: AtomicU64,
    /// The latest that anybody was shown.
    latest: AtomicU64,
}

/// What a caller saw of the clock when it called.
pub(super) struct Glance {
    time: u64,
    shown: u64,
    settings: u64,
}

impl Clock for Dial {
    fn now(&self) -> Instant {
        SystemClock.now()
    }

    fn wall(&self) -> SystemTime {
        self.time.fetch_add(LOOK, SeqCst);
        let shown = self.shown();
        self.latest.fetch_max(shown, SeqCst);
        UNIX_EPOCH + Duration::from_micros(shown)
    }
}

impl Dial {
    fn shown(&self) -> u64 {
        self.time.load(SeqCst) - self.behind.load(SeqCst)
    }

    fn set(&self, behind: u64) {
        self.settings.fetch_add(1, SeqCst);
        self.behind.store(behind, SeqCst);
        self.settings.fetch_add(1, SeqCst);
    }

    /// What it shows, which a glance does not move.
    pub(super) fn glance(&self) -> Glance {
        let settings = self.settings.load(SeqCst);
        Glance { settings, time: self.time.load(SeqCst), shown: self.shown() }
    }

    /// The earliest and the latest that a server with this clock may take for now, since a glance, in milliseconds: a clock
    /// that is set back stands still for it.
    pub(super) fn since(&self, glance: &Glance) -> (u64, u64) {
        let latest = self.latest.fetch_max(self.shown(), SeqCst).max(glance.shown);
        let is_set = self.settings.load(SeqCst) != glance.settings;
        let earliest = if is_set { glance.time - BEHIND_MAX } else { glance.shown };
        (earliest / 1000, latest.max(self.shown()) / 1000)
    }
}

/// All clocks.
pub(super) struct Clocks {
    time: Arc<AtomicU64>,
    pub(super) dials: Vec<Arc<Dial>>,
    bits: SeededEntropy,
}

impl Clocks {
    /// So many, before the end of a period: the first is right, the second as far behind as any may be.
    pub(super) fn new(count: usize, end: u64, bits: SeededEntropy) -> Self {
        let time = Arc::new(AtomicU64::new(end - BEFORE));
        let dial = |index: usize| {
            let behind = [0, BEHIND_MAX].get(index).copied();
            let behind = AtomicU64::new(behind.unwrap_or_else(|| bits.below(BEHIND_MAX + 1)));
            let (time, settings, latest) = (Arc::clone(&time), AtomicU64::new(0), AtomicU64::new(0));
            Arc::new(Dial { time, behind, settings, latest })
        };
        let dials = (0..count).map(dial).collect();
        Self { time, dials, bits }
    }

    /// To shortly before an end.
    pub(super) fn approach(&self, end: u64) {
        self.time.fetch_max(end - BEFORE, SeqCst);
    }

    /// A step further; false where every clock is past the end. A clock that comes to the end stops a few looks before it,
    /// so that it is a server's look, for a caller in flight, which takes it over.
    pub(super) fn step(&self, end: u64) -> bool {
        if self.bits.chance(SET_PERCENT) {
            let index = usize::try_from(self.bits.below(self.dials.len() as u64)).unwrap();
            let furthest = self.bits.chance(50);
            self.dials[index].set(if furthest { BEHIND_MAX } else { self.bits.below(BEHIND_MAX + 1) });
        }
        let time = self.time.load(SeqCst);
        let looks = LOOK * (1 + self.bits.below(LOOKS_BEFORE));
        let brinks = self.dials.iter().map(|dial| end + dial.behind.load(SeqCst) - looks);
        let brink = brinks.filter(|brink| *brink > time).min();
        let next = time + STEP_MIN + self.bits.below(STEP_MORE);
        self.time.fetch_max(brink.unwrap_or(next).min(next), SeqCst);
        time < end + BEHIND_MAX + BEYOND
    }
}
