//! Marks: the ledger's version kept on shards and in the data directory, where restoring the ledger does not reach.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use sequent_core::{
    DurabilityClass, Era, ErrorKind, Event, Events, InstanceId, Mark, MarkPlace, SlotIndex, SourceError,
};
use tokio::{task::JoinSet, time::timeout};

use crate::shard::Shard;

mod placement;

use placement::covers;

/// After this time without an answer, further shards are asked in parallel.
const SLOW_BEARER: Duration = Duration::from_millis(200);

/// The least number of shards of which one alone witnesses dense numbers.
const WITNESSES_MIN: usize = 2;

/// The places for marks: the shards, durable ones first, and the server's data directory.
pub(crate) struct Marks {
    shards: Vec<Arc<Shard>>,
    home: Option<Arc<dyn MarkPlace>>,
    /// The layout under which versions are marked.
    era: Era,
    /// The time limit of a mark in the data directory.
    limit: Duration,
    events: Events,
    /// The version that the data directory takes at the next heartbeat; 0 if it has the last one.
    home_due: AtomicU64,
    /// The version marked last, and the slots whose stores have it.
    left: Mutex<(u64, BTreeSet<SlotIndex>)>,
    /// The slots whose stores recently failed to take a mark, or to do so in time.
    shunned: Arc<Mutex<BTreeMap<SlotIndex, Excluded>>>,
    unmarked: AtomicU64,
    /// The last version counted as marked on no other shard.
    given_up: AtomicU64,
    /// Whether the last version is marked where it must be. A failure is reported once, until the next success.
    borne: Witnessed,
    /// The highest mark found on any shard when it was asked to take one.
    met: Arc<AtomicU64>,
    /// The number of marks requested: it decides whose turn it is, and for how long a shard is tried last.
    marked: AtomicUsize,
}

/// A shard that is tried last for a while.
#[derive(Clone, Copy)]
struct Excluded {
    /// The number of marks requested when it failed or was slow.
    at: usize,
    /// Whether it did not answer. If no other shard is left, it is not waited for long.
    silent: bool,
}

/// Whether another shard, and the data directory, took the last version.
struct Witnessed {
    elsewhere: AtomicBool,
    home: AtomicBool,
}

impl Marks {
    pub(crate) fn new(
        shards: Vec<Arc<Shard>>,
        (home, era): (Option<Arc<dyn MarkPlace>>, Era),
        limit: Duration,
        events: Events,
    ) -> Self {
        let (left, shunned, unmarked) = (Mutex::default(), Arc::default(), AtomicU64::new(0));
        let given_up = AtomicU64::new(0);
        let borne = Witnessed { elsewhere: AtomicBool::new(true), home: AtomicBool::new(true) };
        let (met, marked, home_due) = (Arc::default(), AtomicUsize::new(0), AtomicU64::new(0));
        Self {
            shards,
            home,
            era,
            limit,
            events,
            home_due,
            left,
            shunned,
            unmarked,
            given_up,
            borne,
            met,
            marked,
        }
    }

    /// The highest mark found on a shard.
    pub(crate) fn met(&self) -> u64 {
        self.met.load(Ordering::Relaxed)
    }

    /// How many versions could be marked on no other shard.
    pub(crate) fn unmarked(&self) -> u64 {
        self.unmarked.load(Ordering::Relaxed)
    }

    /// Marks `version` in the data directory and, for each of `slots`, on the store of another slot; with empty `slots`, on any
    /// store. Returns whether enough stores have it, or for a ring without stores, whether the data directory has it.
    ///
    /// The data directory is rewritten even if it has the version already, so that an older copy of it always differs.
    ///
    /// A version that could not be marked is reported, but ids leave all the same: a mark matters only once the ledger itself
    /// is lost, and until then the remaining shards must serve. Dense numbers do not leave, since no cell knows of them.
    ///
    /// # Errors
    ///
    /// `LedgerBehind` if the data directory finds that it was copied.
    pub(crate) async fn leave(&self, version: u64, slots: &BTreeSet<SlotIndex>) -> Result<bool, SourceError> {
        let (at_home, elsewhere) = tokio::join!(self.at_home(version), self.elsewhere(version, slots));
        Ok(self.judge(version, elsewhere, at_home?.is_some()))
    }

