//! Marks: the ledger's version, left where a restored ledger does not reach.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use sequent_core::{Era, ErrorKind, Event, Events, InstanceId, Mark, MarkPlace, SlotIndex, SourceError};
use tokio::{task::JoinSet, time::timeout};

use crate::shard::Shard;

mod placement;

use placement::covers;

/// A bearer that has not answered by then is no longer waited for alone: others are tried beside it.
const SLOW_BEARER: Duration = Duration::from_millis(200);

/// The places where versions are left: the shards, durable ones first, and the server's data directory.
pub(crate) struct Marks {
    shards: Vec<Arc<Shard>>,
    home: Option<Arc<dyn MarkPlace>>,
    /// The layout that versions are left under.
    era: Era,
    /// The time limit of a mark at home.
    limit: Duration,
    events: Events,
    /// The version left last, and the slots whose stores bear it.
    left: Mutex<(u64, BTreeSet<SlotIndex>)>,
    /// The slots whose stores failed to bear a version lately, or to do so in time.
    shunned: Arc<Mutex<BTreeMap<SlotIndex, Excluded>>>,
    unmarked: AtomicU64,
    /// The version that was counted last as borne by no other shard.
    given_up: AtomicU64,
    /// Whether the version left last is borne where it belongs: that it is not is told once, until it is again.
    borne: Witnessed,
    /// The highest mark that any shard was found to bear when it was asked to bear one.
    met: Arc<AtomicU64>,
    /// How many marks were to be left: whose turn it is to bear one, and for how long one is tried last.
    marked: AtomicUsize,
}

/// A bearer that is tried last for a while.
#[derive(Clone, Copy)]
struct Excluded {
    /// How many marks had been to be left when it failed to bear one, or to bear it in time.
    at: usize,
    /// It gave no answer, as far as is known: where nobody else is left, nobody waits long for it.
    silent: bool,
}

