//! The cells of either layout are closed, and tell how far they were.

use std::{collections::BTreeMap, sync::Arc};

use sequent_core::{
    Block, Cell, Epoch, ErrorKind, InstanceId, Key, Layout, SlotIndex, SourceError, Store,
    ledger::{LayoutChange, Row},
};
use tokio::{task::JoinSet, time::timeout};

use super::{CatchUp, Seen};
use crate::jump_limit;

/// Cells that are closed at once.
const CLOSES_MAX: usize = 32;

/// By key, the place of the highest number that a cell tells of.
pub(super) type Places = BTreeMap<Key, u64>;

impl CatchUp<'_> {
    /// Closes the cells of both layouts; returns how far they were, as places among all numbers.
    pub(super) async fn close(
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
            for (key, Seen { slot, store, instance, .. }) in works.by_ref().take(CLOSES_MAX) {
                let (key, slot, store) = (key.clone(), *slot, Arc::clone(store));
                let (under, change, limit) = (instance.clone(), change.clone(), self.limit);
                let epoch = Epoch::random(&*self.env.entropy);
                asked.spawn(async move {
                    let place =
                        timeout(limit * 2, place_of(&*store, (&key, slot), &under, &change, epoch)).await;
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
        let far = at.saturating_add(jump_limit::leap_max(at, Block::NUMBER_MAX, 1));
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
    pub(super) fn loss(&self, change: &LayoutChange) -> u64 {
        let bits = |layout: Layout| u32::from(layout.shard_bits()) + u32::from(layout.memory_bits());
        let numbers = u128::from(self.bump) << bits(change.next.layout);
        let of_next = numbers.div_ceil(1_u128 << bits(change.from.layout));
        let both = of_next.saturating_add(u128::from(self.bump)).min(u128::from(Block::NUMBER_MAX));
        u64::try_from(both).unwrap_or(Block::NUMBER_MAX)
    }
}

/// Closes a key's cells of both layouts in one store; the place of the highest number that they can have given.
async fn place_of(
    store: &dyn Store,
    (key, slot): (&Key, SlotIndex),
    under: &InstanceId,
    change: &LayoutChange,
    epoch: Epoch,
) -> Result<Option<u64>, SourceError> {
    let (from, next) = (&change.from, &change.next);
    let (before, after) = (key.in_generation(from.generation), key.in_generation(next.generation));
    let before = store.close(Cell { key: &before, under }, epoch).await?;
    let after = store.close(Cell { key: &after, under }, epoch).await?;
    // Which slot it had before nobody knows any more: the last yields the highest numbers.
    let before = from.layout.place_of(before, from.layout.slots() - 1);
    Ok(before.max(next.layout.place_of(after, slot)))
}
