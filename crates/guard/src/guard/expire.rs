//! Counters of periods that are over for good: none begins there again, and so they may go.
//!
//! A fence in the ledger comes first, then the cells go, then the rows: at each step either the row or the fence keeps a
//! number from being given twice. Whoever begins a counter reads the fence after its epoch is in the ledger, and installs
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
    /// Notes a fence: no counter of a period up to there begins from now on, on any server. What servers hold ready of one
    /// may still leave.
    ///
    /// # Errors
    ///
    /// Those of the ledger.
    pub async fn fence(&self, fence: &Fence) -> Result<u64, SourceError> {
        self.shared.client.trusted()?;
        self.shared.client.forget(fence, &[]).await
    }

    /// The keys of a slot's counters, from one on and before another, at most `most`, ascending.
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

    /// Forgets counters that are behind a fence: their cells, and then all that the ledger holds of them. Where a store is
    /// away its counters are left for another time. Returns how many are gone.
    ///
    /// # Errors
    ///
    /// `Refused` where one of them is not behind it, and those of the ledger; what has no cell any more is safe by its row.
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

    /// The keys of dense counters, from one on and before another, at most `most`, ascending.
    ///
    /// # Errors
    ///
    /// Those of the ledger.
    pub async fn dense_between(&self, span: (&str, &str), most: usize) -> Result<Vec<Key>, SourceError> {
        self.shared.client.trusted()?;
        self.shared.client.dense_between(span, most).await
    }

    /// Forgets dense counters that are behind a fence. They have no cells: the ledger lets none begin there again.
    /// Returns how many are gone.
    ///
    /// # Errors
    ///
    /// `Refused` where one of them is not behind it, and those of the ledger.
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
    let context = format!("{key}: its period is not over by the fence of {sequence}, {unit:?} {to}");
    Err(SourceError::new(ErrorKind::Refused, context))
}

/// What a caller is told whose counter would begin in a period that is over.
pub(super) fn begins_no_more(key: &Key) -> SourceError {
    let context = format!("{key}: its period is over for good, and its counter begins no more");
    SourceError::new(ErrorKind::Exhausted, context)
}

/// Takes back what was begun of a period that is over: whoever forgot its row had noted the fence before, so it is seen
/// here, after the epoch is in the ledger, and before the cell counts.
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
