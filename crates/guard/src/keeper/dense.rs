//! Dense counters: the asks of many callers in one write, and the marks that tell of a ledger which went back.
//!
//! Such numbers are in the ledger alone. While they are given, its version goes up every ten seconds and is marked, as for
//! a raise, before they leave; so a ledger that is restored from a copy older than that gives none before `recover`.
//! One that may lose what it acknowledged gives them where somebody allowed it by name, and each is marked. What marks can't tell,
//! whoever gave the numbers remembers (`given.rs`), and says so before others count in a new run of the ledger (`desk/doubt.rs`).

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak, atomic::Ordering},
    time::{Duration, Instant},
};

use sequent_core::{
    BoxFuture, DurabilityClass, Env, ErrorKind, Incarnation, Merge, SourceError,
    ledger::{DenseAsk, DenseTaken},
};

use super::{Keeper, given::Back, retiring::begins_no_more};
use crate::desk::Desk;

/// Callers waiting for the next write; further ones wait to get in.
const CALLERS_QUEUED_MAX: usize = 8192;

/// Callers whom one write answers.
const CALLERS_MAX: usize = 4096;

/// How old the last mark may be while numbers are given.
const MARK_EVERY: Duration = Duration::from_secs(10);

/// A write is tried so often where the ledger turns out to be another incarnation, which has written nothing.
const TRIES_MAX: u32 = 3;

/// An ask, and whether its caller still waits: what nobody waits for is not taken, and leaves no gap.
pub(super) struct Caller {
    ask: DenseAsk,
    waits: Weak<()>,
}

/// The queue of the callers.
pub(super) struct Dense {
    callers: Merge<Caller, Result<DenseTaken, SourceError>>,
    pub(super) renewal: Arc<Renewal>,
}

/// When the version was marked last for dense numbers.
#[derive(Default)]
pub(super) struct Renewal(Mutex<Marked>);

#[derive(Default)]
struct Marked {
    /// When, and under which incarnation of the ledger.
    last: Option<(Instant, Incarnation)>,
    /// Whether numbers were given since.
    given: bool,
}

impl Renewal {
    /// Whether the next numbers need another mark.
    fn is_due(&self, under: &Incarnation, now: Instant) -> bool {
        let marked = self.marked();
        let fresh = |(at, by): &(Instant, Incarnation)| {
            by == under && now.saturating_duration_since(*at) < MARK_EVERY
        };
        !marked.last.as_ref().is_some_and(fresh)
    }

    fn gave(&self) {
        self.marked().given = true;
    }

    fn renewed(&self, under: Incarnation, now: Instant) {
        *self.marked() = Marked { last: Some((now, under)), given: false };
    }

    fn marked(&self) -> MutexGuard<'_, Marked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Dense {
    /// The queue, and what drives it.
    pub(super) fn new(desk: Arc<Desk>, env: Env) -> (Self, BoxFuture<'static, ()>) {
        let renewal: Arc<Renewal> = Arc::default();
        let counting = (desk, env, Arc::clone(&renewal));
        let (callers, driver) = Merge::new(CALLERS_QUEUED_MAX, CALLERS_MAX, move |callers: Vec<Caller>| {
            let (desk, env, renewal) = counting.clone();
            Box::pin(async move { Counting { desk, env, renewal }.answer(callers).await })
        });
        (Self { callers, renewal }, Box::pin(driver))
    }
}

impl Keeper {
    /// Takes of a dense counter: strictly in order, and one write for all who ask meanwhile. A caller that goes away before
    /// its ask has left takes nothing.
    ///
    /// # Errors
    ///
    /// `NoWitness` where the ledger is away: what was under way may be burnt. `LedgerBehind` where it went back, or has
    /// given less than this process knows of, or may lose what it acknowledges and nobody allowed that.
    pub async fn count(&self, ask: DenseAsk) -> Result<DenseTaken, SourceError> {
        let shut = || SourceError::new(ErrorKind::NoWitness, "the guard is closed");
        if self.closed.load(Ordering::Relaxed) {
            return Err(shut());
        }
        self.shared.desk.in_reach()?;
        let here = Arc::new(());
        let asked = self.dense.callers.ask(Caller { ask, waits: Arc::downgrade(&here) }).await;
        drop(here);
        asked.map_err(|error| shut().because(error))?
    }

    /// Whether dense numbers are given at all.
    ///
    /// # Errors
    ///
    /// `LedgerBehind` where the ledger may lose what it acknowledges, and nobody allowed that.
    pub async fn may_count(&self) -> Result<(), SourceError> {
        self.shared.desk.look_at_the_settings().await;
        self.shared.desk.may_count()
    }