    /// Marks `version`, whose dense numbers leave on the strength of it, on a store. The data directory takes it with the next
    /// [`spread`](Self::spread), since its file costs several times what a store's mark costs. It takes it at once if a single
    /// shard, which may be on the ledger's server, or no durable one has it.
    ///
    /// # Errors
    ///
    /// `LedgerBehind` if the data directory finds that it was copied.
    pub(crate) async fn witness(&self, version: u64) -> Result<bool, SourceError> {
        if self.shards.len() < WITNESSES_MIN {
            return self.leave(version, &BTreeSet::new()).await;
        }
        let elsewhere = self.elsewhere(version, &BTreeSet::new()).await;
        if elsewhere && self.is_borne_durably() {
            self.home_due.fetch_max(version, Ordering::Relaxed);
            self.tell(version, true, self.borne.home.load(Ordering::Relaxed));
            return Ok(true);
        }
        let at_home = self.at_home(version).await?.is_some();
        Ok(self.judge(version, elsewhere, at_home))
    }

    /// Whether `version` is marked on the stores of other slots than `slots`, after it was tried where it is not.
    async fn elsewhere(&self, version: u64, slots: &BTreeSet<SlotIndex>) -> bool {
        if self.has_left(version, slots) {
            return true;
        }
        let borne = self.leave_on(version, slots, self.candidates(slots)).await;
        let covered = covers(&borne, slots);
        let mut left = self.left();
        // A slow mark may come after a later version's.
        if covered && version >= left.0 {
            *left = (version, borne);
        }
        covered
    }

    /// Whether a durable store has the version marked last.
    fn is_borne_durably(&self) -> bool {
        let left = self.left();
        let durable = |shard: &&Arc<Shard>| shard.class() == DurabilityClass::Durable;
        self.shards.iter().filter(durable).any(|shard| left.1.contains(&shard.slot()))
    }

    /// Reports what took `version`, and decides whether that is enough.
    fn judge(&self, version: u64, elsewhere: bool, at_home: bool) -> bool {
        self.tell(version, elsewhere, at_home);
        elsewhere || at_home && self.shards.is_empty() && self.home.is_some()
    }

    /// Marks `version` everywhere again, although it was marked before: a store may have been set back since. This includes
    /// stores that were not admitted again but have their stamp. The next [`spread`](Self::spread) reaches the others.
    ///
    /// # Errors
    ///
    /// `LedgerBehind` if the data directory finds that it was copied.
    pub(crate) async fn leave_anew(&self, version: u64) -> Result<bool, SourceError> {
        *self.left() = <_>::default();
        let mut asked = JoinSet::new();
        for shard in self.shards.iter().filter(|shard| !shard.is_admitted()).map(Arc::clone) {
            // A store that is unreachable now is admitted again before anybody reads its mark.
            asked.spawn(async move { drop(shard.bear_stamped(version).await) });
        }
        let _done = asked.join_all().await;
        self.leave(version, &BTreeSet::new()).await
    }

    /// Counts each version marked on no other shard. A failure, also of the data directory, is reported once until the next
    /// success. With a single shard only the data directory can hold marks.
    fn tell(&self, version: u64, elsewhere: bool, home: bool) {
        let ceased = |bears: &AtomicBool, now: bool| bears.swap(now, Ordering::Relaxed) && !now;
        let (elsewhere_ceased, home_ceased) =
            (ceased(&self.borne.elsewhere, elsewhere), ceased(&self.borne.home, home));
        if !elsewhere && self.given_up.swap(version, Ordering::Relaxed) != version {
            self.unmarked.fetch_add(1, Ordering::Relaxed);
        }
        let home_alone = self.shards.len() == 1 && self.home.is_some();
        if home_ceased || elsewhere_ceased && !home_alone {
            self.events.emit(Event::Unmarked { version, elsewhere, home });
        }
    }

