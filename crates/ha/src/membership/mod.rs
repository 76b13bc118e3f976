//! All members of a ring: one mutex for their transitions, and one snapshot that everybody reads.

mod counts;
pub(crate) mod probe_permit;
mod report;
pub(crate) mod snapshot;
mod status;

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use arc_swap::{ArcSwap, Guard};
use sequent_core::{Env, Event, SlotIndex};
use tokio::sync::Notify;

use self::{
    counts::Counts,
    snapshot::{SlotView, Snapshot},
};
use crate::{
    config::RingConfig,
    health::member::{
        Member,
        events::{Cause, Transition},
    },
    sync::lock,
};

/// How often the end of a command is checked: it ends by the wall clock, which may step.
const COMMAND_CHECK_EVERY: Duration = Duration::from_secs(1);

/// The members, and the snapshot of them that everybody reads.
///
/// A success on a healthy slot only reads the snapshot, and writes nothing here.
pub(crate) struct Membership {
    config: RingConfig,
    env: Env,
    members: Mutex<Members>,
    snapshot: ArcSwap<Snapshot>,
    counts: Vec<Counts>,
    changed: Arc<Notify>,
}

struct Members {
    slots: Vec<Option<Member>>,
    tried_all_at: Option<Instant>,
}

/// What a member is told when it changes.
#[derive(Clone, Copy)]
struct ChangeContext<'a> {
    now: Instant,
    /// No other slot is live.
    is_last: bool,
    env: &'a Env,
}

impl ChangeContext<'_> {
    /// A random fraction for jitter.
    fn fraction(&self) -> f64 {
        self.env.entropy.fraction()
    }
}

impl Membership {
    /// One member for each slot that has a store.
    pub(crate) fn new(config: RingConfig, env: Env, has_store: &[bool]) -> Self {
        let now = env.clock.now();
        let slots: Vec<Option<Member>> =
            has_store.iter().map(|has| has.then(|| Member::new(&config, now))).collect();
        Self {
            config,
            env,
            snapshot: ArcSwap::from_pointee(snapshot_of(&slots)),
            counts: slots.iter().map(|_| Counts::default()).collect(),
            members: Mutex::new(Members { slots, tried_all_at: None }),
            changed: Arc::new(Notify::new()),
        }
    }

    pub(crate) fn config(&self) -> &RingConfig {
        &self.config
    }

    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    /// A guard, not a clone: a clone would write to the reference count that all readers share.
    pub(crate) fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        self.snapshot.load()
    }

    /// Notified by each transition.
    pub(crate) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    /// Whether all slots may be tried together now, which is so once in `every`.
    pub(crate) fn may_try_all(&self, every: Duration) -> bool {
        let now = self.env.clock.now();
        let mut members = self.members();
        let allowed = members.tried_all_at.is_none_or(|at| now.saturating_duration_since(at) >= every);
        if allowed {
            members.tried_all_at = Some(now);
        }
        allowed
    }

    /// Performs the transitions that are due.
    ///
    /// Returns the slots on probation that nobody has probed in time, and how long nothing else is due.
    pub(crate) fn tick(&self) -> (Vec<SlotIndex>, Option<Duration>) {
        let wall_ms = self.env.clock.wall_ms();
        for slot in self.slots() {
            self.change(slot, |member, at| member.tick(at.now, wall_ms));
        }
        let now = self.env.clock.now();
        let members = self.members();
        let known =
            || members.slots.iter().zip(0..).filter_map(|(member, slot)| Some((slot, member.as_ref()?)));
        let is_overdue = |member: &Member| member.due().is_some_and(|due| due <= now);
        let idle = known().filter(|(_, member)| is_overdue(member)).map(|(slot, _)| slot).collect();
        let next =
            known().filter(|(_, member)| !is_overdue(member)).filter_map(|(_, member)| member.due()).min();
        let next = next.map(|due| due.saturating_duration_since(now));
        let command_ends = known().any(|(_, member)| member.command_ends_ms().is_some());
        let check = command_ends.then_some(COMMAND_CHECK_EVERY);
        (idle, next.into_iter().chain(check).min())
    }

    fn slots(&self) -> std::ops::Range<SlotIndex> {
        0..SlotIndex::try_from(self.counts.len()).unwrap_or(SlotIndex::MAX)
    }

    fn count(&self, slot: SlotIndex, add: impl FnOnce(&Counts)) {
        if let Some(counts) = self.counts.get(usize::from(slot)) {
            add(counts);
        }
    }

    fn members(&self) -> std::sync::MutexGuard<'_, Members> {
        lock(&self.members)
    }

    /// Changes one member and publishes the snapshot as one step; emits the transition after it.
    fn change(
        &self,
        slot: SlotIndex,
        change: impl FnOnce(&mut Member, ChangeContext<'_>) -> Option<Transition>,
    ) {
        let mut members = self.members();
        let now = self.env.clock.now();
        let is_last = !self.snapshot.load().live().iter().any(|live| *live != slot);
        let Some(Some(member)) = members.slots.get_mut(usize::from(slot)) else { return };
        let transition = change(member, ChangeContext { now, is_last, env: &self.env });
        let fresh = snapshot_of(&members.slots);
        let is_changed = fresh != **self.snapshot.load();
        if is_changed {
            self.snapshot.store(Arc::new(fresh));
        }
        drop(members);
        if is_changed || transition.is_some() {
            self.changed.notify_one();
        }
        if let Some(transition) = transition {
            self.emit(slot, transition);
        }
    }

    fn emit(&self, slot: SlotIndex, transition: Transition) {
        let event = match transition {
            Transition::Probation => return,
            Transition::Evicted { cause: Cause { kind, detail, .. }, retry_after } => {
                self.count(slot, Counts::evicted);
                Event::Evicted { slot, kind, detail, retry_after }
            }
            Transition::Rescued { out } => {
                self.count(slot, Counts::rescued);
                Event::Rescued { slot, out }
            }
            Transition::ProbeFailed { kind, retry_after } => Event::ProbeFailed { slot, kind, retry_after },
            Transition::Quarantined { cause: Cause { kind, detail, .. } } => {
                self.count(slot, Counts::evicted);
                Event::Quarantined { slot, key: None, kind, condition: None, detail }
            }
            Transition::Drained { after } => Event::Drained { slot, after },
        };
        self.env.events.emit(event);
    }
}

/// Waits until a transition may be due: for so long, or until a change is notified.
pub(crate) async fn until_due(changed: &Notify, wait: Option<Duration>) {
    match wait {
        None => changed.notified().await,
        Some(wait) => {
            let _ = tokio::time::timeout(wait, changed.notified()).await;
        }
    }
}

fn snapshot_of(slots: &[Option<Member>]) -> Snapshot {
    Snapshot::new(slots.iter().map(|member| view(member.as_ref())).collect())
}

fn view(member: Option<&Member>) -> SlotView {
    member.map_or(SlotView::EMPTY, |member| SlotView {
        state: member.state(),
        generation: member.generation(),
        answers_slowly: member.answers_slowly(),
        clear_count: member.clear_count(),
    })
}
