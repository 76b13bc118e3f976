//! The keeper: one a cluster. Opens the guard, answers the counters' asks in merged calls, shows up, and closes.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sequent_core::{
    BoxFuture, Env, ErrorKind, Incarnation, Key, Merge, Rule, Rules, SlotIndex, Source, SourceError, Stamp,
    ledger::{Counter, LayoutRecord, Opened, Opening as LifeOpening, Raise, Raised, ServerId, Word},
};
use tokio::sync::watch;

use crate::{
    GuardConfig, Opening, Trouble, admission,
    counter::{Guarded, Handle},
    desk::{Desk, DeskParts},
    marks::Marks,
    shard::Shard,
    status::{CounterStatus, KeeperStatus},
};

/// Asks waiting for the next ledger call; further ones wait to get in.
const ASKS_QUEUED_MAX: usize = 8192;

/// Raises in one ledger call.
const RAISES_MAX: usize = 4096;

/// How often a ledger that is away is tried.
const AWAY_RETRY: Duration = Duration::from_millis(250);

/// Counters that a status lists.
const STATUS_COUNTERS_MAX: usize = 1000;

/// What a counter asks of the ledger.
pub(crate) enum Ask {
    /// A new life.
    Open(LifeOpening),
    /// A higher ceiling, under the incarnation of the ledger that granted the permit.
    Raise(Incarnation, Raise),
}

/// What the ledger answered.
pub(crate) enum Answered {
    Opened(Opened),
    Raised(Raised),
}

impl Answered {
    pub(crate) fn opened(self) -> Result<Opened, SourceError> {
        match self {
            Self::Opened(opened) => Ok(opened),
            Self::Raised(_) => Err(mixed_up()),
        }
    }

    pub(crate) fn raised(self) -> Result<Raised, SourceError> {
        match self {
            Self::Raised(raised) => Ok(raised),
            Self::Opened(_) => Err(mixed_up()),
        }
    }
}

fn mixed_up() -> SourceError {
    SourceError::new(ErrorKind::Unavailable, "the ledger answered another ask")
}

/// What counters share.
pub(crate) struct Shared {
    pub(crate) desk: Arc<Desk>,
    pub(crate) config: GuardConfig,
    pub(crate) rules: Rules,
    pub(crate) env: Env,
    asks: Merge<Ask, Result<Answered, SourceError>>,
}

impl Shared {
    /// Joins the next ledger call.
    pub(crate) async fn ask(&self, ask: Ask) -> Result<Answered, SourceError> {
        let closed = |error| SourceError::new(ErrorKind::NoWitness, "the guard is closed").because(error);
        self.asks.ask(ask).await.map_err(closed)?
    }
}

type Registry = Mutex<BTreeMap<Counter, Arc<Guarded>>>;

/// The guard of one cluster in one process.
pub struct Keeper {
    shared: Arc<Shared>,
    shards: Vec<Arc<Shard>>,
    layout: LayoutRecord,
    counters: Arc<Registry>,
    words: watch::Sender<Vec<Word>>,
    catalog_version: watch::Sender<u64>,
    driver: Mutex<Option<BoxFuture<'static, ()>>>,
    closed: AtomicBool,
}

