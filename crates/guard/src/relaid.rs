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
    Block, Cell, Env, ErrorKind, Incarnation, Key, Layout, Life, MarkPlace, SlotIndex, SourceError, Stamp,
    Store,
    ledger::{Counter, LayoutChange, LayoutPage, LayoutRecord, Ledger, Loss, Rebased, Row},
};
use tokio::{task::JoinSet, time::timeout};

use crate::{
    COUNTERS_MAX, leap,
    limit::{limited, patiently},
    pages::all_rows,
    recover,
    resize::Rebasing,
};

/// Cells that are closed at once.
const CLOSES_MAX: usize = 32;

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
    incarnation: Incarnation,
    stamp: Option<Stamp>,
}

/// By key, the place of the highest number that a cell tells of.
type Places = BTreeMap<Key, u64>;

impl CatchUp<'_> {
    /// Does it, from wherever it has come to.
    ///
    /// # Errors
    ///
    /// `Refused` where the ledger is not of the layout just before, or a store is of neither; `Leapt` where a cell is far
    /// above what the copy and the loss allow: then nothing was changed. Those of ledger, stores and `home`.
    pub async fn run(&self) -> Result<(), SourceError> {
        let page = patiently(self.limit, "read of the layout", || self.ledger.page()).await?;
        let page = page.ok_or_else(|| refused("the ledger has no layout".to_owned()))?;
        let change = self.change(&page)?;
        let seen = self.look(&change).await?;
        let rows = self.rows(&change).await?;
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
            let LayoutRecord { layout, epoch, .. } = &self.next;
            refused(format!(
                "the ledger is of epoch {} ({}), and the stores are of epoch {epoch} ({layout}), which is not the one after it",
                page.epoch, page.layout
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
            seen.push(Seen { slot, store, incarnation: found.incarnation, stamp: found.stamp });
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

    /// Closes the cells of both layouts; returns how far they were, as places among all numbers.
    async fn close(
        &self,
        change: &LayoutChange,
        seen: &[Seen],
        rows: &BTreeMap<Key, Vec<(SlotIndex, Row)>>,
    ) -> Result<Places, SourceError> {
        let (mut places, mut asked) = (Places::new(), JoinSet::new());
        // One without a stamp is empty: nobody counts in it, and a closed cell would make it look like somebody else's.
        let stamped: Vec<&Seen> = seen.iter().filter(|seen| seen.stamp.is_some()).collect();
        let mut works = rows.keys().flat_map(|key| stamped.iter().map(move |seen| (key, *seen)));
        loop {
            for (key, Seen { slot, store, incarnation, .. }) in works.by_ref().take(CLOSES_MAX) {
                let (key, slot, store) = (key.clone(), *slot, Arc::clone(store));
                let (under, change, limit) = (incarnation.clone(), change.clone(), self.limit);
                let life = Life::random(&*self.env.entropy);
                asked.spawn(async move {
                    let place =
                        timeout(limit * 2, place_of(&*store, (&key, slot), &under, &change, life)).await;
                    let late = |_| Err(SourceError::new(ErrorKind::Timeout, "close: no answer in time"));
                    (
                        place
                            .unwrap_or_else(late)
                            .map_err(|error| error.during(format!("slot {slot} key {key}"))),
                        key,
                        slot,
                    )
                });
            }
            if asked.is_empty() {
                return Ok(places);
            }
            while let Some(answer) = asked.join_next().await {
                let ended = |error| SourceError::new(ErrorKind::Unavailable, "close").because(error);
                let (place, key, slot) = answer.map_err(ended)?;
                let Some(place) = place? else { continue };
                if let Some(rows) = rows.get(&key) {
                    self.no_leap(change, (&key, slot), rows, place)?;
                }
                let held = places.entry(key).or_default();
                *held = place.max(*held);
            }
        }
    }

    /// A cell that was set by hand must not take its whole key with it.
    fn no_leap(
        &self,
        change: &LayoutChange,
        (key, slot): (&Key, SlotIndex),
        rows: &[(SlotIndex, Row)],
        place: u64,
    ) -> Result<(), SourceError> {
        let ceiling = rows.iter().map(|(_, row)| row.ceiling).max().unwrap_or(0);
        let at = ceiling.saturating_add(self.loss(change));
        let far = at.saturating_add(leap::leap_max(at, Block::NUMBER_MAX, 1));
        let reach = |layout: Layout| layout.place_of(far, layout.slots() - 1).unwrap_or(0);
        let bound = reach(change.from.layout).max(reach(change.next.layout));
        if place <= bound {
            return Ok(());
        }
        let context = format!(
            "slot {slot} key {key}: its store has given {} numbers of it or more, and at most {bound} are followed with this \
             --bump: nothing was changed; name a greater one, or, where a hand has set the cell, set it right",
            place.saturating_add(1)
        );
        Err(SourceError::new(ErrorKind::Leapt, context))
    }

    /// As many raw ids of the layout before as `bump` of it and `bump` of the next are together.
    fn loss(&self, change: &LayoutChange) -> u64 {
        let bits = |layout: Layout| u32::from(layout.shard_bits()) + u32::from(layout.memory_bits());
        let numbers = u128::from(self.bump) << bits(change.next.layout);
        let of_next = numbers.div_ceil(1_u128 << bits(change.from.layout));
        let both = of_next.saturating_add(u128::from(self.bump)).min(u128::from(Block::NUMBER_MAX));
        u64::try_from(both).unwrap_or(Block::NUMBER_MAX)
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
        for Seen { slot, store, incarnation, stamp } in seen {
            let Some(held) = stamp else { continue };
            let new = stamp_of(&change.next, held.ledger, *slot);
            if *held != new {
                self.bounded(*slot, "stamp", store.stamp(incarnation, Some(held), &new)).await?;
            }
        }
        Ok(())
    }

    async fn mark(&self, seen: &[Seen], version: u64) -> Result<(), SourceError> {
        for Seen { slot, store, incarnation, .. } in seen {
            self.bounded(*slot, "mark", store.mark(incarnation, version)).await?;
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
    let LayoutRecord { cluster, layout, epoch } = record.clone();
    Stamp { ledger, cluster, layout, slot, epoch }
}

/// Closes a key's cells of both layouts in one store; the place of the highest number that they can have given.
async fn place_of(
    store: &dyn Store,
    (key, slot): (&Key, SlotIndex),
    under: &Incarnation,
    change: &LayoutChange,
    life: Life,
) -> Result<Option<u64>, SourceError> {
    let (from, next) = (&change.from, &change.next);
    let (before, after) = (key.in_epoch(from.epoch), key.in_epoch(next.epoch));
    let before = store.close(Cell { key: &before, under }, life).await?;
    let after = store.close(Cell { key: &after, under }, life).await?;
    // Which slot it had before nobody knows any more: the last yields the highest numbers.
    let before = from.layout.place_of(before, from.layout.slots() - 1);
    Ok(before.max(next.layout.place_of(after, slot)))
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
