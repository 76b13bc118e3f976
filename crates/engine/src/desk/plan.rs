//! What a recovery would do, before it does it: for who types it by habit on a cluster that lost nothing.

use std::collections::BTreeMap;

use sequent_core::{
    Key, Layout, SlotIndex, Span,
    ledger::{DenseRow, Loss, Row},
};
use serde::Serialize;

use super::{
    Desk,
    extent::{Extent, Rowless},
    floor::floor,
    permitted::without_epoch,
};
use crate::{
    Body, OpenError,
    dense::number_of,
    limit::{of_ledger, within},
};

/// The most counters whose rows are read for a plan.
const COUNTERS_MAX: usize = 1 << 16;

/// What a recovery would skip, and why a person must have read that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecoveryPlan {
    /// Why it is not done before it is confirmed; empty: the ledger went back, or was copied, and nothing speaks against it.
    pub cautions: Vec<String>,
    /// What each key would skip, ascending.
    pub keys: Vec<PlannedKey>,
    /// Whether there are more.
    pub is_partial: bool,
}

/// What a key's counters would skip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedKey {
    /// The sequence.
    pub sequence: String,
    /// The key.
    pub key: String,
    /// The highest number that was given before, as far as servers have reported; absent: none.
    pub last_before: Option<u64>,
    /// The lowest number that any of its counters may give after; absent: none is left.
    pub first_after: Option<u64>,
    /// How many numbers its counters would leave out, all of them together.
    pub skipped: u64,
}

impl Desk {
    /// What a recovery from this loss would do here, and why it should be confirmed first. Changes nothing.
    ///
    /// # Errors
    ///
    /// Those of the ledger.
    pub async fn recovery_plan(&self, loss: Loss) -> Result<RecoveryPlan, OpenError> {
        let is_bare = self.is_bare().await?;
        let extent = match loss {
            Loss::Moved if !is_bare => Extent::default(),
            Loss::Moved | Loss::Bump(_) => self.extent().await?,
        };
        let mut cautions = extent.warnings(self.0.record.epoch);
        if !is_bare && self.trouble().await.is_none() && !self.has_moved().await {
            let nothing = "nothing shows that anything was lost: the ledger is behind no mark at hand, and was neither copied nor emptied";
            cautions.insert(0, nothing.to_owned());
        }
        let (limit, ledger) = (self.limit(), self.ledger());
        let unusable = |error| OpenError::of_source(&error);
        let rows = within(limit, "read the rows", ledger.list(None, COUNTERS_MAX)).await.map_err(unusable)?;
        let doubted = self.doubted(&rows).await.map_err(unusable)?;
        cautions.extend(doubted.iter().map(|row| {
            let line = row.line();
            format!("a row that nobody believes would be raised as it is, and its counter gives nothing before it is set right: {line}")
        }));
        let dense = within(limit, "read the dense counters", ledger.dense(None, COUNTERS_MAX)).await;
        let dense = dense.map_err(unusable)?;
        let is_partial = rows.len() == COUNTERS_MAX || dense.len() == COUNTERS_MAX;
        let spans = self.spans().await?;
        let mut by_key: BTreeMap<Key, BTreeMap<SlotIndex, Stand>> = BTreeMap::new();
        for (counter, row) in rows {
            by_key.entry(counter.key).or_default().insert(counter.slot, Stand::of(&row));
        }
        let span = |key: &Key| spans.get(key.sequence()).copied();
        let spread = by_key
            .iter()
            .filter_map(|(key, rows)| Some(of_rows(key, span(key)?, self.layout(), (rows, loss))));
        let dense = dense.iter().filter_map(|row| Some(of_dense(row, span(&row.key)?, loss)));
        let floor = floor(ledger, self.0.record.epoch, limit).await;
        // Of more rows than were read nobody knows which keys have none.
        let rowless = stands(&extent.rowless, self.0.record.epoch, (floor, loss));
        let rowless = rowless.iter().filter(|(key, _)| !is_partial && !by_key.contains_key(*key));
        let rowless = rowless
            .map(|(key, stands)| of_rows(key, span(key).unwrap_or_default(), self.layout(), (stands, loss)));
        let mut keys: Vec<PlannedKey> = spread.chain(dense).chain(rowless).collect();
        keys.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(RecoveryPlan { cautions, keys, is_partial: is_partial || extent.is_partial })
    }

