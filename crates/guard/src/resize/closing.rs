//! Every cell of the layout before is closed, and tells how far it was; that becomes where the next counters begin.

use std::sync::Arc;

use sequent_core::{
    Cell, Life, Rule, Rules, SlotIndex, SourceError,
    ledger::{Counter, LayoutChange, Row},
};
use tokio::task::JoinSet;

use super::{
    KeyPlan, Resize,
    look::{Seen, Sight, is_nobodys},
    shown,
};

/// Cells that are closed at once.
const CLOSES_MAX: usize = 32;

/// By slot of the layout before, the highest raw id that can have been given.
pub(super) type Highest = Vec<(SlotIndex, u64)>;

/// A cell to be closed: whose it is among the keys, and where.
struct Work {
    key: usize,
    counter: Counter,
    row: Row,
    seen: Option<Seen>,
}

impl Resize {
    /// Closes the cells of these keys; returns how far each of their counters was.
    pub(super) async fn close(
        &self,
        sight: &Sight,
        change: &LayoutChange,
        keys: &[KeyPlan],
    ) -> Result<Vec<Highest>, SourceError> {
        let mut works: Vec<Work> = Vec::new();
        for (at, plan) in keys.iter().enumerate() {
            for (slot, row) in &plan.rows {
                let seen = Some(*slot).filter(|_| !is_nobodys(row)).and_then(|slot| sight.of(slot)).cloned();
                let counter = Counter { slot: *slot, key: plan.key.clone() };
                works.push(Work { key: at, counter, row: row.clone(), seen });
            }
        }
        let mut highest = vec![Highest::new(); keys.len()];
        let mut rest = works.into_iter();
        loop {
            let mut closes = JoinSet::new();
            for work in rest.by_ref().take(CLOSES_MAX) {
                let (limit, rules, epoch) = (self.limit, self.rules, change.from.epoch);
                let life = Life::random(&*self.env.entropy);
                closes.spawn(async move {
                    let value = tokio::time::timeout(limit, value(&work, rules, (epoch, life))).await;
                    (work, value)
                });
            }
            if closes.is_empty() {
                return Ok(highest);
            }
            while let Some(closed) = closes.join_next().await {
                let ended =
                    |error| SourceError::new(sequent_core::ErrorKind::Unavailable, "close").because(error);
                let (Work { key, counter, row, .. }, value) = closed.map_err(ended)?;
                let late =
                    |_| Err(SourceError::new(sequent_core::ErrorKind::Timeout, "close: no answer in time"));
                let value = value.unwrap_or_else(late).map_err(|error| error.during(shown(&counter)))?;
                let value = if self.rules.keep(Rule::ResizeValues) { value } else { 0 };
                highest[key].push((counter.slot, row.ceiling.max(value)));
            }
        }
    }
}

/// How far a cell is, closed; 0 where there is no store, or nothing in it.
async fn value(
    Work { counter, row, seen, .. }: &Work,
    rules: Rules,
    (epoch, life): (u64, Life),
) -> Result<u64, SourceError> {
    let Some(Seen { store, found, .. }) = seen else { return Ok(0) };
    let (store, key) = (Arc::clone(store), counter.key.in_epoch(epoch));
    let cell = Cell { key: &key, under: &found.incarnation };
    if rules.keep(Rule::ResizeFence) {
        return store.close(cell, life).await;
    }
    Ok(store.lift(cell, row.life, 0).await.unwrap_or(0))
}

/// For each slot of the next layout the raw id that its counter must be past.
pub(super) fn bases(change: &LayoutChange, highest: &[(SlotIndex, u64)], rules: Rules) -> Highest {
    let (from, next) = (change.from.layout, change.next.layout);
    let slots = 0..next.slots();
    if !rules.keep(Rule::ResizeNumbers) {
        let raw = |slot| highest.iter().find(|(held, _)| *held == slot).map_or(0, |(_, raw)| *raw);
        return slots.map(|slot| (slot, raw(slot))).collect();
    }
    let last = highest.iter().filter_map(|(slot, raw)| from.place_of(*raw, *slot)).max();
    slots.map(|slot| (slot, last.map_or(0, |last| next.raw_behind(last, slot)))).collect()
}
