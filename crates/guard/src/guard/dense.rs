//! Dense counters: the asks of many callers in one write, which another store witnesses before its numbers leave.
//!
//! Such numbers are in the ledger alone. Each write of them makes its version one higher, and that is left on a shard: a ledger that is
//! restored from an older copy is behind it, and gives none before `recover`. What whoever gave them remembers (`given.rs`), each ask
//! demands besides.

use std::{
    collections::BTreeSet,
    sync::{Arc, Weak, atomic::Ordering},
    time::Duration,
};

use sequent_core::{
    BoxFuture, ErrorKind, InstanceId, Merge, SourceError,
    ledger::{Answer, DenseAsk, DenseTaken},
};

use super::{Guard, dense_issued::Back, expire::begins_no_more};
use crate::ledger_client::{Call, LedgerClient};

/// Callers waiting for the next write; further ones wait to get in.
const CALLERS_QUEUED_MAX: usize = 8192;

/// Callers whom one write answers.
const CALLERS_MAX: usize = 4096;

/// A write is tried so often where the ledger turns out to be another instance, which has written nothing.
const TRIES_MAX: u32 = 3;

/// A row that somebody else holds is asked for so often, with a pause after each: another server's hold lasts for milliseconds, and a
/// person's for as long as it pleases.
const LOCKED_TRIES: u32 = 20;
const LOCKED_PAUSE: Duration = Duration::from_millis(25);

/// An ask, and whether its caller still waits: what nobody waits for is not taken, and leaves no gap.
pub(super) struct Caller {
    ask: DenseAsk,
    waits: Weak<()>,
}

/// The queue of the callers.
pub(super) struct Dense {
    callers: Merge<Caller, Result<DenseTaken, SourceError>>,
}

impl Dense {
    /// The queue, and what drives it.
    pub(super) fn new(client: Arc<LedgerClient>) -> (Self, BoxFuture<'static, ()>) {
        let (callers, driver) = Merge::new(CALLERS_QUEUED_MAX, CALLERS_MAX, move |callers: Vec<Caller>| {
            let client = Arc::clone(&client);
            Box::pin(async move { Counting { client }.answer(callers).await })
        });
        (Self { callers }, Box::pin(driver))
    }
}

impl Guard {
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
        self.shared.client.in_reach()?;
        let mut tries = 0;
        loop {
            tries += 1;
            let here = Arc::new(());
            let asked =
                self.dense.callers.ask(Caller { ask: ask.clone(), waits: Arc::downgrade(&here) }).await;
            drop(here);
            match asked.map_err(|error| shut().because(error))? {
                Ok(DenseTaken::Locked) if tries < LOCKED_TRIES => tokio::time::sleep(LOCKED_PAUSE).await,
                answer => return answer,
            }
        }
    }

    /// Whether dense numbers are given at all.
    ///
    /// # Errors
    ///
    /// `LedgerBehind` where the ledger may lose what it acknowledges, and nobody allowed that.
    pub async fn may_count(&self) -> Result<(), SourceError> {
        self.shared.client.look_at_the_settings().await;
        self.shared.client.may_count()
    }
}

/// What one write of many callers needs.
struct Counting {
    client: Arc<LedgerClient>,
}

impl Counting {
    async fn answer(&self, callers: Vec<Caller>) -> Vec<Result<DenseTaken, SourceError>> {
        let waits: Vec<bool> = callers.iter().map(|caller| caller.waits.strong_count() > 0).collect();
        let asks = callers.into_iter().zip(&waits).filter(|(_, waits)| **waits);
        let asks: Vec<DenseAsk> = asks.map(|(caller, _)| self.client.given.demanded(caller.ask)).collect();
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
            tries += 1;
            self.may_give().await?;
            let under = self.client.instance();
            match write(&self.client, &under, asks).await {
                Ok((taken, version)) => {
                    if taken.iter().any(|taken| matches!(taken, DenseTaken::Last(_))) {
                        self.client.witness(&under, version).await?;
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

    /// Whatever refuses a number here uses up none.
    async fn may_give(&self) -> Result<(), SourceError> {
        self.client.look_at_the_settings().await;
        self.client.in_reach()?;
        self.client.may_count()?;
        self.client.see_to_the_record().await?;
        self.client.has_a_witness().await
    }

    /// Holds what the ledger answered against what was given. A row that a hand set back stops its counter; a ledger that
    /// went back is not to be trusted with anything, by anybody.
    async fn judge(
        &self,
        asks: &[DenseAsk],
        taken: Vec<DenseTaken>,
        under: &InstanceId,
    ) -> Result<Vec<Result<DenseTaken, SourceError>>, SourceError> {
        let mut accused: Option<Back> = None;
        let judged = asks.iter().zip(taken).map(|(ask, taken)| {
            let Err(back) = self.client.given.judge(ask, taken, under) else {
                return if taken == DenseTaken::Over { Err(begins_no_more(&ask.key)) } else { Ok(taken) };
            };
            self.client.tell(&back);
            let error = back.error();
            if !back.is_row {
                accused = Some(back);
            }
            Err(error)
        });
        let judged = judged.collect();
        let Some(back) = accused else { return Ok(judged) };
        self.client.accuse().await?;
        Err(back.error())
    }
}

/// One write, and the version that it left.
async fn write(
    client: &LedgerClient,
    under: &InstanceId,
    asks: &[DenseAsk],
) -> Result<(Vec<DenseTaken>, u64), SourceError> {
    let call: Call<DenseAsk, (Vec<DenseTaken>, u64)> = |ledger, pass, asks| {
        Box::pin(async move {
            let Answer { value, version } = ledger.count(pass, asks).await?;
            Ok(Answer { value: (value, version), version })
        })
    };
    client.write("count", under, (&BTreeSet::new(), false), asks, call).await
}