    /// The arithmetic of each sequence, as it is in effect.
    async fn spans(&self) -> Result<BTreeMap<String, Span>, OpenError> {
        let read = within(self.limit(), "read the definitions", self.ledger().definitions()).await;
        let (_, definitions) = read.map_err(|error| OpenError::of_source(&error))?;
        let span = |held: &sequent_core::ledger::Definition| {
            let body = Body::from_text(&held.body).ok()?;
            Some((held.name.to_string(), body.in_effect(held.version, self.now()).1.span()))
        };
        Ok(definitions.iter().filter_map(span).collect())
    }

    /// Whether ledger and stores, all of them files, are other ones than those on record.
    async fn has_moved(&self) -> bool {
        let ground = &self.0;
        let is_file =
            |shard: &crate::stores::Shard| matches!(shard.part.place, crate::config::Place::Sqlite(_));
        if ground.is_shared || !ground.shards.iter().all(is_file) {
            return false;
        }
        let known = within(self.limit(), "read the incarnations on record", self.ledger().known()).await;
        let speaks = within(self.limit(), "open the ledger", self.ledger().inspect()).await;
        let (Ok(known), Ok(speaks)) = (known.map_err(|error| of_ledger(&error)), speaks) else {
            return false;
        };
        let mut found = Vec::new();
        for shard in &ground.shards {
            if let Ok(inspection) = within(self.limit(), "look", shard.store.inspect()).await {
                found.push((shard.part.slot, inspection.incarnation));
            }
        }
        let found: Vec<_> = found.iter().map(|(slot, speaks)| (*slot, speaks)).collect();
        sequent_guard::all_moved(&known, &speaks.incarnation, &found)
    }
}

fn raised(loss: Loss, ceiling: u64) -> u64 {
    match loss {
        Loss::Moved => ceiling,
        Loss::Bump(ids) => ceiling.saturating_add(ids),
    }
}

/// Where a counter stands.
#[derive(Debug, Clone, Copy)]
struct Stand {
    /// How far it is known to be …
    at: u64,
    /// … and permitted.
    ceiling: u64,
}

impl Stand {
    fn of(row: &Row) -> Self {
        Self { at: row.reached(), ceiling: row.ceiling }
    }
}

/// Where counters stand that have cells of this epoch and no row: they begin above floor and loss, and never below their cells.
fn stands(
    rowless: &Rowless,
    epoch: u64,
    (floor, loss): (u64, Loss),
) -> BTreeMap<Key, BTreeMap<SlotIndex, Stand>> {
    let bump = raised(loss, 0);
    let stand = |at: u64| Stand { at, ceiling: floor.max(at.saturating_sub(bump)) };
    let own = rowless.iter().filter(|(cell, _)| cell.epoch() == epoch);
    let slots =
        |slots: &BTreeMap<SlotIndex, u64>| slots.iter().map(|(slot, at)| (*slot, stand(*at))).collect();
    own.map(|(cell, at)| (without_epoch(cell), slots(at))).collect()
}

fn of_rows(
    key: &Key,
    span: Span,
    layout: Layout,
    (rows, loss): (&BTreeMap<SlotIndex, Stand>, Loss),
) -> PlannedKey {
    let number = |place: u64| place.saturating_mul(span.step()).saturating_add(span.start());
    let given = rows.iter().filter_map(|(slot, row)| layout.place_of(row.at, *slot));
    let after = |slot: SlotIndex| raised(loss, rows.get(&slot).map_or(0, |row| row.ceiling));
    let first = |slot: SlotIndex| {
        let last = layout.place_of(after(slot).checked_add(1)?, slot)?;
        Some(last - (layout.numbers_per_id() - 1))
    };
    let skipped = (0..layout.slots()).fold(0_u64, |all, slot| {
        let from = rows.get(&slot).map_or(0, |row| row.at);
        all.saturating_add(after(slot).saturating_sub(from).saturating_mul(layout.numbers_per_id()))
    });
    let first = (0..layout.slots()).filter_map(first).min().map(number);
    PlannedKey {
        sequence: key.sequence().to_owned(),
        key: key.to_string(),
        last_before: given.max().map(number),
        first_after: first.filter(|first| *first <= span.limit()),
        skipped,
    }
}