impl Keeper {
    /// Opens the guard: checks the layout, the stamps and the marks, and enlists this server.
    ///
    /// Returns the slots that could not be admitted now, with the reason: those `Unavailable` may come back, those
    /// `Refused` need a person.
    ///
    /// # Errors
    ///
    /// `Refused`: the layout, or two slots on one store; nothing was touched. `LedgerBehind`: everything moved at once.
    /// `NoWitness`: the ledger is away.
    pub async fn open(opening: Opening) -> Result<(Arc<Self>, Vec<(SlotIndex, SourceError)>), SourceError> {
        let Opening { ledger, shards, first, home, embedded, config, env, rules } = opening;
        let limit = config.attempt_timeout;
        let inspection = limited(limit, "inspect", ledger.inspect()).await?;
        let held = limited(limit, "read of the layout", admission::layout(&*ledger, &first)).await?;
        let epoch = held.as_ref().map_or(first.epoch, |held| held.epoch);
        let stamp = |slot| Stamp {
            ledger: inspection.id,
            cluster: first.cluster.clone(),
            layout: first.layout,
            slot,
            epoch,
        };
        let shards: Vec<Arc<Shard>> = shards
            .into_iter()
            .map(|(slot, store)| {
                Arc::new(Shard::new(store, stamp(slot), Arc::clone(&ledger), env.events.clone()))
            })
            .collect();
        let looks = admission::look(&shards).await;
        admission::no_two_on_one(&looks)?;
        let known = limited(limit, "read of the incarnations on record", ledger.known()).await?;
        if embedded && admission::have_all_moved(&known, &inspection.incarnation, &looks) {
            return Err(Trouble::Moved.error());
        }
        for (slot, incarnation) in known.stores {
            shards
                .iter()
                .filter(|shard| shard.slot() == slot)
                .for_each(|shard| shard.recall(incarnation.clone()));
        }
        let mut outside = Vec::new();
        let mut admissible = Vec::new();
        for (shard, look) in looks {
            match look.and_then(|found| shard.check(&found).map(|()| found)) {
                Ok(found) => admissible.push((shard, found)),
                Err(error) => outside.push((shard.slot(), error)),
            }
        }
        let marks = Marks::new(shards.clone(), home, env.events.clone());
        let (server, nonce) = (ServerId::random(&*env.entropy), env.entropy.bits());
        let under = inspection.incarnation.clone();
        let parts = DeskParts {
            ledger: Arc::clone(&ledger),
            server,
            nonce,
            inspection: inspection.clone(),
            epoch,
            embedded,
            config,
            rules,
            env: env.clone(),
            marks,
            shards: shards.clone(),
        };
        let desk = Arc::new(Desk::new(parts));
        let trouble = desk.compare_with_marks(&inspection).await;
        desk.set_trouble(trouble.clone());
        if outside.iter().any(|(_, error)| error.kind() == ErrorKind::Refused) {
            return Ok((Self::assemble(desk, shards, first, config, rules, env), outside));
        }
        let layout = match held {
            Some(held) => held,
            None => limited(limit, "founding", ledger.found(&first)).await?,
        };
        limited(limit, "enlist", ledger.enlist(&under, server, nonce)).await?;
        if trouble.is_none() {
            limited(limit, "record", ledger.record(&under, None, &under)).await?;
        }
        for (shard, found) in admissible {
            if let Err(error) = shard.accept(&found, &under).await {
                outside.push((shard.slot(), error));
            }
        }
        Ok((Self::assemble(desk, shards, layout, config, rules, env), outside))
    }

    fn assemble(
        desk: Arc<Desk>,
        shards: Vec<Arc<Shard>>,
        layout: LayoutRecord,
        config: GuardConfig,
        rules: Rules,
        env: Env,
    ) -> Arc<Self> {
        let counters: Arc<Registry> = Arc::default();
        let (clerk, registry) = (Arc::clone(&desk), Arc::clone(&counters));
        let (asks, driver) = Merge::new(ASKS_QUEUED_MAX, RAISES_MAX, move |asks: Vec<Ask>| {
            let (clerk, registry) = (Arc::clone(&clerk), Arc::clone(&registry));
            Box::pin(async move { answer(&clerk, &registry, rules, asks).await })
        });
        let shared = Arc::new(Shared { desk, config, rules, env, asks });
        Arc::new(Self {
            shared,
            shards,
            layout,
            counters,
            words: watch::Sender::new(Vec::new()),
            catalog_version: watch::Sender::new(0),
            driver: Mutex::new(Some(Box::pin(driver))),
            closed: AtomicBool::new(false),
        })
    }

    /// The layout in force.
    pub fn layout(&self) -> &LayoutRecord {
        &self.layout
    }

