//! The guard: one a cluster. Opens the guard, answers the counters' asks in merged calls, sends heartbeats, and closes.

mod advance;
mod batching;
mod dense;
mod dense_issued;
mod expire;
mod heartbeat;
mod high_water;
mod open;
mod outage;
mod regression_watch;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sequent_core::{
    BoxFuture, ErrorKind, Event, InstanceId, Key, Source, SourceError,
    ledger::{Counter, LayoutRecord, Reading, Word},
};
use tokio::sync::watch;

use crate::{
    LedgerFault,
    counter::{FirstValue, Guarded, Handle, PAGE},
    plausibility::beside_each,
    shard::Shard,
    status::{CounterStatus, GuardStatus},
};
pub use advance::Headroom;
pub(crate) use batching::{Answered, Ask, Shared};
pub(crate) use dense_issued::{Back, DenseIssued};
pub(crate) use regression_watch::Latest;

/// Asks waiting for the next ledger call; further ones wait to get in.
const ASKS_QUEUED_MAX: usize = 8192;

/// Raises in one ledger call; some ledgers take fewer.
pub(crate) const RAISES_MAX: usize = 4096;

/// How often a ledger that is away is tried.
const AWAY_RETRY: Duration = Duration::from_millis(250);

/// How often a process that ends tries to report: others may keep the ledger busy for a moment.
const LAST_REPORTS_MAX: usize = 4;

/// Counters that a status lists.
const STATUS_COUNTERS_MAX: usize = 1000;

type Registry = Mutex<BTreeMap<Counter, Arc<Guarded>>>;

/// The guard of one cluster in one process.
pub struct Guard {
    shared: Arc<Shared>,
    shards: Vec<Arc<Shard>>,
    layout: LayoutRecord,
    counters: Registry,
    words: watch::Sender<Vec<Word>>,
    catalog_version: watch::Sender<u64>,
    driver: Mutex<Option<BoxFuture<'static, ()>>>,
    dense: dense::Dense,
    dense_driver: Mutex<Option<BoxFuture<'static, ()>>>,
    closed: AtomicBool,
}

impl Guard {
    /// The layout in force.
    pub fn layout(&self) -> &LayoutRecord {
        &self.layout
    }

    /// Why nothing may be opened or raised, if so.
    pub fn trouble(&self) -> Option<LedgerFault> {
        self.shared.client.trouble()
    }

    /// What grants rest on: which run of the ledger speaks, and why it is not to be trusted, if so.
    pub fn footing(&self) -> (InstanceId, Option<LedgerFault>) {
        (self.shared.client.instance(), self.trouble())
    }

    /// The operators' words in force, as they were at the latest heartbeat.
    pub fn words(&self) -> watch::Receiver<Vec<Word>> {
        self.words.subscribe()
    }

