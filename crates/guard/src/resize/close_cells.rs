//! Closing of the cells of the old layout: their values determine where the next counters begin.

use std::sync::Arc;

use sequent_core::{
    Block, Cell, Epoch, ErrorKind, Rule, Rules, SlotIndex, SourceError,
    ledger::{Counter, LayoutChange, LedgerInspection, Row},
};
use tokio::{task::JoinSet, time::timeout};

use super::{
    KeyPlan, Plan, Resize,
    inspect::{Seen, Sight},
    keys::place,
    shown,
};
use crate::{counter::Evidence, jump_limit, plausibility::Plausibility, timeouts::patiently};

/// The most cells closed at once.
const CLOSES_MAX: usize = 32;

/// The highest raw id that can have been given, by slot of the old layout.
pub(super) type Highest = Vec<(SlotIndex, u64)>;

/// A cell to close: the index of its key, and its counter.
struct Work {
    key: usize,
    counter: Counter,
    row: Row,
    seen: Option<Seen>,
}

/// What to do with a cell.
#[derive(Clone, Copy)]
enum How {
    /// Close it, for an epoch that nobody uses.
    Close,
    /// Only read it.
    Read,
}

impl Resize {
    /// Closes the cells of these keys, and returns the highest raw ids of their counters.
    pub(super) async fn close(
        &self,
        sight: &Sight,
        change: &LayoutChange,
        keys: &[KeyPlan],
    ) -> Result<Vec<Highest>, SourceError> {
        self.values(sight, change, keys, How::Close).await
    }

    /// Reads the cells' values for the plan. A jump is thus reported before anything is changed.
    pub(super) async fn read_values(&self, sight: &Sight, plan: &mut Plan) -> Result<(), SourceError> {
        let highest = self.values(sight, &plan.change, &plan.keys, How::Read).await?;
        let layout = plan.change.from.layout;
        for (key, highest) in plan.keys.iter_mut().zip(highest) {
            for (slot, raw) in highest {
                if let Some((_, row)) = key.rows.iter_mut().find(|(of, _)| *of == slot) {
                    row.ceiling = row.ceiling.max(raw);
                }
            }
            key.last = place(layout, &key.rows, |row| row.ceiling).max(key.begun);
        }
        Ok(())
    }

    async fn values(
        &self,
        sight: &Sight,
        change: &LayoutChange,
        keys: &[KeyPlan],
        how: How,
    ) -> Result<Vec<Highest>, SourceError> {
        let mut works: Vec<Work> = Vec::new();
        for (at, plan) in keys.iter().enumerate() {
            for (slot, row) in &plan.rows {
                // Also if the row names no store: it was advanced while the store was away, and the cell there is still open.
                let seen = sight.of(*slot);
                let counter = Counter { slot: *slot, key: plan.key.clone() };
                works.push(Work { key: at, counter, row: row.clone(), seen: seen.cloned() });
            }
        }
        let mut highest = vec![Highest::new(); keys.len()];
        // R20
        let how = if self.rules.keep(Rule::ResizeFence) { how } else { How::Read };
        let mut rest = works.into_iter();
        loop {
            let mut asked = JoinSet::new();
            for work in rest.by_ref().take(CLOSES_MAX) {
                let (limit, generation) = (self.limit, change.from.generation);
                let epoch = Epoch::random(&*self.env.entropy);
                asked.spawn(async move {
                    let value = timeout(limit, value(&work, how, (generation, epoch))).await;
                    (work, value)
                });
            }
            if asked.is_empty() {
                return Ok(highest);
            }
            while let Some(answer) = asked.join_next().await {
                let ended = |error| SourceError::new(ErrorKind::Unavailable, "close").because(error);
                let (Work { key, counter, row, .. }, value) = answer.map_err(ended)?;
                let late = |_| Err(SourceError::new(ErrorKind::Timeout, "close: no answer in time"));
                let value = value.unwrap_or_else(late).map_err(|error| error.during(shown(&counter)))?;
                no_jump(&counter, &row, value)?;
                self.is_credible((&keys[key], change), &counter, &row, value, sight).await?;
                // R21
                let value = if self.rules.keep(Rule::ResizeValues) { value } else { 0 };
                highest[key].push((counter.slot, row.ceiling.max(value)));
            }
        }
    }
}