    /// Why nothing may be opened or raised, if so.
    pub fn trouble(&self) -> Option<Trouble> {
        self.shared.desk.trouble()
    }

    /// The operators' words in force, as they were at the latest show up.
    pub fn words(&self) -> watch::Receiver<Vec<Word>> {
        self.words.subscribe()
    }

    /// The version of the catalog of definitions, as it was at the latest show up.
    pub fn catalog_version(&self) -> watch::Receiver<u64> {
        self.catalog_version.subscribe()
    }

    /// The counters of a key as sources of raw ids up to `raw_max`, by slot; `None` for an empty slot. Their rows are
    /// read in one ledger call.
    ///
    /// # Errors
    ///
    /// `NoWitness` where the ledger is away, unless the key is still alive here; `LedgerBehind`.
    pub async fn counters(
        &self,
        key: &Key,
        raw_max: u64,
    ) -> Result<Vec<Option<Arc<dyn Source>>>, SourceError> {
        self.shared.desk.trusted()?;
        let counter = |shard: &Arc<Shard>| Counter { slot: shard.slot(), key: key.clone() };
        let asked: Vec<Counter> = self.shards.iter().map(counter).collect();
        let alive = asked.iter().all(|counter| self.registry().contains_key(counter));
        let (rows, clock_ms) = if alive {
            (vec![None; asked.len()], 0)
        } else {
            let (_, reading) = self.shared.desk.read(&asked).await?;
            self.shared.desk.trusted()?;
            (reading.rows, reading.clock_ms)
        };
        let mut sources: Vec<Option<Arc<dyn Source>>> = vec![None; usize::from(self.layout.layout.slots())];
        for ((shard, counter), row) in self.shards.iter().zip(asked).zip(rows) {
            let slot = usize::from(counter.slot);
            let guarded = self.guarded(shard, &counter, raw_max);
            guarded.preread(row, clock_ms);
            if let Some(place) = sources.get_mut(slot) {
                *place = Some(Arc::new(Handle(guarded)));
            }
        }
        Ok(sources)
    }

    fn guarded(&self, shard: &Arc<Shard>, counter: &Counter, raw_max: u64) -> Arc<Guarded> {
        let new =
            || Arc::new(Guarded::new(counter.clone(), Arc::clone(&self.shared), Arc::clone(shard), raw_max));
        Arc::clone(self.registry().entry(counter.clone()).or_insert_with(new))
    }