/// Whether another shard, and home, bore the version left last.
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
        let (met, marked) = (Arc::default(), AtomicUsize::new(0));
        Self { shards, home, era, limit, events, left, shunned, unmarked, given_up, borne, met, marked }
    }

    /// The highest mark that a shard was found to bear.
    pub(crate) fn met(&self) -> u64 {
        self.met.load(Ordering::Relaxed)
    }

    /// How often a version could be left on no other shard.
    pub(crate) fn unmarked(&self) -> u64 {
        self.unmarked.load(Ordering::Relaxed)
    }

    /// Leaves `version` at home and, for each of `slots`, on a store of another slot; without `slots`, on any. Whether that many bear it;
    /// of a ring without stores, whether home does.
    ///
    /// Home is written anew even where it has the version already: an older copy of it then always differs from it.
    /// What no place takes is told, and ids leave all the same: a mark matters only once the ledger itself has been
    /// lost, and while it is there the shards that live shall serve. Dense numbers do not: no cell knows of them.
    ///
    /// # Errors
    ///
    /// `LedgerBehind` where home finds that it was copied.
    pub(crate) async fn leave(&self, version: u64, slots: &BTreeSet<SlotIndex>) -> Result<bool, SourceError> {
        let elsewhere = async {
            if self.has_left(version, slots) {
                return true;
            }
            let borne = self.leave_on(version, slots, self.candidates(slots)).await;
            let covered = covers(&borne, slots);
            if covered {
                *self.left() = (version, borne);
            }
            covered
        };
        let (at_home, elsewhere) = tokio::join!(self.at_home(version), elsewhere);
        let at_home = at_home?.is_some();
        self.tell(version, elsewhere, at_home);
        let home_alone = self.shards.is_empty() && self.home.is_some();
        Ok(elsewhere || home_alone && at_home)
    }

    /// Leaves `version` at home and on the stores, though it was left before: who bore it may have been put back since. Also on
    /// those that were not admitted since then, where they bear their stamp; to the others the next [`spread`](Self::spread)
    /// takes it.
    ///
    /// # Errors
    ///
    /// `LedgerBehind` where home finds that it was copied.
    pub(crate) async fn leave_anew(&self, version: u64) -> Result<bool, SourceError> {
        *self.left() = <_>::default();
        let mut asked = JoinSet::new();
        for shard in self.shards.iter().filter(|shard| !shard.is_admitted()).map(Arc::clone) {
            // What can't be reached bears nothing that anybody reads before it has been admitted again.
            asked.spawn(async move { drop(shard.bear_stamped(version).await) });
        }
        let _done = asked.join_all().await;
        self.leave(version, &BTreeSet::new()).await
    }

    /// Counts each version that no other shard bears. Tells that none does, or that home does not, once, until it does
    /// again. Of a single shard nobody can expect a bearer elsewhere: there home alone is the place of marks.
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

    /// The mark at home, none where there is no home; `None` where it can't be read, or written, in time.
    async fn at_home(&self, version: u64) -> Result<Option<Mark>, SourceError> {
        let Some(home) = &self.home else { return Ok(Some(Mark::default())) };
        match timeout(self.limit, home.bear(version, Some(self.era))).await {
            Ok(Err(error)) if error.kind() == ErrorKind::LedgerBehind => Err(error),
            Ok(held) => Ok(held.ok()),
            Err(_) => Ok(None),
        }
    }

    /// Leaves the version left last on every shard that does not bear it yet. Those of few may be on the ledger's own machine,
    /// and go back with it; so that all but the last moments are borne by all, this is done at each heartbeat. Nobody waits for
    /// those that are slow.
    pub(crate) async fn spread(&self) {
        let (version, borne) = self.left().clone();
        let lacks = |shard: &&Arc<Shard>| shard.is_admitted() && !borne.contains(&shard.slot());
        if version > 0 {
            self.leave_in_time(version, self.shards.iter().filter(lacks), None).await;
        }
    }

    /// Leaves `version` at home and on every shard at hand, whatever they bear: whoever counts by a copy of this ledger, or by the
    /// one that this is a copy of, finds it there. Those that are slow, or not admitted any more, bear it at a later
    /// [`spread`](Self::spread). The highest mark that a shard bore right before.
    ///
    /// # Errors
    ///
    /// `LedgerBehind` where home finds that it was copied.
    pub(crate) async fn claim(&self, version: u64) -> Result<u64, SourceError> {
        *self.left() = (version, BTreeSet::new());
        self.at_home(version).await?;
        let before = Arc::new(AtomicU64::new(0));
        self.leave_in_time(version, self.shards.iter(), Some(&before)).await;
        Ok(before.load(Ordering::Relaxed))
    }

    /// `before`: what each shard bears is read first, and the highest of it noted there.
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
        // Out of time is no fault: they are asked again, or late ones have told by then.
        let _in_time = timeout(SLOW_BEARER, answers).await;
        asked.detach_all();
    }

    /// Admits the stores that are not in use, as far as they can be now: the highest mark that they bear.
    pub(crate) async fn admit(&self, under: &InstanceId) -> u64 {
        let (mut asked, limit) = (JoinSet::new(), self.limit);
        for shard in self.shards.iter().filter(|shard| !shard.is_admitted()).map(Arc::clone) {
            let under = under.clone();
            asked.spawn(async move { timeout(limit, shard.admit(&under)).await });
        }
        let admitted = asked.join_all().await.into_iter().flatten().flatten();
        admitted.filter_map(|(_, mark)| mark).max().unwrap_or(0)
    }

    /// The highest mark found at home and on all shards that can be reached and bear no other ledger's stamp; and that at home.
    ///
    /// # Errors
    ///
    /// `LedgerBehind` where home finds that it was copied.
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

/// One lost message must not hide the only mark that tells: what timed out, or changed meanwhile, is asked once more.
async fn read_one(shard: Arc<Shard>) -> u64 {
    match shard.borne().await {
        Err(error) if matches!(error.kind(), ErrorKind::Timeout | ErrorKind::Reborn) => {
            shard.borne().await.unwrap_or(0)
        }
        held => held.unwrap_or(0),
    }
}
