//! Recovery: an operator names a loss that the cluster cannot measure.

use std::{sync::Arc, time::Duration};

use sequent_core::{
    ErrorKind, InstanceId, Mark, MarkPlace, SlotIndex, SourceError, Store,
    ledger::{Ledger, Loss},
    mark_of,
};
use tokio::{task::JoinSet, time::timeout};

use crate::{
    belongs,
    old_layout_marks::{note_loss, other_era},
    timeouts::limited,
};

/// How far a named loss raises the ledger's version above everything found: room for a thousand versions a second for two
/// years.
///
/// A mark that nobody could read comes from the history whose loss was named. However far that history came, its marks are
/// below.
pub const VERSION_JUMP: u64 = 1 << 36;

/// One lost message must not hide the only mark that proves a loss.
const READS_MAX: usize = 2;

/// Marks of the shards.
#[derive(Debug, Default)]
pub struct MarksRead {
    /// The highest mark found; 0 if there is none.
    pub highest: u64,
    /// The slots whose marks could not be read, ascending, each with its error.
    pub unread: Vec<(SlotIndex, SourceError)>,
}

/// Reads the marks of all shards at once, each within `limit` and at most twice. Changes nothing.
pub async fn read_marks(shards: &[(SlotIndex, Arc<dyn Store>)], limit: Duration) -> MarksRead {
    let mut asked = JoinSet::new();
    for (slot, store) in shards {
        let (slot, store) = (*slot, Arc::clone(store));
        asked.spawn(async move { (slot, read_one(&*store, limit).await) });
    }
    let mut read = MarksRead::default();
    for (slot, mark) in asked.join_all().await {
        match mark {
            Ok(mark) => read.highest = read.highest.max(mark),
            Err(error) => read.unread.push((slot, error)),
        }
    }
    read.unread.sort_by_key(|(slot, _)| *slot);
    read
}

async fn read_one(store: &dyn Store, limit: Duration) -> Result<u64, SourceError> {
    let late = |_| {
        let context = format!("mark: no answer within {} ms", limit.as_millis());
        Err(SourceError::new(ErrorKind::Timeout, context))
    };
    for _ in 1..READS_MAX {
        if let Ok(mark) = timeout(limit, mark_of(store)).await.unwrap_or_else(late) {
            return Ok(mark);
        }
    }
    timeout(limit, mark_of(store)).await.unwrap_or_else(late)
}

/// Accepts the present ledger as the truth, except for `loss`: every counter opens a new epoch above its ceiling plus the loss.
/// The version rises above every readable mark, so that marks no longer contradict the ledger.
///
/// For [`Loss::Bump`] the version rises [further](VERSION_JUMP), so that unread marks do not contradict it either. For
/// [`Loss::Moved`] a higher mark still does: now if it can be read, otherwise when it is found.
///
/// Running servers notice at their next call, since the ledger has a new instance id.
///
/// # Errors
///
/// `LedgerBehind` if the shards belong to another ledger, or if no loss is named though a mark proves that the ledger went
/// back. Those of ledger and `home`.
///
/// A shard that cannot be read is no error. A caller that must know calls [`read_marks`] first.
pub async fn recover(
    ledger: &dyn Ledger,
    shards: &[(SlotIndex, Arc<dyn Store>)],
    home: Option<&dyn MarkPlace>,
    loss: Loss,
    limit: Duration,
) -> Result<InstanceId, SourceError> {
    let stores: Vec<Arc<dyn Store>> = shards.iter().map(|(_, store)| Arc::clone(store)).collect();
    belongs(ledger, &stores, limit).await?;
    let found = VersionAndMarks::read(ledger, shards, home, limit).await?;
    let floor = match loss {
        Loss::Moved => match found.contradicts_moved(ledger, limit).await? {
            Some(error) => return Err(error),
            None => found.mark,
        },
        Loss::Bump(_) => found.mark.max(found.version).saturating_add(VERSION_JUMP),
    };
    let speaks = limited(limit, "recover", ledger.recover(loss, floor)).await?;
    if let Loss::Bump(_) = loss {
        // After the recovery: if this fails, marks of earlier layouts still contradict the ledger, and the command is repeated.
        note_loss(ledger, limit).await?;
    }
    Ok(speaks)
}

/// Whether a readable mark proves that the present ledger is not the newest state: the error that says so. Changes nothing.
///
/// # Errors
///
/// Those of ledger and `home`.
pub async fn not_newest(
    ledger: &dyn Ledger,
    shards: &[(SlotIndex, Arc<dyn Store>)],
    home: Option<&dyn MarkPlace>,
    limit: Duration,
) -> Result<Option<SourceError>, SourceError> {
    VersionAndMarks::read(ledger, shards, home, limit).await?.contradicts_moved(ledger, limit).await
}

/// The ledger's version, and the marks of how far it has been.
struct VersionAndMarks {
    version: u64,
    /// The highest readable mark.
    mark: u64,
    /// The mark of the data directory.
    home: Mark,
}

impl VersionAndMarks {
    async fn read(
        ledger: &dyn Ledger,
        shards: &[(SlotIndex, Arc<dyn Store>)],
        home: Option<&dyn MarkPlace>,
        limit: Duration,
    ) -> Result<Self, SourceError> {
        let home = match home {
            Some(home) => home.bear(0, None).await?,
            None => Mark::default(),
        };
        let mark = home.version.max(read_marks(shards, limit).await.highest);
        let version = limited(limit, "inspect", ledger.inspect()).await?.version;
        Ok(Self { version, mark, home })
    }

    async fn contradicts_moved(
        &self,
        ledger: &dyn Ledger,
        limit: Duration,
    ) -> Result<Option<SourceError>, SourceError> {
        let Self { version, mark, home } = *self;
        if let Some(trouble) = other_era(ledger, home, limit).await? {
            return Ok(Some(trouble.error()));
        }
        Ok((mark > version).then(|| not_the_newest(version, mark)))
    }
}

fn not_the_newest(version: u64, mark: u64) -> SourceError {
    SourceError::new(
        ErrorKind::LedgerBehind,
        format!(
            "the ledger is at version {version}, but a mark says {mark}: it went back, so this is not the newest \
             state; nothing was done; say how much was lost: `sequent recover --bump N` or `--since INSTANT` (`sequent \
             recover` prints the least N)"
        ),
    )
}
