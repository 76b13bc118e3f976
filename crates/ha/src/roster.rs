//! All members of a ring: one mutex where they flip, one snapshot that everybody reads.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use arc_swap::{ArcSwap, Guard};
use sequent_core::{Action, Env, ErrorKind, Event, Scope, SlotFailure, SlotIndex, SourceError, ledger::Word};
use tokio::sync::Notify;

use crate::{
    RingConfig, SlotState, SlotStatus,
    counts::Counts,
    health::{Cause, Claim, Flip, Member},
    lock,
    snapshot::{Snapshot, Standing},
};

/// While no slot is live, all are tried together at most this often.
pub(crate) const TRY_ALL_EVERY: Duration = Duration::from_secs(2);

/// An operator's word ends by the wall clock, which may step: it is looked at this often.
const WORD_CHECK_EVERY: Duration = Duration::from_secs(1);

/// The members, and what everybody may know of them.
///
/// A success on a clean slot touches nothing here but the snapshot, and that only to read it.
pub(crate) struct Roster {
    config: RingConfig,
    env: Env,
    members: Mutex<Members>,
    snapshot: ArcSwap<Snapshot>,
    counts: Vec<Counts>,
    changed: Arc<Notify>,
}

struct Members {
    slots: Vec<Option<Member>>,
    tried_all: Option<Instant>,
}

/// What a member is told when it changes.
#[derive(Clone, Copy)]
struct Moment<'a> {
    now: Instant,
    /// No other slot is live.
    last: bool,
    env: &'a Env,
}

impl Moment<'_> {
    fn fraction(&self) -> f64 {
        self.env.entropy.fraction()
    }
}

impl Roster {
    /// One member for each slot that has a store.
    pub(crate) fn new(config: RingConfig, env: Env, has_store: &[bool]) -> Self {
        let now = env.clock.now();
        let slots: Vec<Option<Member>> =
            has_store.iter().map(|has| has.then(|| Member::new(&config, now))).collect();
        Self {
            config,
            env,
            snapshot: ArcSwap::from_pointee(Snapshot::of(
                slots.iter().map(Option::as_ref).map(standing).collect(),
            )),
            counts: slots.iter().map(|_| Counts::default()).collect(),
            members: Mutex::new(Members { slots, tried_all: None }),
            changed: Arc::new(Notify::new()),
        }
    }

