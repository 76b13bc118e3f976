//! The one place that calls the ledger: nonces, incarnations, time limits, and the loss of it noticed once.

use std::{
    collections::{BTreeSet, VecDeque},
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use sequent_core::{
    BoxFuture, Durability, Env, ErrorKind, Event, Incarnation, LedgerId, Rule, Rules, SlotIndex, SourceError,
    ledger::{Answer, Counter, LayoutRecord, Ledger, LedgerInspection, Pass, Reading, ServerId},
};
use tokio::sync::{Notify, futures::Notified};

use crate::{
    GuardConfig,
    counter::Debts,
    keeper::{Given, RAISES_MAX},
    marks::Marks,
    shard::Shard,
};

mod alone;
mod doubt;
mod hearing;
mod over;
mod renewal;
mod settings;
mod trouble;

pub use trouble::{LAYOUT_CHANGED, Trouble, all_forget, forgets, lossy};

/// Nonces that the ledger may hold: the one acknowledged last, and those of calls whose outcome is unknown since. Where
/// there are more, the ones in the middle go: the ledger holds the first if it got none of the calls, one of the
/// next if it was lost after that, or one of the last if answers alone are lost.
const NONCES_MAX: usize = 16;

struct State {
    incarnation: Incarnation,
    /// What it said of its settings at the latest inspection.
    durability: Durability,
    /// When that was, or when dense numbers wanted to know it since.
    looked: Instant,
    nonces: VecDeque<u64>,
    /// Some of them were dropped: the ledger may hold one that this server no longer knows.
    some_dropped: bool,
    /// The highest that the ledger ever told this server: one that comes back below it went back.
    version: u64,
    /// Up to which version this server has heard what calls moved.
    heard: u64,
    away_since: Option<Instant>,
    /// Whether it was told of this loss that the ledger answers, and refuses.
    refused: bool,
    /// One more with each loss and each return; odd while the ledger is away.
    losses: u64,
    trouble: Option<Trouble>,
    /// When this server laid claim to the shards for a run of the ledger that was not on record, and has not looked since
    /// whether anybody objects.
    claimed: Option<Instant>,
    /// When a shard was looked at last for the mark of another ledger at work.
    looked_elsewhere: Option<Instant>,
    /// Another ledger in the place of this one, until this one answers again: what troubled it before troubles it then.
    another: Option<Trouble>,
    /// Until when others may object to this run of the ledger, before dense numbers are given under it, and which run is on record;
    /// `None`: they had the time.
    doubted: Option<(Instant, Option<Incarnation>)>,
}

/// The ledger as one server sees it.
pub(crate) struct Desk {
    ledger: Arc<dyn Ledger>,
    id: LedgerId,
    server: ServerId,
    layout: LayoutRecord,
    embedded: bool,
    config: GuardConfig,
    rules: Rules,
    env: Env,
    pub(crate) marks: Marks,
    /// Of all counters.
    pub(crate) debts: Debts,
    /// What this server has given of dense counters.
    pub(crate) given: Given,
    shards: Vec<Arc<Shard>>,
    state: Mutex<State>,
    /// Told when the ledger is found to be away.
    news_of_loss: Notify,
    /// Writing calls go one at a time, so that their nonces have an order.
    writing: tokio::sync::Mutex<()>,
}

/// A writing call of the ledger: which one, with its pass and its asks.
pub(crate) type Call<A, T> =
    for<'a> fn(&'a dyn Ledger, Pass<'a>, &'a [A]) -> BoxFuture<'a, Result<Answer<T>, SourceError>>;

/// What a desk is made of.
pub(crate) struct DeskParts {
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) server: ServerId,
    pub(crate) nonce: u64,
    pub(crate) inspection: LedgerInspection,
    pub(crate) layout: LayoutRecord,
    pub(crate) embedded: bool,
    pub(crate) config: GuardConfig,
    pub(crate) rules: Rules,
    pub(crate) env: Env,
    pub(crate) marks: Marks,
    pub(crate) shards: Vec<Arc<Shard>>,
}

impl Desk {
    pub(crate) fn new(parts: DeskParts) -> Self {
        let DeskParts {
            ledger,
            server,
            nonce,
            inspection,
            layout,
            embedded,
            config,
            rules,
            env,
            marks,
            shards,
        } = parts;
        let id = inspection.id;
        let state = State {
            incarnation: inspection.incarnation,
            durability: inspection.durability,
            looked: env.clock.now(),
            nonces: VecDeque::from([nonce]),
            some_dropped: false,
            version: inspection.version,
            heard: inspection.version,
            away_since: None,
            refused: false,
            losses: 0,
            trouble: None,
            claimed: None,
            looked_elsewhere: None,
            another: None,
            doubted: None,
        };
        let (state, writing) = (Mutex::new(state), tokio::sync::Mutex::default());
        Self {
            ledger,
            id,
            server,
            layout,
            embedded,
            config,
            rules,
            env,
            marks,
            debts: Debts::default(),
            given: Given::default(),
            shards,
            state,
            news_of_loss: Notify::new(),
            writing,
        }
    }

