//! A ledger that was put back from a copy of before a resize, or amid one, which its stores have gone through: it takes up
//! the layout of their stamps, above all that the copy, the cells of either layout and the named loss know of.
//!
//! | step | why |
//! |---|---|
//! | every cell of either layout that has a row is closed, and tells its value | what is known for certain, and nobody counts on in it |
//! | the ledger's page is fenced | no pass of the layout before is good any more, whatever becomes of the next steps |
//! | the loss is named, in both layouts | what left before the resize, and what left after it |
//! | each key's counters are rebased, the stores stamped, the page settled | as a resize ends |
//!
//! Whoever is killed in between leaves a page that is not settled, or stores that bear another stamp than it says: nobody
//! opens. The same call once more goes on; it names the loss again, which skips as much again.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use sequent_core::{
    Env, ErrorKind, InstanceId, Key, MarkPlace, SlotIndex, SourceError, Stamp, Store,
    ledger::{Counter, LayoutChange, LayoutPage, LayoutRecord, Ledger, Loss, Rebased, Row},
};
use tokio::time::timeout;

use crate::{
    COUNTERS_MAX, recover,
    resize::Rebasing,
    scan_rows::all_rows,
    timeouts::{limited, patiently},
};

mod close_cells;
mod judging;

use close_cells::Places;

/// What it takes to bring a ledger up to the layout of its stores.
pub struct CatchUp<'a> {
    /// The ledger that was put back.
    pub ledger: &'a dyn Ledger,
    /// The stores at hand, by their slots of the next layout.
    pub shards: &'a [(SlotIndex, Arc<dyn Store>)],
    /// The data directory, where the version is left besides.
    pub home: Option<&'a dyn MarkPlace>,
    /// The layout of the stamps.
    pub next: LayoutRecord,
    /// At most so many raw ids of each counter, of either layout, were given after the copy.
    pub bump: u64,
    /// The time limit of each call.
    pub limit: Duration,
    /// Clock and entropy.
    pub env: Env,
}

/// A store as it was found.
struct Seen {
    slot: SlotIndex,
    store: Arc<dyn Store>,
    instance: InstanceId,
    stamp: Option<Stamp>,
}