    /// The version of the catalog of definitions, as it was at the latest heartbeat.
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
        self.shared.client.trusted()?;
        if self.closed.load(Ordering::Relaxed) {
            return Err(SourceError::new(ErrorKind::NoWitness, "the guard is closed"));
        }
        let counter = |shard: &Arc<Shard>| Counter { slot: shard.slot(), key: key.clone() };
        let asked: Vec<Counter> = self.shards.iter().map(counter).collect();
        let are_alive = asked.iter().all(|counter| self.registry().contains_key(counter));
        // Before their rows are read: what is heard meanwhile may not be in the answer, and is told only once.
        let counters: Vec<Arc<Guarded>> = self
            .shards
            .iter()
            .zip(&asked)
            .map(|(shard, counter)| self.guarded(shard, counter, raw_max))
            .collect();
        if !are_alive && let Err(error) = self.read_ahead(&asked, &counters).await {
            drop(counters);
            self.forget_unused(&asked);
            return Err(error);
        }
        let mut sources: Vec<Option<Arc<dyn Source>>> = vec![None; usize::from(self.layout.layout.slots())];
        for guarded in counters {
            if let Some(place) = sources.get_mut(usize::from(guarded.counter.slot)) {
                *place = Some(Arc::new(Handle::of(guarded)));
            }
        }
        Ok(sources)
    }

    /// Reads the rows of a key's counters in one call.
    async fn read_ahead(&self, asked: &[Counter], counters: &[Arc<Guarded>]) -> Result<(), SourceError> {
        let (_, Reading { rows, clock_ms }) = self.shared.client.read(asked).await?;
        self.shared.client.trusted()?;
        let beside = beside_each(&rows, clock_ms);
        let is_new = rows.iter().all(Option::is_none);
        let newborn = is_new.then(|| Arc::new(FirstValue::of(asked)));
        for ((guarded, row), beside) in counters.iter().zip(rows).zip(beside) {
            guarded.preread(row, (beside, newborn.clone()), clock_ms);
        }
        Ok(())
    }

    /// Forgets those that nobody uses, and which have nothing to report.
    fn forget_unused(&self, counters: &[Counter]) {
        let mut registry = self.registry();
        for counter in counters {
            if registry.get(counter).is_some_and(|guarded| is_done_with(guarded, 1)) {
                registry.remove(counter);
            }
        }
    }

    fn guarded(&self, shard: &Arc<Shard>, counter: &Counter, raw_max: u64) -> Arc<Guarded> {
        let new = || Guarded::new(counter.clone(), Arc::clone(&self.shared), Arc::clone(shard), raw_max);
        let guarded = Arc::clone(self.registry().entry(counter.clone()).or_insert_with(new));
        // It may be older than the definition that it is asked for by.
        guarded.reach_to(raw_max);
        if self.closed.load(Ordering::Relaxed) {
            // Closed since it was asked for: the last report knows nothing of it.
            guarded.shut();
        }
        guarded
    }

    fn registry(&self) -> MutexGuard<'_, BTreeMap<Counter, Arc<Guarded>>> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the last heartbeat, so that every `seen` is exact; nothing leaves afterwards.
    pub async fn close(&self) {
        if self.closed.swap(true, Ordering::Relaxed) {
            return;
        }
        self.registry().values().for_each(|guarded| guarded.shut());
        for _ in 0..LAST_REPORTS_MAX {
            self.heartbeat(Duration::ZERO).await;
            self.shared.client.marks.spread().await;
            if self.trouble().is_some() || self.unreported().await == 0 {
                return;
            }
            tokio::time::sleep(AWAY_RETRY).await;
        }
        let counters = self.unreported().await;
        if counters > 0 {
            self.shared.env.events.emit(Event::Unreported { counters });
        }
    }

    /// Counters with something left to report.
    async fn unreported(&self) -> usize {
        let (lists, mut walk, mut count) = (&self.shared.lists, self.shared.lists.unsaid.walk(), 0);
        while let Some(page) = lists.next(&mut walk, PAGE).await {
            count += page.iter().filter(|guarded| guarded.report(Duration::ZERO).is_some()).count();
        }
        count
    }

    /// What the guard knows, for people.
    pub fn status(&self) -> GuardStatus {
        let client = &self.shared.client;
        let trouble = client.trouble();
        // A ledger that says which layout it has is not away: this server is the one that is out of it.
        let is_relaid = matches!(
            trouble,
            Some(LedgerFault::Relaid { .. } | LedgerFault::Outrun { .. } | LedgerFault::Superseded { .. })
        );
        let away_since = client.away_since().filter(|_| !is_relaid);
        GuardStatus {
            ledger: client.instance(),
            version: client.version(),
            away: away_since.map(|since| self.shared.env.clock.now().saturating_duration_since(since)),
            trouble,
            unmarked: client.marks.unmarked(),
            dense_behind: client.given.behind(),
            stores: self.shards.iter().map(|shard| (shard.slot(), shard.instance(), shard.class())).collect(),
            unsaid: self.shared.lists.unsaid.len(),
            looks: self.shared.lists.looks(),
            counters: self
                .registry()
                .values()
                .take(STATUS_COUNTERS_MAX)
                .map(|g| CounterStatus::of(g))
                .collect(),
        }
    }
}

/// Whether nobody holds it but those `holders`, and it has nothing left to report.
fn is_done_with(guarded: &Arc<Guarded>, holders: usize) -> bool {
    Arc::strong_count(guarded) == holders
        && guarded.report(Duration::ZERO).is_none()
        && guarded.state().above.is_none()
}