impl Resize {
    /// Fails if the row claims more than can have been taken.
    async fn is_credible(
        &self,
        (plan, change): (&KeyPlan, &LayoutChange),
        counter: &Counter,
        row: &Row,
        value: u64,
        sight: &Sight,
    ) -> Result<(), SourceError> {
        if row.reached() <= jump_limit::JUMP_CAP {
            return Ok(());
        }
        let LedgerInspection { clock_ms, version, .. } =
            patiently(self.limit, "inspect", || self.ledger.inspect()).await?;
        let store = sight.of(counter.slot).map_or(&row.store, |seen| &seen.found.instance);
        // A missing cell says as little as a new one.
        let value = Some(value).filter(|value| *value > 0);
        let others = || plan.rows.iter().filter(|(slot, _)| *slot != counter.slot).map(|(_, row)| row);
        let layout = change.from.layout;
        let read = || Plausibility::read(&*self.ledger, counter, layout, (version, others()));
        let outside = patiently(self.limit, "read of a counter's history", read).await?;
        let evidence = Evidence { store, value, clock_ms, outside };
        match evidence.against(row) {
            None => Ok(()),
            Some(why) => Err(set_right(&format!("{}: {why}", shown(counter)))),
        }
    }
}

/// The cell's value; 0 if there is no store or no cell.
async fn value(
    Work { counter, row, seen, .. }: &Work,
    how: How,
    (generation, epoch): (u64, Epoch),
) -> Result<u64, SourceError> {
    let Some(Seen { store, found, .. }) = seen else { return Ok(0) };
    let (store, key) = (Arc::clone(store), counter.key.in_generation(generation));
    if store.holds(&key).is_err() {
        // The slot is left out for this key: an advance wrote its row, and there never was a cell.
        return Ok(0);
    }
    let cell = Cell { key: &key, under: &found.instance };
    match how {
        How::Close => store.close(cell, epoch).await,
        How::Read => match store.lift(cell, row.epoch, 0).await {
            // Of another epoch, closed, or missing: its value is found when it is closed.
            Err(error) if error.kind() == ErrorKind::Regressed => Ok(0),
            held => held,
        },
    }
}

/// Fails on a jump: a counter set by hand, in the store or in the ledger, must not move the whole key.
fn no_jump(counter: &Counter, row: &Row, value: u64) -> Result<(), SourceError> {
    let at = row.reached();
    let far = jump_limit::left_ahead(at, row.ceiling).saturating_add(jump_limit::jump_max(
        at,
        Block::NUMBER_MAX,
        1,
    ));
    let (found, bound) = (value.max(row.ceiling), at.saturating_add(far));
    if found <= bound {
        return Ok(());
    }
    let place = if value > bound { "the store" } else { "the ledger" };
    Err(set_right(&format!(
        "{}: {place} has raw id {found}, which is a jump: at most {bound} is accepted",
        shown(counter)
    )))
}

fn set_right(what: &str) -> SourceError {
    let context = format!("{what}; correct the counter there by hand, and repeat the command");
    SourceError::new(ErrorKind::Jumped, context)
}

/// For each slot of the next layout, the raw id that its counter must exceed. `begun` is the place after which it was to begin
/// before.
pub(super) fn bases(
    change: &LayoutChange,
    (highest, begun): (&[(SlotIndex, u64)], Option<u64>),
    rules: Rules,
) -> Highest {
    let (from, next) = (change.from.layout, change.next.layout);
    let slots = 0..next.slots();
    // R22
    if !rules.keep(Rule::ResizeNumbers) {
        let raw = |slot| highest.iter().find(|(held, _)| *held == slot).map_or(0, |(_, raw)| *raw);
        return slots.map(|slot| (slot, raw(slot))).collect();
    }
    let places = highest.iter().filter_map(|(slot, raw)| from.place_of(*raw, *slot));
    let last = places.map(|place| change.carried(place)).chain(begun).max();
    slots.map(|slot| (slot, last.map_or(0, |last| next.raw_behind(last, slot)))).collect()
}