    /// Marks what was given since the last mark, where that is `old` enough, so that what nobody takes after is not unmarked
    /// for ever.
    pub(super) async fn mark_dense(&self, old: Duration) {
        let (desk, now) = (&self.shared.desk, self.shared.env.clock.now());
        let is_owed = {
            let marked = self.dense.renewal.marked();
            let old = |(at, _): &(Instant, Incarnation)| now.saturating_duration_since(*at) >= old;
            marked.given && marked.last.as_ref().is_none_or(old)
        };
        if !is_owed || desk.in_reach().is_err() {
            return;
        }
        // What can't be marked now is at the next show up, or with the next numbers.
        if write(desk, &[], true).await.is_ok() {
            self.dense.renewal.renewed(desk.incarnation(), now);
        }
    }

    /// Looks whether another ledger is at work over these shards, where numbers were given that no mark tells of.
    pub(super) async fn look_elsewhere(&self) {
        if self.dense.renewal.marked().given {
            self.shared.desk.look_elsewhere().await;
            // What it found troubles the desk.
            drop(self.shared.desk.is_alone().await);
        }
    }

    /// Marks them where [`MARK_EVERY`] has passed.
    pub(super) async fn mark_dense_in_time(&self) {
        self.mark_dense(MARK_EVERY).await;
    }
}

/// What one write of many callers needs.
struct Counting {
    desk: Arc<Desk>,
    env: Env,
    renewal: Arc<Renewal>,
}

impl Counting {
    async fn answer(&self, callers: Vec<Caller>) -> Vec<Result<DenseTaken, SourceError>> {
        let waits: Vec<bool> = callers.iter().map(|caller| caller.waits.strong_count() > 0).collect();
        let asks = callers.into_iter().zip(&waits).filter(|(_, waits)| **waits);
        let asks: Vec<DenseAsk> = asks.map(|(caller, _)| self.desk.given.demanded(caller.ask)).collect();
        let gone = || Err(SourceError::new(ErrorKind::NoWitness, "its caller is gone"));
        if asks.is_empty() {
            return waits.iter().map(|_| gone()).collect();
        }
        let mut taken = match self.count(&asks).await {
            Ok(taken) => taken.into_iter(),
            Err(error) => vec![Err(error); asks.len()].into_iter(),
        };
        waits.into_iter().map(|waits| waits.then(|| taken.next()).flatten().unwrap_or_else(gone)).collect()
    }

    async fn count(&self, asks: &[DenseAsk]) -> Result<Vec<Result<DenseTaken, SourceError>>, SourceError> {
        let mut tries = 0;
        loop {
            self.desk.look_at_the_settings().await;
            self.desk.in_reach()?;
            self.desk.undoubted().await?;
            self.desk.may_count()?;
            let (under, now) = (self.desk.incarnation(), self.env.clock.now());
            let loses = self.desk.durability() != DurabilityClass::Durable;
            let renew = loses || self.renewal.is_due(&under, now);
            tries += 1;
            self.desk.unopposed().await?;
            let (written, ()) = tokio::join!(write(&self.desk, asks, renew), self.desk.look_elsewhere());
            match written {
                Ok(taken) => {
                    self.desk.is_alone().await?;
                    if renew {
                        self.renewal.renewed(under.clone(), now);
                    } else {
                        self.renewal.gave();
                    }
                    return self.judge(asks, taken, &under).await;
                }
                Err(error) if error.kind() == ErrorKind::Reborn && tries < TRIES_MAX => {}
                Err(error) if error.kind() == ErrorKind::Reborn => {
                    return Err(
                        SourceError::new(ErrorKind::NoWitness, "the ledger is restarted").because(error)
                    );
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Holds what the ledger answered against what was given. A row that a hand set back stops its counter; a ledger that
    /// went back is not to be trusted with anything, by anybody.
    async fn judge(
        &self,
        asks: &[DenseAsk],
        taken: Vec<DenseTaken>,
        under: &Incarnation,
    ) -> Result<Vec<Result<DenseTaken, SourceError>>, SourceError> {
        let mut accused: Option<Back> = None;
        let judged = asks.iter().zip(taken).map(|(ask, taken)| {
            let Err(back) = self.desk.given.judge(ask, taken, under) else {
                return if taken == DenseTaken::Over { Err(begins_no_more(&ask.key)) } else { Ok(taken) };
            };
            self.desk.tell(&back);
            let error = back.error();
            if !back.is_row {
                accused = Some(back);
            }
            Err(error)
        });
        let judged = judged.collect();
        let Some(back) = accused else { return Ok(judged) };
        self.desk.accuse().await?;
        Err(back.error())
    }
}

/// One write; where it renews the version, that is marked before this returns.
async fn write(desk: &Desk, asks: &[DenseAsk], renew: bool) -> Result<Vec<DenseTaken>, SourceError> {
    let (under, nowhere) = (desk.incarnation(), BTreeSet::new());
    if renew {
        desk.given.marks();
        let counted = desk
            .write("count", &under, (&nowhere, true), asks, |ledger, pass, asks| {
                ledger.count(pass, asks, true)
            })
            .await?;
        desk.given.marked();
        Ok(counted)
    } else {
        desk.write("count", &under, (&nowhere, false), asks, |ledger, pass, asks| {
            ledger.count(pass, asks, false)
        })
        .await
    }
}
