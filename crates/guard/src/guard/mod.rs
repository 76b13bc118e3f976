//! Guard: one per cluster. It opens, answers the counters' requests in merged calls, sends heartbeats, and closes.

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
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering},
    time::Duration,
};

use sequent_core::{
    BoxFuture, ErrorKind, Event, InstanceId, Key, Source, SourceError,
    ledger::{Counter, LayoutRecord, Reading, SlotCommand},
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

/// The most requests that wait for the next ledger call. Further ones wait to get in.
const ASKS_QUEUED_MAX: usize = 8192;

/// The most raises in one ledger call. Some ledgers take fewer.
pub(crate) const RAISES_MAX: usize = 4096;

/// The interval of retries while the ledger is away.
const AWAY_RETRY: Duration = Duration::from_millis(250);

/// The most attempts of a process that ends to report, since others may lock the ledger for a moment.
const LAST_REPORTS_MAX: usize = 4;

/// The most counters listed in a status.
const STATUS_COUNTERS_MAX: usize = 1000;

type Registry = Mutex<BTreeMap<Counter, Arc<Guarded>>>;

/// The guard of one cluster in one process.
pub struct Guard {
    shared: Arc<Shared>,
    shards: Vec<Arc<Shard>>,
    layout: LayoutRecord,
    counters: Registry,
    words: watch::Sender<Vec<SlotCommand>>,
    catalog_version: watch::Sender<u64>,
    driver: Mutex<Option<BoxFuture<'static, ()>>>,
    dense: dense::Dense,
    dense_driver: Mutex<Option<BoxFuture<'static, ()>>>,
    /// The ledger's instance of the last heartbeat.
    reported_under: Mutex<InstanceId>,
}

impl Guard {
    /// The layout in force.
    pub fn layout(&self) -> &LayoutRecord {
        &self.layout
    }

    /// Why nothing may be opened or raised; `None` if all is well.
    pub fn trouble(&self) -> Option<LedgerFault> {
        self.shared.client.trouble()
    }

    /// Fails if the ledger is not trusted.
    pub fn trusted(&self) -> Result<(), SourceError> {
        self.shared.client.trusted()
    }

    /// What grants depend on: the ledger's instance, and its fault, if any.
    pub fn ledger_state(&self) -> (InstanceId, Option<LedgerFault>) {
        (self.shared.client.instance(), self.trouble())
    }

    /// The slot commands in force, as of the latest heartbeat.
    pub fn words(&self) -> watch::Receiver<Vec<SlotCommand>> {
        self.words.subscribe()
    }

    /// The version of the catalog of definitions, as of the latest heartbeat. Each heartbeat marks it as changed.
    pub fn catalog_version(&self) -> watch::Receiver<u64> {
        self.catalog_version.subscribe()
    }

    /// The counters of a key as sources of raw ids up to `raw_max`, by slot; `None` for a slot without a store, or whose store
    /// can't hold the key. Their rows are read in one ledger call.
    ///
    /// # Errors
    ///
    /// `NoWitness` if the ledger is away, unless the key is still alive here; `LedgerBehind` if it is not trusted.
    pub async fn counters(
        &self,
        key: &Key,
        raw_max: u64,
    ) -> Result<Vec<Option<Arc<dyn Source>>>, SourceError> {
        self.shared.client.trusted()?;
        if self.shared.is_closed() {
            return Err(SourceError::new(ErrorKind::NoWitness, "the guard is closed"));
        }
        let cell = key.in_generation(self.shared.client.generation());
        let shards = || self.shards.iter().filter(|shard| shard.store().holds(&cell).is_ok());
        let counter = |shard: &Arc<Shard>| Counter { slot: shard.slot(), key: key.clone() };
        let asked: Vec<Counter> = shards().map(counter).collect();
        let are_alive = asked.iter().all(|counter| self.registry().contains_key(counter));
        // Created before their rows are read: a report heard meanwhile may be missing in the answer, and comes only once.
        let counters: Vec<Arc<Guarded>> =
            shards().zip(&asked).map(|(shard, counter)| self.guarded(shard, counter, raw_max)).collect();
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

    /// Forgets counters without users that have nothing to report.
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
        // It may be older than the definition of this call.
        guarded.reach_to(raw_max);
        guarded
    }

    fn registry(&self) -> MutexGuard<'_, BTreeMap<Counter, Arc<Guarded>>> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the last heartbeat, so that every `seen` is exact. Nothing leaves afterwards.
    pub async fn close(&self) {
        if self.shared.closed.swap(true, Ordering::Relaxed) {
            return;
        }
        for _ in 0..LAST_REPORTS_MAX {
            self.heartbeat(Duration::ZERO).await;
            self.shared.client.spread_marks().await;
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

    /// The number of counters with something left to report.
    async fn unreported(&self) -> usize {
        let (lists, mut walk, mut count) = (&self.shared.lists, self.shared.lists.unsaid.walk(), 0);
        while let Some(page) = lists.next(&mut walk, PAGE).await {
            count += page.iter().filter(|guarded| guarded.report(Duration::ZERO).is_some()).count();
        }
        count
    }

    /// The status of the guard.
    pub fn status(&self) -> GuardStatus {
        let client = &self.shared.client;
        let trouble = client.trouble();
        // A ledger that refuses because of its layout or instance is not away; this server is out of date.
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

/// Whether only `holders` references are left, and nothing has to be reported.
fn is_done_with(guarded: &Arc<Guarded>, holders: usize) -> bool {
    Arc::strong_count(guarded) == holders
        && guarded.report(Duration::ZERO).is_none()
        && guarded.state().above.is_none()
}