fn of_dense(row: &DenseRow, span: Span, loss: Loss) -> PlannedKey {
    let after = raised(loss, row.value);
    let first =
        after.checked_add(1).filter(|next| *next <= span.capacity()).map(|next| number_of(span, next));
    PlannedKey {
        sequence: row.key.sequence().to_owned(),
        key: row.key.to_string(),
        last_before: (row.value > 0).then(|| number_of(span, row.value)),
        first_after: first,
        skipped: after - row.value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::{Incarnation, Life};

    fn row(base: u64, seen: u64, ceiling: u64) -> Stand {
        let (store, ledger) = (Incarnation::new("s"), Incarnation::new("l"));
        Stand::of(&Row { life: Life::from_stored(9), store, ledger, base, ceiling, seen, opened_at_ms: 0 })
    }

    #[test]
    fn a_cell_without_a_row_begins_above_floor_and_loss_and_never_below_itself() {
        let rowless = Rowless::from([
            (Key::from_stored("order|~2"), BTreeMap::from([(0, 500), (1, 90)])),
            (Key::from_stored("old"), BTreeMap::from([(0, 7)])),
        ]);
        let found = stands(&rowless, 2, (40, Loss::Bump(100)));
        assert_eq!(found.keys().collect::<Vec<_>>(), [&Key::from_stored("order")]);
        let after = |slot| raised(Loss::Bump(100), found[&Key::from_stored("order")][&slot].ceiling);
        assert_eq!((after(0), after(1)), (500, 140));
    }

    #[test]
    fn what_is_left_out_is_told_in_numbers() {
        let (key, layout) = (Key::from_stored("order"), Layout::new(1, 0).unwrap());
        let rows = BTreeMap::from([(0, row(0, 10, 12)), (1, row(0, 9, 20))]);
        let plan = of_rows(&key, Span::default(), layout, (&rows, Loss::Bump(100)));
        // Raw id 10 of slot 0 is the highest given; 113 of slot 0 the lowest that may be.
        let number = |raw, slot| layout.encode(raw, slot).unwrap() - layout.encode(1, 0).unwrap() + 1;
        assert_eq!(plan.last_before, Some(number(10, 0)), "{plan:?}");
        assert_eq!(plan.first_after, Some(number(113, 0)), "{plan:?}");
        assert_eq!(plan.skipped, 102 + 111);
        let moved = of_rows(&key, Span::default(), layout, (&rows, Loss::Moved));
        assert_eq!((moved.first_after, moved.skipped), (Some(number(13, 0)), 2 + 11), "{moved:?}");
    }

    #[test]
    fn a_slot_without_a_row_begins_above_the_loss_alone() {
        let (key, layout) = (Key::from_stored("order"), Layout::new(1, 0).unwrap());
        let rows = BTreeMap::from([(0, row(0, 1000, 1000))]);
        let plan = of_rows(&key, Span::default(), layout, (&rows, Loss::Bump(5)));
        let number = |raw, slot| layout.encode(raw, slot).unwrap() - layout.encode(1, 0).unwrap() + 1;
        assert_eq!(plan.first_after, Some(number(6, 1)), "{plan:?}");
    }

    #[test]
    fn a_dense_counter_skips_what_is_named() {
        let row = DenseRow { key: Key::from_stored("invoice"), value: 7, begun_at_ms: 0 };
        let plan = of_dense(&row, Span::default(), Loss::Bump(100));
        assert_eq!((plan.last_before, plan.first_after, plan.skipped), (Some(7), Some(108), 100));
    }
}