    /// The data directory's mark; empty without a data directory. `None` if it cannot be read or written in time.
    async fn at_home(&self, version: u64) -> Result<Option<Mark>, SourceError> {
        let Some(home) = &self.home else { return Ok(Some(Mark::default())) };
        match timeout(self.limit, home.bear(version, Some(self.era))).await {
            Ok(Err(error)) if error.kind() == ErrorKind::LedgerBehind => Err(error),
            Ok(Ok(held)) => {
                let is_due = |due| (due <= held.version).then_some(0);
                let _is_taken = self.home_due.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_due);
                Ok(Some(held))
            }
            Ok(Err(_)) | Err(_) => Ok(None),
        }
    }

    /// Marks the last version in the data directory and on every shard that lack it. It is called at each heartbeat, so that all
    /// have all but the latest versions: a few shards alone may be on the ledger's own machine and go back with it. Slow shards
    /// are not waited for.
    ///
    /// # Errors
    ///
    /// `LedgerBehind` if the data directory finds that it was copied.
    pub(crate) async fn spread(&self) -> Result<(), SourceError> {
        let due = self.home_due.load(Ordering::Relaxed);
        if due > 0 {
            let at_home = self.at_home(due).await?.is_some();
            // Stores have that version.
            if self.borne.home.swap(at_home, Ordering::Relaxed) && !at_home {
                self.events.emit(Event::Unmarked { version: due, elsewhere: true, home: false });
            }
        }
        let (version, borne) = self.left().clone();
        let lacks = |shard: &&Arc<Shard>| shard.is_admitted() && !borne.contains(&shard.slot());
        if version > 0 {
            self.leave_in_time(version, self.shards.iter().filter(lacks), None).await;
        }
        Ok(())
    }

    /// Marks `version` in the data directory and on every shard, whatever their marks are, and returns the highest mark that a
    /// shard had before. Servers of a copy of this ledger, or of the original, then find the version there.
    ///
    /// Slow or unadmitted shards get it at a later [`spread`](Self::spread).
    ///
    /// # Errors
    ///
    /// `LedgerBehind` if the data directory finds that it was copied.
    pub(crate) async fn claim(&self, version: u64) -> Result<u64, SourceError> {
        *self.left() = (version, BTreeSet::new());
        self.at_home(version).await?;
        let before = Arc::new(AtomicU64::new(0));
        self.leave_in_time(version, self.shards.iter(), Some(&before)).await;
        Ok(before.load(Ordering::Relaxed))
    }

    /// Marks in parallel. With `before`, each shard's previous mark is read first, and the highest is stored there.
    async fn leave_in_time(
        &self,
        version: u64,
        shards: impl Iterator<Item = &Arc<Shard>>,
        before: Option<&Arc<AtomicU64>>,
    ) {
        let mut asked = JoinSet::new();
        shards.for_each(|shard| self.ask(&mut asked, Arc::clone(shard), version, before.map(Arc::clone)));
        let answers = async {
            while let Some(answer) = asked.join_next().await {
                let Ok((slot, true)) = answer else { continue };
                let mut left = self.left();
                if left.0 == version {
                    left.1.insert(slot);
                }
            }
        };
        // Running out of time is no error: those shards are asked again, or have noted their answers by then.
        let _in_time = timeout(SLOW_BEARER, answers).await;
        asked.detach_all();
    }

    /// Admits the stores that are not in use and can be admitted now. Returns the highest of their marks.
    pub(crate) async fn admit(&self, under: &InstanceId) -> u64 {
        let (mut asked, limit) = (JoinSet::new(), self.limit);
        for shard in self.shards.iter().filter(|shard| !shard.is_admitted()).map(Arc::clone) {
            let under = under.clone();
            asked.spawn(async move { timeout(limit, shard.admit(&under)).await });
        }
        let admitted = asked.join_all().await.into_iter().flatten().flatten();
        admitted.filter_map(|(_, mark)| mark).max().unwrap_or(0)
    }

    /// Reads the marks of the data directory and of all reachable shards without another ledger's stamp. Returns the highest,
    /// and that of the data directory.
    ///
    /// # Errors
    ///
    /// `LedgerBehind` if the data directory finds that it was copied.
    pub(crate) async fn read(&self) -> Result<(u64, Mark), SourceError> {
        let home = self.at_home(0).await?.unwrap_or_default();
        let mut highest = home.version;
        let own = self.shards.iter().filter(|shard| !shard.is_foreign());
        for asked in own.map(|shard| tokio::spawn(read_one(Arc::clone(shard)))).collect::<Vec<_>>() {
            let held = asked.await.unwrap_or(0);
            self.met.fetch_max(held, Ordering::Relaxed);
            highest = highest.max(held);
        }
        Ok((highest, home))
    }

    fn left(&self) -> MutexGuard<'_, (u64, BTreeSet<SlotIndex>)> {
        locked(&self.left)
    }

    fn has_left(&self, version: u64, slots: &BTreeSet<SlotIndex>) -> bool {
        let left = self.left();
        left.0 == version && covers(&left.1, slots)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a shard's mark, with one retry after a timeout or a changed instance: one lost message must not hide the only mark
/// that proves a loss.
async fn read_one(shard: Arc<Shard>) -> u64 {
    match shard.borne().await {
        Err(error) if matches!(error.kind(), ErrorKind::Timeout | ErrorKind::InstanceChanged) => {
            shard.borne().await.unwrap_or(0)
        }
        held => held.unwrap_or(0),
    }
}