    /// The ledger's incarnation under which permits are granted now.
    pub(crate) fn incarnation(&self) -> Incarnation {
        self.state().incarnation.clone()
    }

    /// Whether permits of this incarnation of the ledger still count.
    pub(crate) fn speaks_as(&self, incarnation: &Incarnation) -> bool {
        self.state().incarnation == *incarnation
    }

    /// The epoch of the layout that this server counts by.
    pub(crate) fn epoch(&self) -> u64 {
        self.layout.epoch
    }

    /// How many slots the ring has.
    pub(crate) fn slots(&self) -> SlotIndex {
        self.layout.layout.slots()
    }

    /// How many counters one call of this ledger names.
    pub(crate) fn batch_max(&self) -> usize {
        self.ledger.batch_max().clamp(1, RAISES_MAX)
    }

    /// The highest version that the ledger told this server.
    pub(crate) fn version(&self) -> u64 {
        self.state().version
    }

    /// Since when the ledger has been away.
    pub(crate) fn away_since(&self) -> Option<Instant> {
        self.state().away_since
    }

    /// Which loss is going on; `None` while the ledger is in reach.
    pub(crate) fn loss(&self) -> Option<u64> {
        let losses = self.state().losses;
        (losses % 2 == 1).then_some(losses)
    }

    /// Why nothing may be opened.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        let state = self.state();
        state.another.as_ref().or(state.trouble.as_ref()).cloned()
    }

    /// Refuses what would rest on a ledger that is not to be trusted.
    pub(crate) fn trusted(&self) -> Result<(), SourceError> {
        self.trouble().map_or(Ok(()), |trouble| Err(trouble.error()))
    }

    /// While the ledger is known to be away, nobody waits for it: the show up finds out when it is back.
    pub(crate) fn in_reach(&self) -> Result<(), SourceError> {
        self.trusted()?;
        match self.loss() {
            None => Ok(()),
            Some(_) => Err(SourceError::new(ErrorKind::NoWitness, "the ledger is away")),
        }
    }

    /// Reads rows under the incarnation in force, which may turn out to be another one.
    pub(crate) async fn read(&self, counters: &[Counter]) -> Result<(Incarnation, Reading), SourceError> {
        self.in_reach()?;
        self.read_anyway(counters).await
    }

    /// The same for a counter of which another server has just begun a life: it did so through the ledger, so that this is
    /// back, whatever the show up has found as yet.
    pub(crate) async fn read_anyway(
        &self,
        counters: &[Counter],
    ) -> Result<(Incarnation, Reading), SourceError> {
        self.trusted()?;
        let mut under = self.incarnation();
        match self.limited("read", self.ledger.read(&under, counters)).await {
            Err(error) if error.kind() == ErrorKind::Reborn => {
                let _one_at_a_time = self.writing.lock().await;
                self.renew(&under).await?;
            }
            reading => return self.outcome(reading.map(|reading| (under, reading))),
        }
        under = self.incarnation();
        let reading = self.limited("read", self.ledger.read(&under, counters)).await;
        self.outcome(reading.map(|reading| (under, reading)))
    }

    /// One writing call. `under`: the incarnation that its asks rest on; when its turn comes and another one is in
    /// force, it fails with `Reborn` and writes nothing. The answer's version is marked for `slots`, or anywhere where there
    /// are none, before this returns, where `mark` says so.
    pub(crate) async fn write<A, T>(
        &self,
        step: &'static str,
        under: &Incarnation,
        (slots, mark): (&BTreeSet<SlotIndex>, bool),
        asks: &[A],
        call: Call<A, T>,
    ) -> Result<T, SourceError> {
        self.write_and_tell(step, under, (slots, mark), asks, call, |_| {}).await
    }

    /// The same; what the ledger answered is `told` before its version is marked: a store that hangs keeps nobody from what
    /// no id rests on.
    pub(crate) async fn write_and_tell<A, T>(
        &self,
        step: &'static str,
        under: &Incarnation,
        (slots, mark): (&BTreeSet<SlotIndex>, bool),
        asks: &[A],
        call: Call<A, T>,
        told: impl FnOnce(&T),
    ) -> Result<T, SourceError> {
        let loss = self.loss();
        let _one_at_a_time = self.writing.lock().await;
        if self.loss() != loss {
            // Lost while another call was waited for: that was wait enough.
            self.in_reach()?;
        }
        if !asks.is_empty() {
            self.still_rests_on(under)?;
        }
        let next = self.env.entropy.bits();
        let (under, nonces) = self.offer(next);
        let pass =
            Pass { under: &under, server: self.server, nonces: &nonces, next, epoch: self.layout.epoch };
        match self.limited(step, call(&*self.ledger, pass, asks)).await {
            Ok(answer) => {
                self.acknowledged(next, answer.version);
                told(&answer.value);
                self.own_again(&under).await?;
                if mark && self.marks.leave(answer.version, slots).await.is_err() {
                    self.set_trouble(Some(Trouble::Moved));
                    self.trusted()?;
                }
                if mark {
                    self.is_alone().await?;
                }
                Ok(answer.value)
            }
            Err(error) if error.kind() == ErrorKind::Reborn => {
                self.renew(&under).await?;
                Err(error)
            }
            Err(error) => {
                let is_refused = error.kind() == ErrorKind::Refused;
                if is_refused {
                    // First: what is told of the loss is why.
                    self.look_at_the_layout().await;
                }
                let outcome = self.outcome(Err(error));
                if is_refused {
                    self.trusted()?;
                }
                outcome
            }
        }
    }

    /// Another call may have found meanwhile that the ledger is another one, or that it went back.
    fn still_rests_on(&self, under: &Incarnation) -> Result<(), SourceError> {
        self.trusted()?;
        if self.speaks_as(under) || !self.rules.keep(Rule::SameLedger) {
            return Ok(());
        }
        let context = format!("the ledger is no longer {under}, which the asks rest on");
        Err(SourceError::new(ErrorKind::Reborn, context))
    }

    async fn limited<T>(
        &self,
        step: &'static str,
        call: impl Future<Output = Result<T, SourceError>>,
    ) -> Result<T, SourceError> {
        let limit = self.config.attempt_timeout;
        tokio::time::timeout(limit, call).await.unwrap_or_else(|_| {
            let context = format!("ledger {step}: no answer within {} ms", limit.as_millis());
            Err(SourceError::new(ErrorKind::Timeout, context))
        })
    }

    /// Makes `NoWitness` of a ledger that is away, and `LedgerBehind` of one that refuses, which is no shard's fault; and
    /// notes the loss.
    fn outcome<T>(&self, result: Result<T, SourceError>) -> Result<T, SourceError> {
        result.map_err(|error| match error.kind() {
            ErrorKind::Timeout | ErrorKind::Unavailable | ErrorKind::Contended => {
                self.lost(&error);
                SourceError::new(ErrorKind::NoWitness, "the ledger is away").because(error)
            }
            ErrorKind::Refused => {
                // As good as away: who holds permits goes on with them, and nobody asks, and burns ids, in vain.
                self.lost(&error);
                SourceError::new(ErrorKind::LedgerBehind, "the ledger refuses this server").because(error)
            }
            _ => error,
        })
    }

    /// Told once; and once more where a ledger that was silent answers, and refuses: a person has to act then.
    fn lost(&self, error: &SourceError) {
        let is_refused = error.kind() == ErrorKind::Refused;
        let mut state = self.state();
        let is_new = state.away_since.is_none();
        if is_new {
            state.away_since = Some(self.env.clock.now());
            state.losses += 1;
        }
        let is_news = is_new || is_refused && !state.refused;
        state.refused |= is_refused;
        drop(state);
        if is_new {
            self.news_of_loss.notify_waiters();
        }
        if is_news {
            self.env.events.emit(self.loss_of(error));
        }
    }

    /// The next time that the ledger is found to be away, once this was polled or enabled.
    pub(crate) fn next_loss(&self) -> Notified<'_> {
        self.news_of_loss.notified()
    }

    /// What is told of a ledger that can't be used: one that answers is not away, and may have said why it refuses.
    fn loss_of(&self, error: &SourceError) -> Event {
        let refused = error.kind() == ErrorKind::Refused;
        let relaid = self.trouble().filter(|trouble| refused && matches!(trouble, Trouble::Relaid { .. }));
        let why = relaid.map(|trouble| trouble.error());
        let detail = why.as_ref().map_or_else(|| error.to_string(), |why| why.context().to_owned());
        Event::LedgerLost { refused, detail }
    }

    fn offer(&self, next: u64) -> (Incarnation, Vec<u64>) {
        let mut state = self.state();
        let held: Vec<u64> = state.nonces.iter().copied().collect();
        if state.nonces.len() == NONCES_MAX {
            state.nonces.remove(NONCES_MAX / 2);
            state.some_dropped = true;
        }
        state.nonces.push_back(next);
        (state.incarnation.clone(), held)
    }

    fn acknowledged(&self, nonce: u64, version: u64) {
        let mut state = self.state();
        state.nonces = VecDeque::from([nonce]);
        state.some_dropped = false;
        // Of dense numbers the ledger need not say it.
        state.version = state.version.max(version);
        self.is_back(state);
    }

    /// It has answered: if it was away, that is over.
    fn is_back(&self, mut state: MutexGuard<'_, State>) {
        let Some(since) = state.away_since.take() else { return };
        state.refused = false;
        state.losses += 1;
        drop(state);
        let away = self.env.clock.now().saturating_duration_since(since);
        self.env.events.emit(Event::LedgerBack { away });
    }

    /// Notes what an appraisal found.
    pub(crate) fn set_trouble(&self, trouble: Option<Trouble>) {
        self.state().trouble = trouble;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