    fn registry(&self) -> MutexGuard<'_, BTreeMap<Counter, Arc<Guarded>>> {
        locked(&self.counters)
    }

    /// Answers asks and shows up, until it is dropped. To be spawned once.
    pub async fn run(self: Arc<Self>) {
        let driver = self.driver.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(driver) = driver else { return };
        let showing_up = async {
            loop {
                let away = self.shared.desk.away_since().is_some();
                let every = self.shared.config.show_up_every;
                tokio::time::sleep(if away { AWAY_RETRY.min(every) } else { every }).await;
                self.show_up(self.shared.config.ahead).await;
            }
        };
        tokio::select! {
            () = driver => {}
            () = showing_up => {}
        }
    }

    /// One call for all permits: raises ahead, reports, and what others said meanwhile.
    async fn show_up(&self, ahead: Duration) {
        let mut reports: Vec<(Arc<Guarded>, Raise)> = Vec::new();
        for guarded in self.registry().values() {
            if let Some(report) = guarded.report(ahead) {
                reports.push((Arc::clone(guarded), report));
            }
        }
        let mut rest = &reports[..];
        loop {
            let (batch, after) = rest.split_at(rest.len().min(RAISES_MAX));
            if !self.report(batch).await {
                return;
            }
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        self.forget_the_dropped();
        if self.registry().values().any(|guarded| guarded.owes()) {
            // Ids that left between the gathering of the first call and its answer: the ledger is back, so the next
            // raise of each counter would carry them, but a counter may rest.
            let owed = self.owed();
            self.report(&owed).await;
        }
    }

    fn owed(&self) -> Vec<(Arc<Guarded>, Raise)> {
        let registry = self.registry();
        let owing = registry.values().filter(|guarded| guarded.owes()).take(RAISES_MAX);
        owing.filter_map(|guarded| Some((Arc::clone(guarded), guarded.report(Duration::ZERO)?))).collect()
    }

    async fn report(&self, batch: &[(Arc<Guarded>, Raise)]) -> bool {
        let raises: Vec<Raise> = batch.iter().map(|(_, raise)| raise.clone()).collect();
        let slots = slots_of(raises.iter().filter(|raise| raise.ceiling > 0).map(|raise| &raise.counter));
        let mark = self.shared.rules.keep(Rule::MarkRaises);
        let desk = &self.shared.desk;
        let shown =
            desk.write("show up", (&slots, mark), &raises, |ledger, pass, asks| ledger.show_up(pass, asks));
        let Ok(presence) = shown.await else { return false };
        for ((guarded, raise), raised) in batch.iter().zip(&presence.raised) {
            guarded.learn(raise, raised);
        }
        publish(&self.words, presence.words);
        publish(&self.catalog_version, presence.catalog_version);
        true
    }

    /// Counters whose key is gone, and which have nothing left to report, are forgotten.
    fn forget_the_dropped(&self) {
        let ahead = Duration::ZERO;
        self.registry()
            .retain(|_, guarded| Arc::strong_count(guarded) > 1 || guarded.report(ahead).is_some());
    }

    /// Shows up for the last time, so that every `seen` is exact; nothing leaves afterwards.
    pub async fn close(&self) {
        if self.closed.swap(true, Ordering::Relaxed) {
            return;
        }
        self.registry().values().for_each(|guarded| guarded.shut());
        self.show_up(Duration::ZERO).await;
    }

    /// What the guard knows, for people.
    pub fn status(&self) -> KeeperStatus {
        let desk = &self.shared.desk;
        let away_since = desk.away_since();
        KeeperStatus {
            ledger: desk.incarnation(),
            version: desk.version(),
            away: away_since.map(|since| self.shared.env.clock.now().saturating_duration_since(since)),
            trouble: desk.trouble(),
            unmarked: desk.marks.unmarked(),
            stores: self
                .shards
                .iter()
                .map(|shard| (shard.slot(), shard.incarnation(), shard.class()))
                .collect(),
            counters: self
                .registry()
                .values()
                .take(STATUS_COUNTERS_MAX)
                .map(|g| CounterStatus::of(g))
                .collect(),
        }
    }
}

fn publish<T: PartialEq>(sender: &watch::Sender<T>, value: T) {
    sender.send_if_modified(|held| {
        let changed = *held != value;
        *held = value;
        changed
    });
}

fn locked(registry: &Registry) -> MutexGuard<'_, BTreeMap<Counter, Arc<Guarded>>> {
    registry.lock().unwrap_or_else(PoisonError::into_inner)
}

fn slots_of<'a>(counters: impl Iterator<Item = &'a Counter>) -> BTreeSet<SlotIndex> {
    counters.map(|counter| counter.slot).collect()
}

pub(crate) async fn limited<T>(
    limit: Duration,
    step: &str,
    call: impl Future<Output = Result<T, SourceError>>,
) -> Result<T, SourceError> {
    let answer = tokio::time::timeout(limit, call).await.unwrap_or_else(|_| {
        let context = format!("ledger {step}: no answer within {} ms", limit.as_millis());
        Err(SourceError::new(ErrorKind::Timeout, context))
    });
    answer.map_err(|error| match error.kind() {
        ErrorKind::Timeout | ErrorKind::Unavailable | ErrorKind::Contended => {
            SourceError::new(ErrorKind::NoWitness, "the ledger is away").because(error)
        }
        _ => error,
    })
}

