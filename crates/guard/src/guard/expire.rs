//! Expiry of counters in periods that are over for good: none of them starts again, so they are deleted.
//!
//! The fence is noted in the ledger first, then the cells are deleted, then the rows. At each step, either the row or the fence
//! prevents a repeated number. A server that begins a counter reads the fence after its epoch is in the ledger, and installs
//! nothing behind it.

use std::collections::BTreeMap;

use sequent_core::{
    Cell, ErrorKind, Key, SlotIndex, SourceError,
    ledger::{Counter, Fence, Opened, Opening, Periods},
};
use tokio::task::JoinSet;

use super::{Answered, Guard};
use crate::{ledger_client::LedgerClient, timeouts::limited};

impl Guard {
    /// Notes a fence: from now on no server begins a counter of a period up to it. Prefetched numbers of such a counter may
    /// still leave.
    ///
    /// # Errors
    ///
    /// Those of the ledger.
    pub async fn fence(&self, fence: &Fence) -> Result<u64, SourceError> {
        self.shared.client.trusted()?;
        self.shared.client.forget(fence, &[]).await
    }

    /// The keys of a slot's counters in `from .. below`, at most `most`, ascending. `span` is `(from, below)`.
    ///
    /// # Errors
    ///
    /// Those of the ledger.
    pub async fn keys_between(
        &self,
        slot: SlotIndex,
        span: (&str, &str),
        most: usize,
    ) -> Result<Vec<Key>, SourceError> {
        self.shared.client.trusted()?;
        self.shared.client.keys_between(slot, span, most).await
    }

    /// Deletes counters behind a fence: first their cells, then everything in the ledger. Counters of an unreachable store are
    /// left for later. Returns how many were deleted.
    ///
    /// # Errors
    ///
    /// `Refused` if one of them is not behind the fence, and those of the ledger. A counter whose cell is already deleted is
    /// protected by its row.
    pub async fn retire(&self, fence: &Fence, counters: Vec<Counter>) -> Result<usize, SourceError> {
        check_behind(fence, counters.iter().map(|counter| &counter.key))?;
        self.fence(fence).await?;
        let mut of_slots: BTreeMap<SlotIndex, Vec<Counter>> = BTreeMap::new();
        for counter in counters {
            of_slots.entry(counter.slot).or_default().push(counter);
        }
        let (mut works, mut gone) = (JoinSet::new(), Vec::new());
        for shard in &self.shards {
            let Some(counters) = of_slots.remove(&shard.slot()) else { continue };
            let (shard, generation, limit) = (
                std::sync::Arc::clone(shard),
                self.shared.client.generation(),
                self.shared.config.attempt_timeout,
            );
            works.spawn(async move {
                let mut removed = Vec::with_capacity(counters.len());
                let Some(under) = shard.instance() else { return removed };
                for counter in counters {
                    let key = counter.key.in_generation(generation);
                    let remove = shard.store().remove(Cell { key: &key, under: &under });
                    if limited(limit, "remove", remove).await.is_err() {
                        break;
                    }
                    removed.push(counter);
                }
                removed
            });
        }
        while let Some(done) = works.join_next().await {
            gone.extend(done.unwrap_or_default());
        }
        for counters in gone.chunks(self.shared.client.batch_max()) {
            self.shared.client.forget(fence, counters).await?;
        }
        Ok(gone.len())
    }

    /// The keys of dense counters in `from .. below`, at most `most`, ascending. `span` is `(from, below)`.
    ///
    /// # Errors
    ///
    /// Those of the ledger.
    pub async fn dense_between(&self, span: (&str, &str), most: usize) -> Result<Vec<Key>, SourceError> {
        self.shared.client.trusted()?;
        self.shared.client.dense_between(span, most).await
    }

    /// Deletes dense counters behind a fence, which have no cells. The ledger does not let them start again. Returns how many
    /// were deleted.
    ///
    /// # Errors
    ///
    /// `Refused` if one of them is not behind the fence, and those of the ledger.
    pub async fn retire_dense(&self, fence: &Fence, keys: &[Key]) -> Result<usize, SourceError> {
        check_behind(fence, keys.iter())?;
        self.shared.client.trusted()?;
        for keys in keys.chunks(self.shared.client.batch_max()) {
            self.shared.client.forget_dense(fence, keys).await?;
        }
        Ok(keys.len())
    }
}

fn check_behind<'a>(fence: &Fence, mut keys: impl Iterator<Item = &'a Key>) -> Result<(), SourceError> {
    let Some(key) = keys.find(|key| !fence.covers(key)) else { return Ok(()) };
    let Fence { periods: Periods { sequence, unit }, to } = fence;
    let context = format!("{key}: its period is not behind the fence of {sequence}, {unit:?} {to}");
    Err(SourceError::new(ErrorKind::Refused, context))
}

/// The error for a caller whose counter would begin in a period that is over.
pub(super) fn begins_no_more(key: &Key) -> SourceError {
    let context = format!("{key}: its period is over for good, and its counter cannot start again");
    SourceError::new(ErrorKind::Exhausted, context)
}

/// Refuses openings in periods that are over. The fence is noted before a row is deleted, so it is found here: after the epoch
/// is in the ledger, and before the cell counts.
pub(super) async fn bar_what_is_over(
    client: &LedgerClient,
    openings: &[Opening],
    places: &[usize],
    answers: &mut [Option<Result<Answered, SourceError>>],
) {
    let mut held: BTreeMap<Periods, Result<u64, SourceError>> = BTreeMap::new();
    for (opening, at) in openings.iter().zip(places) {
        let key = &opening.counter.key;
        let is_begun = matches!(answers[*at], Some(Ok(Answered::Opened(Opened::Row(_)))));
        let Some(fence) = Fence::of(key).filter(|_| is_begun) else { continue };
        if !held.contains_key(&fence.periods) {
            held.insert(fence.periods.clone(), client.over(&fence).await);
        }
        match held.get(&fence.periods) {
            Some(Ok(upto)) if *upto < fence.to => {}
            Some(Err(error)) => answers[*at] = Some(Err(error.clone())),
            _ => {
                answers[*at] = Some(Err(begins_no_more(key)));
            }
        }
    }
}