    pub(crate) fn config(&self) -> &RingConfig {
        &self.config
    }

    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    /// Not a clone: its count of holders would be one more place that everybody writes.
    pub(crate) fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        self.snapshot.load()
    }

    /// Woken by each flip.
    pub(crate) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    /// An attempt that began under `generation` was answered after longer than it should.
    pub(crate) fn slow(&self, slot: SlotIndex, generation: u64, took: Duration) {
        self.counts(slot, Counts::slow);
        let detail = format!("answered only after {} ms", took.as_millis());
        self.change(slot, |member, at| {
            (member.generation() == generation).then(|| {
                member.slow(
                    at.now,
                    at.fraction(),
                    at.last,
                    Cause { kind: ErrorKind::Timeout, why: None, detail },
                )
            })?
        });
    }

    /// An attempt that began under `generation` failed, as the store's decorator saw it.
    pub(crate) fn failed(&self, slot: SlotIndex, generation: u64, error: &SourceError) {
        self.counts(slot, |counts| counts.failed(error.kind()));
        if error.kind().verdict().scope == Scope::Slot {
            self.accuse(slot, generation, error);
        }
    }

    /// Lets a failure count against the slot, by its verdict. What began before a rescue says nothing about what
    /// came back, except that it may repeat numbers.
    pub(crate) fn accuse(&self, slot: SlotIndex, generation: u64, error: &SourceError) {
        let grave = error.kind().verdict().action == Action::Quarantine;
        self.change(slot, |member, at| {
            (grave || member.generation() == generation).then(|| member.fail(at.now, at.fraction(), error))?
        });
    }

    /// The slot could not be admitted at start.
    pub(crate) fn exclude(&self, slot: SlotIndex, error: &SourceError) {
        self.change(slot, |member, at| member.exclude(at.now, at.fraction(), error));
    }

    /// A token for trying the slot now.
    pub(crate) fn claim(&self, slot: SlotIndex, claim: Claim) -> Option<u64> {
        let mut token = None;
        self.change(slot, |member, _| {
            token = member.claim(claim);
            None
        });
        token
    }

    pub(crate) fn passed(&self, slot: SlotIndex, token: u64) {
        self.change(slot, |member, at| member.pass(token, at.now, at.fraction(), at.last));
        self.changed.notify_one();
    }

    /// A try ahead of its time flips nothing; but the slot is due again, and the clockwork has not watched it meanwhile.
    pub(crate) fn flunked(&self, slot: SlotIndex, token: u64, error: &SourceError) {
        self.change(slot, |member, at| member.flunk(token, at.now, at.fraction(), error));
        self.changed.notify_one();
    }

    pub(crate) fn undecided(&self, slot: SlotIndex, token: u64) {
        self.change(slot, |member, at| {
            member.undecided(token, at.now);
            None
        });
        self.changed.notify_one();
    }

    /// Nothing that a draining slot was asked for is still on its way.
    pub(crate) fn drained(&self, slot: SlotIndex) {
        self.change(slot, |member, at| member.drained(at.now));
    }

    pub(crate) fn wait_for_probe(&self, slot: SlotIndex) {
        self.change(slot, |member, at| {
            member.wait_for_probe(at.now);
            None
        });
        self.changed.notify_one();
    }

    /// Whether it is time to try all slots together; if so, the next time is a while off.
    pub(crate) fn may_try_all(&self) -> bool {
        let now = self.env.clock.now();
        let mut members = self.members();
        let free = members.tried_all.is_none_or(|at| now.saturating_duration_since(at) >= TRY_ALL_EVERY);
        if free {
            members.tried_all = Some(now);
        }
        free
    }

    /// Obeys the latest word about each slot; a slot without one is free of words.
    pub(crate) fn obey(&self, words: &[Word]) {
        let wall_ms = self.env.clock.wall_ms();
        for slot in self.slots() {
            let word = words.iter().filter(|word| word.slot == slot).max_by_key(|word| word.at_ms);
            let mut news = None;
            self.change(slot, |member, at| {
                let was = member.word().map(|word| word.at_ms);
                let flip = member.obey(at.now, wall_ms, word);
                news = member.word().filter(|word| Some(word.at_ms) != was).cloned();
                flip
            });
            if let Some(Word { slot, verb, who, why, .. }) = news {
                self.env.events.emit(Event::Obeyed { slot, verb: verb.as_str(), who, why });
            }
        }
    }

    /// Flips what is due. Returns the slots that must take an id by themselves now, and how long nothing is due.
    pub(crate) fn tick(&self) -> (Vec<SlotIndex>, Option<Duration>) {
        let wall_ms = self.env.clock.wall_ms();
        for slot in self.slots() {
            self.change(slot, |member, at| member.tick(at.now, wall_ms));
        }
        let now = self.env.clock.now();
        let members = self.members();
        let known =
            || members.slots.iter().zip(0..).filter_map(|(member, slot)| Some((slot, member.as_ref()?)));
        let overdue = |member: &Member| member.due().is_some_and(|due| due <= now);
        let idle = known().filter(|(_, member)| overdue(member)).map(|(slot, _)| slot).collect();
        let next =
            known().filter(|(_, member)| !overdue(member)).filter_map(|(_, member)| member.due()).min();
        let next = next.map(|due| due.saturating_duration_since(now));
        let word = known().any(|(_, member)| member.word_ends().is_some()).then_some(WORD_CHECK_EVERY);
        (idle, next.into_iter().chain(word).min())
    }

    /// Why the slot is out, if it is.
    pub(crate) fn failure(&self, slot: SlotIndex) -> Option<SlotFailure> {
        let members = self.members();
        let member = members.slots.get(usize::from(slot))?.as_ref()?;
        let Cause { kind, detail, .. } = member.cause()?.clone();
        Some(SlotFailure { slot, kind, why: member.why(), detail })
    }

    pub(crate) fn status(&self) -> Vec<SlotStatus> {
        let members = self.members();
        let rows = members.slots.iter().zip(&self.counts).zip(0..);
        rows.map(|((member, counts), slot)| {
            let member = member.as_ref();
            SlotStatus {
                slot,
                state: member.map_or(SlotState::Empty, Member::state),
                cause: member.and_then(Member::cause).map(|cause| (cause.kind, cause.detail.clone())),
                why: member.and_then(Member::cause).and_then(|cause| cause.why),
                since: member.map(Member::since),
                out_since: member.and_then(Member::out_since),
                retry_at: member.and_then(Member::due),
                word: member.and_then(Member::word).cloned(),
                counts: counts.read(),
            }
        })
        .collect()
    }

    fn slots(&self) -> std::ops::Range<SlotIndex> {
        0..SlotIndex::try_from(self.counts.len()).unwrap_or(SlotIndex::MAX)
    }

    fn counts(&self, slot: SlotIndex, note: impl FnOnce(&Counts)) {
        if let Some(counts) = self.counts.get(usize::from(slot)) {
            note(counts);
        }
    }

    fn members(&self) -> std::sync::MutexGuard<'_, Members> {
        lock(&self.members)
    }

    /// Changes one member and publishes what everybody may know, as one step; reports a flip after it.
    fn change(&self, slot: SlotIndex, how: impl FnOnce(&mut Member, Moment<'_>) -> Option<Flip>) {
        let mut members = self.members();
        let now = self.env.clock.now();
        let last = !self.snapshot.load().live().iter().any(|live| *live != slot);
        let Some(Some(member)) = members.slots.get_mut(usize::from(slot)) else { return };
        let flip = how(member, Moment { now, last, env: &self.env });
        let fresh = Snapshot::of(members.slots.iter().map(Option::as_ref).map(standing).collect());
        let moved = fresh != **self.snapshot.load();
        if moved {
            self.snapshot.store(Arc::new(fresh));
        }
        drop(members);
        if moved || flip.is_some() {
            self.changed.notify_one();
        }
        if let Some(flip) = flip {
            self.announce(slot, flip);
        }
    }

    fn announce(&self, slot: SlotIndex, flip: Flip) {
        let event = match flip {
            Flip::Probation => return,
            Flip::Evicted { cause: Cause { kind, detail, .. }, retry_after } => {
                self.counts(slot, Counts::evicted);
                Event::Evicted { slot, kind, detail, retry_after }
            }
            Flip::Rescued { out } => {
                self.counts(slot, Counts::rescued);
                Event::Rescued { slot, out }
            }
            Flip::ProbeFailed { kind, retry_after } => Event::ProbeFailed { slot, kind, retry_after },
            Flip::Quarantined { cause: Cause { kind, detail, .. } } => {
                self.counts(slot, Counts::evicted);
                Event::Quarantined { slot, key: None, kind, detail }
            }
            Flip::Drained { after } => Event::Drained { slot, after },
        };
        self.env.events.emit(event);
    }
}

fn standing(member: Option<&Member>) -> Standing {
    member.map_or(Standing::EMPTY, |member| Standing {
        state: member.state(),
        generation: member.generation(),
        answers: member.answers(),
        pardon: member.pardon(),
    })
}
