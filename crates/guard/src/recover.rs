//! The operator's word on a loss that nothing inside can measure.

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

/// How far above all that was found a named loss lifts the ledger's version. A mark that nobody could read was left by the
/// history whose loss has been named: however far that had come, it is below. A thousand versions a second for two years.
pub const VERSION_LEAP: u64 = 1 << 36;

/// One lost message must not hide the only mark that tells.
const READS_MAX: usize = 2;

/// What the shards say of the ledger's version.
#[derive(Debug, Default)]
pub struct MarksRead {
    /// The highest mark found; 0: none.
    pub highest: u64,
    /// The slots whose marks could not be read, ascending, each with the cause.
    pub unread: Vec<(SlotIndex, SourceError)>,
}

/// Reads the marks of the shards, all at once, each within `limit` and twice at most. Changes nothing.
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

/// Takes the ledger at hand as the truth, but for `loss`: every counter opens a new epoch above its ceiling plus the
/// loss. The version goes above every mark that can be read, so that the marks no longer accuse it.
///
/// Where the loss is named by how much it is, the version goes [far](VERSION_LEAP) above them: of what was left in places that
/// can't be read now, nothing accuses a ledger whose loss has been named already. Where it is said to be none, a mark that
/// knows better contradicts: one that is read now at once, any other when it is met.
///
/// Running servers notice at their next call: the ledger speaks as a new instance.
///
/// # Errors
///
/// `LedgerBehind` where the shards are another ledger's, and where nothing is said to be lost though a mark proves that the
/// ledger went back; those of ledger and `home`. A shard that can't be read is none:
/// whoever must know asks [`read_marks`] before.
pub async fn recover(
    ledger: &dyn Ledger,
    shards: &[(SlotIndex, Arc<dyn Store>)],
    home: Option<&dyn MarkPlace>,
    loss: Loss,
    limit: Duration,
) -> Result<InstanceId, SourceError> {
    let stores: Vec<Arc<dyn Store>> = shards.iter().map(|(_, store)| Arc::clone(store)).collect();
    belongs(ledger, &stores, limit).await?;
    let told = Told::read(ledger, shards, home, limit).await?;
    let floor = match loss {
        Loss::Moved => match told.against_moved(ledger, limit).await? {
            Some(error) => return Err(error),
            None => told.mark,
        },
        Loss::Bump(_) => told.mark.max(told.version).saturating_add(VERSION_LEAP),
    };
    let speaks = limited(limit, "recover", ledger.recover(loss, floor)).await?;
    if let Loss::Bump(_) = loss {
        // After it: where this breaks off, such a mark still accuses, and the command is given once more.
        note_loss(ledger, limit).await?;
    }
    Ok(speaks)
}

/// Why the ledger at hand can't be the newest state, as a mark tells that is read now. Changes nothing.
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
    Told::read(ledger, shards, home, limit).await?.against_moved(ledger, limit).await
}

/// How far the ledger is, and how far it has been.
struct Told {
    version: u64,
    /// The highest mark that is read.
    mark: u64,
    /// What the data directory bears.
    home: Mark,
}

impl Told {
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

    async fn against_moved(
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