/// Answers a batch of asks: one call for its openings, one for its raises.
async fn answer(
    desk: &Desk,
    registry: &Registry,
    rules: Rules,
    asks: Vec<Ask>,
) -> Vec<Result<Answered, SourceError>> {
    let mut answers: Vec<Option<Result<Answered, SourceError>>> = asks.iter().map(|_| None).collect();
    let (mut openings, mut claims) = (Vec::new(), Vec::new());
    for (at, ask) in asks.into_iter().enumerate() {
        match ask {
            Ask::Open(opening) => openings.push((at, opening)),
            Ask::Raise(under, raise) => claims.push((at, under, raise)),
        }
    }
    if !openings.is_empty() {
        let (places, openings): (Vec<usize>, Vec<LifeOpening>) = openings.into_iter().unzip();
        let opened = open(desk, &openings).await.map(|all| all.into_iter().map(Answered::Opened).collect());
        deal(&mut answers, &places, opened);
    }
    claims.retain(|(at, under, _)| {
        let current = desk.speaks_as(under) || !rules.keep(Rule::SameLedger);
        if !current {
            answers[*at] = Some(Ok(Answered::Raised(Raised::Ended)));
        }
        current
    });
    if !claims.is_empty() {
        let places: Vec<usize> = claims.iter().map(|(at, ..)| *at).collect();
        let claims: Vec<Raise> = claims.into_iter().map(|(.., raise)| raise).collect();
        let outcome = raise(desk, registry, rules, claims).await;
        deal(&mut answers, &places, outcome.map(|all| all.into_iter().map(Answered::Raised).collect()));
    }
    answers.into_iter().map(|answer| answer.unwrap_or_else(|| Err(mixed_up()))).collect()
}

fn deal(
    answers: &mut [Option<Result<Answered, SourceError>>],
    places: &[usize],
    outcome: Result<Vec<Answered>, SourceError>,
) {
    match outcome {
        Ok(all) => places.iter().zip(all).for_each(|(at, answer)| answers[*at] = Some(Ok(answer))),
        Err(error) => places.iter().for_each(|at| answers[*at] = Some(Err(error.clone()))),
    }
}

/// While the ledger is known to be away, nobody waits for it: the show up finds out when it is back.
fn in_reach(desk: &Desk) -> Result<(), SourceError> {
    desk.trusted()?;
    match desk.loss() {
        None => Ok(()),
        Some(_) => Err(SourceError::new(ErrorKind::NoWitness, "the ledger is away")),
    }
}

async fn open(desk: &Desk, openings: &[LifeOpening]) -> Result<Vec<Opened>, SourceError> {
    in_reach(desk)?;
    let slots = slots_of(openings.iter().map(|opening| &opening.counter));
    desk.write("open", (&slots, true), openings, |ledger, pass, asks| ledger.open(pass, asks)).await
}

/// Raises, and with them whatever left without the ledger and has not been witnessed yet.
async fn raise(
    desk: &Desk,
    registry: &Registry,
    rules: Rules,
    mut claims: Vec<Raise>,
) -> Result<Vec<Raised>, SourceError> {
    in_reach(desk)?;
    let asked = claims.len();
    let owing: Vec<Arc<Guarded>> =
        locked(registry).values().filter(|guarded| guarded.owes()).cloned().collect();
    let owed: Vec<(Arc<Guarded>, Raise)> =
        owing.into_iter().filter_map(|g| g.report(Duration::ZERO).map(|raise| (g, raise))).collect();
    claims.extend(owed.iter().map(|(_, raise)| raise.clone()));
    claims.truncate(RAISES_MAX);
    let slots = slots_of(claims.iter().map(|raise| &raise.counter));
    let mark = rules.keep(Rule::MarkRaises);
    let mut outcome =
        desk.write("raise", (&slots, mark), &claims, |ledger, pass, asks| ledger.raise(pass, asks)).await?;
    for ((guarded, raise), raised) in owed.iter().zip(outcome.iter().skip(asked)) {
        guarded.learn(raise, raised);
    }
    outcome.truncate(asked);
    Ok(outcome)
}