impl CatchUp<'_> {
    /// Does it, from wherever it has come to.
    ///
    /// # Errors
    ///
    /// `Refused` where the ledger is not of the layout just before, or a store is of neither; `Leapt` where a cell is far
    /// above what the copy and the loss allow, or a row claims more than anybody can have taken: then nothing was changed
    /// in the ledger. Those of ledger, stores and `home`.
    pub async fn run(&self) -> Result<(), SourceError> {
        let page = patiently(self.limit, "read of the layout", || self.ledger.page()).await?;
        let page = page.ok_or_else(|| refused("the ledger has no layout".to_owned()))?;
        let change = self.change(&page)?;
        let seen = self.look(&change).await?;
        let rows = self.rows(&change).await?;
        self.judge(&change, &rows).await?;
        let places = self.close(&change, &seen, &rows).await?;
        let page = self.fence(page).await?;
        let loss = Loss::Bump(self.loss(&change));
        recover(self.ledger, self.shards, self.home, loss, self.limit).await?;
        self.rebase(&page, &change, &places).await?;
        self.stamp(&change, &seen).await?;
        let settled = page.settled().ok_or_else(|| refused("the page has no change on it".to_owned()))?;
        let version =
            patiently(self.limit, "turn of the layout's page", || self.ledger.turn(&page, &settled));
        self.mark(&seen, version.await?).await
    }

    /// From the page's layout to that of the stamps, which must be the very next.
    fn change(&self, page: &LayoutPage) -> Result<LayoutChange, SourceError> {
        let planned = if page.is_fenced { page.clone() } else { page.planned(self.next.layout) };
        let change = planned.change().filter(|change| change.next == self.next);
        change.ok_or_else(|| {
            let LayoutRecord { layout, generation, .. } = &self.next;
            refused(format!(
                "the ledger is of generation {} ({}), and the stores are of generation {generation} ({layout}), which is not the one after it",
                page.generation, page.layout
            ))
        })
    }

    async fn look(&self, change: &LayoutChange) -> Result<Vec<Seen>, SourceError> {
        let id = limited(self.limit, "inspect", self.ledger.inspect()).await?.id;
        let mut seen = Vec::with_capacity(self.shards.len());
        for (slot, store) in self.shards {
            let (slot, store) = (*slot, Arc::clone(store));
            let found = self.bounded(slot, "inspect", store.inspect()).await?;
            let fits = match &found.stamp {
                Some(stamp) => {
                    let of = |record: &LayoutRecord| *stamp == stamp_of(record, id, stamp.slot);
                    of(&change.from) || of(&change.next) && stamp.slot == slot
                }
                None => !found.has_cells,
            };
            if !fits {
                let stamp = found.stamp.map_or_else(|| "none".to_owned(), |stamp| stamp.to_string());
                return Err(refused(format!(
                    "slot {slot}: the store bears stamp {stamp}, which is neither of the ledger's layout nor of the next"
                )));
            }
            seen.push(Seen { slot, store, instance: found.instance, stamp: found.stamp });
        }
        Ok(seen)
    }

    async fn rows(&self, change: &LayoutChange) -> Result<BTreeMap<Key, Vec<(SlotIndex, Row)>>, SourceError> {
        let slots = change.from.layout.slots().max(change.next.layout.slots());
        let rows = all_rows(self.ledger, slots, COUNTERS_MAX, self.limit).await?;
        if rows.len() == COUNTERS_MAX {
            return Err(refused(format!(
                "there are {COUNTERS_MAX} counters or more: this version can't read so many"
            )));
        }
        let mut keys: BTreeMap<Key, Vec<(SlotIndex, Row)>> = BTreeMap::new();
        for (Counter { slot, key }, row) in rows {
            keys.entry(key).or_default().push((slot, row));
        }
        Ok(keys)
    }

    async fn fence(&self, page: LayoutPage) -> Result<LayoutPage, SourceError> {
        let step = "turn of the layout's page";
        if page.is_fenced {
            return Ok(page);
        }
        let planned = page.planned(self.next.layout);
        if planned != page {
            patiently(self.limit, step, || self.ledger.turn(&page, &planned)).await?;
        }
        let fenced = planned.fenced().ok_or_else(|| refused("the page has no change on it".to_owned()))?;
        patiently(self.limit, step, || self.ledger.turn(&planned, &fenced)).await?;
        Ok(fenced)
    }

    /// Each key's counters begin above its rows, which have the loss in them by now, and above what its cells told.
    async fn rebase(
        &self,
        page: &LayoutPage,
        change: &LayoutChange,
        places: &Places,
    ) -> Result<(), SourceError> {
        let next = change.next.layout;
        let begun = patiently(self.limit, "inspect", || self.ledger.inspect()).await?.version;
        let rebased = self.rows(change).await?.into_iter().map(|(key, rows)| {
            let told = places.get(&key).copied();
            let last = rows.iter().filter_map(|(slot, row)| last_of(change, *slot, row)).chain(told).max();
            let base = |slot| (slot, last.map_or(0, |last| next.raw_behind(last, slot)));
            Rebased { key, bases: (0..next.slots()).map(base).collect() }
        });
        let rebased: Vec<Rebased> = rebased.collect();
        let mut rebasing = Rebasing::new(self.ledger, page, (rebased.len(), begun), self.limit);
        rebasing.write(&rebased, &|_| {}).await?;
        Ok(())
    }

    async fn stamp(&self, change: &LayoutChange, seen: &[Seen]) -> Result<(), SourceError> {
        for Seen { slot, store, instance, stamp } in seen {
            let Some(held) = stamp else { continue };
            let new = stamp_of(&change.next, held.ledger, *slot);
            if *held != new {
                self.bounded(*slot, "stamp", store.stamp(instance, Some(held), &new)).await?;
            }
        }
        Ok(())
    }

    async fn mark(&self, seen: &[Seen], version: u64) -> Result<(), SourceError> {
        for Seen { slot, store, instance, .. } in seen {
            self.bounded(*slot, "mark", store.mark(instance, version)).await?;
        }
        if let Some(home) = self.home {
            home.bear(version, Some(self.next.era())).await?;
        }
        Ok(())
    }

    async fn bounded<T>(
        &self,
        slot: SlotIndex,
        verb: &str,
        call: impl Future<Output = Result<T, SourceError>>,
    ) -> Result<T, SourceError> {
        let late = |_| {
            let context = format!("{verb}: no answer within {} ms", self.limit.as_millis());
            Err(SourceError::new(ErrorKind::Timeout, context))
        };
        let answer = timeout(self.limit, call).await.unwrap_or_else(late);
        answer.map_err(|error| error.during(format!("slot {slot}")))
    }
}

fn stamp_of(record: &LayoutRecord, ledger: sequent_core::LedgerId, slot: SlotIndex) -> Stamp {
    let LayoutRecord { cluster, layout, generation } = record.clone();
    Stamp { ledger, cluster, layout, slot, generation }
}

/// The place of the highest number that a row permits, or, of the next layout already, the one before those that it gives.
fn last_of(change: &LayoutChange, slot: SlotIndex, row: &Row) -> Option<u64> {
    if row.store == change.marker() {
        return change.next.layout.place_of(row.ceiling, slot);
    }
    change.from.layout.place_of(row.ceiling, slot)
}

fn refused(text: String) -> SourceError {
    SourceError::new(ErrorKind::Refused, text)
}
