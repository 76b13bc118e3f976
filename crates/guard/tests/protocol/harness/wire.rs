//! The wire between one server and one system: counts calls, breaks, hangs, and holds single calls back.

use std::{
    collections::{BTreeMap, VecDeque},
    future::{Future, pending},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use sequent_core::{ErrorKind, SourceError, Stamp};
use tokio::sync::Semaphore;

/// A wire that does what the test says.
#[derive(Debug, Default)]
pub(crate) struct Wire(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    mode: Mode,
    counts: BTreeMap<&'static str, usize>,
    held: BTreeMap<&'static str, VecDeque<(When, Gate)>>,
    busy: BTreeMap<&'static str, usize>,
    each: Duration,
    beside: Vec<Stamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Mode {
    #[default]
    Fine,
    /// Lets so many calls through, then breaks.
    FineFor(usize),
    Broken,
    Hung,
}

/// Where a call is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// Before it reaches the system.
    Before,
    /// After the system has acted, before the answer is heard.
    After,
}

/// Where a held call waits.
#[derive(Debug, Clone)]
pub(crate) struct Gate(Arc<(Semaphore, Semaphore)>);

impl Gate {
    fn closed() -> Self {
        Self(Arc::new((Semaphore::new(0), Semaphore::new(0))))
    }

    /// Waits until the call has come to the gate.
    pub(crate) async fn reached(&self) {
        self.0.0.acquire().await.unwrap().forget();
    }

    /// Lets the call go on.
    pub(crate) fn open(&self) {
        self.0.1.add_permits(1);
    }

    async fn pass(&self) {
        self.0.0.add_permits(1);
        self.0.1.acquire().await.unwrap().forget();
    }
}

impl Wire {
    /// Every call is answered.
    pub(crate) fn mend(&self) {
        self.state().mode = Mode::Fine;
    }

    /// So many calls are answered, later ones fail at once.
    pub(crate) fn mend_for(&self, calls: usize) {
        self.state().mode = Mode::FineFor(calls);
    }

    /// In the store's database lies another slot's store, which bears this stamp.
    pub(crate) fn puts_beside(&self, stamp: Stamp) {
        self.state().beside.push(stamp);
    }

    /// The stamps of the other slots in the store's database.
    pub(crate) fn beside(&self) -> Vec<Stamp> {
        self.state().beside.clone()
    }

    /// Every call fails at once.
    pub(crate) fn cut(&self) {
        self.state().mode = Mode::Broken;
    }

    /// No call is ever answered.
    pub(crate) fn hang(&self) {
        self.state().mode = Mode::Hung;
    }

    /// Holds the next call of this verb that nobody holds yet.
    pub(crate) fn hold(&self, verb: &'static str, when: When) -> Gate {
        let gate = Gate::closed();
        self.state().held.entry(verb).or_default().push_back((when, gate.clone()));
        gate
    }

    /// The next so many calls of this verb find the system locked by others.
    pub(crate) fn busy_for(&self, verb: &'static str, calls: usize) {
        self.state().busy.insert(verb, calls);
    }

    /// From now on a batch takes so long for each part of it, and is done, all of it, only then.
    pub(crate) fn takes(&self, each: Duration) {
        self.state().each = each;
    }

    /// Waits for as long as a batch of so many takes.
    pub(crate) async fn dwell(&self, parts: usize) {
        let each = self.state().each;
        if !each.is_zero() {
            tokio::time::sleep(each * u32::try_from(parts).unwrap()).await;
        }
    }

    /// How often this verb was called.
    pub(crate) fn calls(&self, verb: &str) -> usize {
        self.state().counts.get(verb).copied().unwrap_or(0)
    }

    /// How often anything was called.
    pub(crate) fn all_calls(&self) -> usize {
        self.state().counts.values().sum()
    }

    /// Carries a call.
    pub(crate) async fn carry<T>(
        &self,
        verb: &'static str,
        call: impl Future<Output = Result<T, SourceError>>,
    ) -> Result<T, SourceError> {
        let (mode, held) = self.state().begin(verb);
        if self.state().is_busy(verb) {
            return Err(SourceError::new(ErrorKind::Contended, "others are in the way"));
        }
        match mode {
            Mode::Fine | Mode::FineFor(_) => {}
            Mode::Broken => return Err(SourceError::new(ErrorKind::Unavailable, "the wire is cut")),
            Mode::Hung => return pending().await,
        }
        if let Some((When::Before, gate)) = &held {
            gate.pass().await;
        }
        let answer = call.await;
        if let Some((When::After, gate)) = &held {
            gate.pass().await;
        }
        answer
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn begin(&mut self, verb: &'static str) -> (Mode, Option<(When, Gate)>) {
        *self.counts.entry(verb).or_default() += 1;
        let mode = self.mode;
        if let Mode::FineFor(left) = mode {
            self.mode = if left > 1 { Mode::FineFor(left - 1) } else { Mode::Broken };
        }
        (mode, self.held.get_mut(verb).and_then(VecDeque::pop_front))
    }

    fn is_busy(&mut self, verb: &'static str) -> bool {
        let Some(left) = self.busy.get_mut(verb).filter(|left| **left > 0) else { return false };
        *left -= 1;
        true
    }
}
