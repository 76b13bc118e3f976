//! Dense counters: many callers' requests share one write, which is marked on another store before its numbers leave.
//!
//! Dense numbers are kept in the ledger alone. Each write of them raises the ledger's version, and that is marked on a shard. A
//! ledger restored from an older backup is below the mark, and gives no number before `recover`. In addition each request
//! demands at least the numbers that this process remembers giving (`dense_issued.rs`).

use std::{
    collections::BTreeSet,
    sync::{Arc, Weak},
    time::Duration,
};

use sequent_core::{
    BoxFuture, ErrorKind, InstanceId, Merge, SourceError,
    ledger::{Answer, DenseAsk, DenseTaken},
};

use super::{Guard, dense_issued::Back, expire::begins_no_more};
use crate::ledger_client::{Call, LedgerClient};

/// The most callers that wait for the next write. Further ones wait to get in.
const CALLERS_QUEUED_MAX: usize = 8192;

/// The most callers answered by one write.
const CALLERS_MAX: usize = 4096;

/// The most attempts of a write if the ledger's instance changed, in which case nothing was written.
const TRIES_MAX: u32 = 3;

/// The most attempts at a locked row, with a pause after each. Another server holds a lock for milliseconds, an operator's
/// session for any time.
const LOCKED_TRIES: u32 = 20;
const LOCKED_PAUSE: Duration = Duration::from_millis(25);

/// A request, and whether its caller still waits. If not, nothing is taken, which leaves no gap.
pub(super) struct Caller {
    ask: DenseAsk,
    waits: Weak<()>,
}

/// Queue of callers.
pub(super) struct Dense {
    callers: Merge<Caller, Result<DenseTaken, SourceError>>,
}

impl Dense {
    /// The queue, and its driver.
    pub(super) fn new(client: Arc<LedgerClient>) -> (Self, BoxFuture<'static, ()>) {
        let (callers, driver) = Merge::new(CALLERS_QUEUED_MAX, CALLERS_MAX, move |callers: Vec<Caller>| {
            let client = Arc::clone(&client);
            Box::pin(async move { Counting { client }.answer(callers).await })
        });
        (Self { callers }, Box::pin(driver))
    }
}

impl Guard {
    /// Takes from a dense counter, strictly in order, in one write for all concurrent callers. A caller that goes away before
    /// its request is sent takes nothing.
    ///
    /// # Errors
    ///
    /// `NoWitness` if the ledger is away: numbers under way may be burnt. `LedgerBehind` if it went back, has given less than
    /// this process knows of, or may lose acknowledged writes without being allowed to.
    pub async fn count(&self, ask: DenseAsk) -> Result<DenseTaken, SourceError> {
        let shut = || SourceError::new(ErrorKind::NoWitness, "the guard is closed");
        if self.shared.is_closed() {
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

    /// Checks whether dense numbers can be given at all.
    ///
    /// # Errors
    ///
    /// `LedgerBehind` if the ledger may lose acknowledged writes, and the config does not allow it.
    pub async fn may_count(&self) -> Result<(), SourceError> {
        self.shared.client.look_at_the_settings().await;
        self.shared.client.may_count()
    }
}

/// The state of a write for many callers.
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
                Err(error) if error.kind() == ErrorKind::InstanceChanged && tries < TRIES_MAX => {}
                Err(error) if error.kind() == ErrorKind::InstanceChanged => {
                    return Err(
                        SourceError::new(ErrorKind::NoWitness, "the ledger was restarted").because(error)
                    );
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Checks before the write. A refusal here uses up no number.
    async fn may_give(&self) -> Result<(), SourceError> {
        self.client.look_at_the_settings().await;
        self.client.in_reach()?;
        self.client.may_count()?;
        self.client.see_to_the_record().await?;
        self.client.has_a_witness().await
    }

    /// Compares the ledger's answers with what was given. A row set back by hand stops its counter. A ledger that went back is
    /// accused, so that no server uses it.
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

/// Makes one write, and returns its version.
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
