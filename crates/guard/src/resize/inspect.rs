//! Inspection before a resize: the layout page, the stores with their slots, and the rows.

use std::{collections::BTreeSet, sync::Arc};

use sequent_core::{
    Era, ErrorKind, Inspection, InstanceId, Key, Layout, LedgerId, Mark, SlotIndex, SourceError, Store,
    ledger::{LayoutChange, LayoutPage, ResizeStep},
    mark_of,
};

use super::{COUNTERS_MAX, KeyPlan, Plan, Resize, keys::keys};
use crate::{LedgerFault, admission::Move, old_layout_marks, scan_rows::all_rows, timeouts::patiently};

/// The layout page and the stores as found.
#[derive(Clone)]
pub(super) struct Sight {
    pub(super) page: LayoutPage,
    /// Slots whose stores were volatile when the change was fenced.
    pub(super) volatile: BTreeSet<SlotIndex>,
    pub(super) stores: Vec<Seen>,
}

/// A store as found.
#[derive(Clone)]
pub(super) struct Seen {
    pub(super) store: Arc<dyn Store>,
    pub(super) found: Inspection,
    /// Its slot in the old layout, by its stamp; `None` for a new store, or one already stamped for the next layout.
    pub(super) was: Option<SlotIndex>,
    /// Its slot in the next layout.
    pub(super) slot: Option<SlotIndex>,
}

impl Seen {
    /// Whether it already has the stamp of the next layout.
    fn is_of(&self, change: &LayoutChange) -> bool {
        self.found.stamp.as_ref().is_some_and(|stamp| stamp.generation == change.next.generation)
    }
}

impl Sight {
    /// The store of a slot of the old layout, by its stamp. A store that came back empty is not found, because servers may be
    /// using another one.
    pub(super) fn of(&self, slot: SlotIndex) -> Option<&Seen> {
        self.stores.iter().find(|seen| seen.was == Some(slot))
    }

    /// The layout that passes must name now.
    pub(super) fn era(&self) -> Era {
        let LayoutPage { layout, generation, step, .. } = self.page;
        let layout = if let ResizeStep::Fenced(next) = step { next } else { layout };
        Era { generation, layout }
    }

    /// Whether the store for this slot of the next layout exists and is empty.
    fn is_empty(&self, slot: SlotIndex) -> bool {
        self.stores.iter().any(|seen| seen.slot == Some(slot) && seen.found.stamp.is_none())
    }
}

fn change(page: &LayoutPage, next: Layout) -> Option<LayoutChange> {
    if page.step.is_fenced() { page.change() } else { page.planned(next).change() }
}

impl Resize {
    pub(super) async fn look(&self) -> Result<Sight, SourceError> {
        let inspection = patiently(self.limit, "inspect", || self.ledger.inspect()).await?;
        let page = patiently(self.limit, "read of the layout", || self.ledger.page()).await?;
        let page =
            page.ok_or_else(|| refused("the ledger has no layout yet: it was never used".to_owned()))?;
        if let ResizeStep::Fenced(other) = page.step
            && other != self.next
        {
            let text = format!("a change to {other} is under way, and must be finished first");
            return Err(refused(text));
        }
        let mut stores = Vec::with_capacity(self.stores.len());
        for placed in &self.stores {
            let slot = placed.slot.unwrap_or(0);
            let found = self.limited(slot, "inspect", placed.store.inspect()).await?;
            let was = self.place(&page, inspection.id, placed.slot, &found)?;
            stores.push(Seen { store: Arc::clone(&placed.store), found, was, slot: placed.slot });
        }
        // A store that the old configuration lists under another slot stays in the ring.
        let stays: BTreeSet<_> = stores
            .iter()
            .filter(|seen| seen.slot.is_some())
            .map(|seen| seen.found.instance.clone())
            .collect();
        stores.retain(|seen| seen.slot.is_some() || !stays.contains(&seen.found.instance));
        let volatile = self.volatile(&page).await?;
        let sight = Sight { page, volatile, stores };
        distinct(&sight)?;
        self.no_copy(&sight, &inspection.instance).await?;
        self.compare_with_marks().await?;
        old_layout_marks::no_loss_dropped(&*self.ledger, &sight.page, self.limit).await?;
        Ok(sight)
    }

    /// The slot of a store in the old layout.
    fn place(
        &self,
        page: &LayoutPage,
        ledger: LedgerId,
        slot: Option<SlotIndex>,
        found: &Inspection,
    ) -> Result<Option<SlotIndex>, SourceError> {
        let name = slot.map_or_else(|| "a store that leaves".to_owned(), |slot| format!("slot {slot}"));
        let Some(stamp) = &found.stamp else {
            if found.has_cells {
                return Err(refused(format!(
                    "{name}: the store holds counters and bears no stamp: it is somebody else's"
                )));
            }
            return Ok(None);
        };
        let change = change(page, self.next);
        let Some(LayoutChange { from, next }) = change else { return Err(super::lost_its_plan()) };
        let of_us = stamp.ledger == ledger && stamp.cluster == page.cluster;
        if of_us && (stamp.layout, stamp.generation) == (from.layout, from.generation) {
            return Ok(Some(stamp.slot));
        }
        // It left the ring with an earlier layout, perhaps in the change that is now repeated: its content counts for nobody.
        if of_us && stamp.generation < from.generation {
            return Ok(None);
        }
        let is_next = of_us && (stamp.layout, stamp.generation) == (next.layout, next.generation);
        if is_next && page.step.is_fenced() && Some(stamp.slot) == slot {
            return Ok(None);
        }
        Err(refused(format!(
            "{name}: the store bears stamp {stamp}, which is neither of this layout nor of the next"
        )))
    }

    /// Fails for a copied directory, which no server opens before an operator has acted. A store with the next layout's stamp
    /// is on record under its old slot, so all records are searched.
    async fn no_copy(&self, sight: &Sight, ledger: &InstanceId) -> Result<(), SourceError> {
        if !self.embedded {
            return Ok(());
        }
        let known = patiently(self.limit, "read of the stores on record", || self.ledger.known()).await?;
        let change = change(&sight.page, self.next).ok_or_else(super::lost_its_plan)?;
        let of_the_ring = sight.stores.iter().filter(|seen| seen.was.is_some() || seen.is_of(&change));
        let on_record = |is: &InstanceId| known.stores.iter().any(|(_, record)| record == is);
        let moved = of_the_ring.map(|seen| !on_record(&seen.found.instance));
        match Move::among(&known, ledger, moved).told()? {
            Move::All => Err(LedgerFault::Moved.error()),
            _ => Ok(()),
        }
    }

    /// Fails if the ledger went back.
    async fn compare_with_marks(&self) -> Result<(), SourceError> {
        let home = match &self.home {
            Some(home) => home.bear(0, None).await?,
            None => Mark::default(),
        };
        if let Some(trouble) = old_layout_marks::other_era(&*self.ledger, home, self.limit).await? {
            return Err(trouble.error());
        }
        let mut mark = home.version;
        for placed in &self.stores {
            mark = mark.max(mark_of(&*placed.store).await?);
        }
        let version = patiently(self.limit, "inspect", || self.ledger.inspect()).await?.version;
        if version < mark {
            return Err(LedgerFault::Behind { version, mark }.error());
        }
        Ok(())
    }

    pub(super) async fn plan_of(&self, sight: &Sight) -> Result<Plan, SourceError> {
        let change = change(&sight.page, self.next).ok_or_else(super::lost_its_plan)?;
        let slots = change.from.layout.slots().max(change.next.layout.slots());
        let rows = all_rows(&*self.ledger, slots, COUNTERS_MAX, self.limit).await?;
        if rows.len() == COUNTERS_MAX {
            return Err(refused(format!(
                "there are {COUNTERS_MAX} counters or more: this version can't change so many"
            )));
        }
        let keys = keys(&change, rows, self.rules);
        self.all_there(sight, &keys)?;
        let longest =
            keys.iter().map(|key| key.key.in_generation(change.next.generation).as_str().len()).max();
        if longest.is_some_and(|length| length > Key::LENGTH_MAX) {
            return Err(refused(format!(
                "a key is too long for another layout: at most {} bytes are allowed",
                Key::TEXT_MAX
            )));
        }
        let slots: BTreeSet<SlotIndex> = sight.stores.iter().filter_map(|seen| seen.slot).collect();
        if let Some(slot) = slots.iter().find(|slot| **slot >= self.next.slots()) {
            let most = self.next.slots() - 1;
            return Err(refused(format!("slot is {slot}: 0 to {most} are allowed for {}", self.next)));
        }
        let stores = || sight.stores.iter();
        Ok(Plan {
            is_fenced: sight.page.step.is_fenced(),
            keys,
            new: stores()
                .filter(|seen| seen.was.is_none() && !seen.is_of(&change))
                .filter_map(|seen| seen.slot)
                .collect(),
            moved: stores()
                .filter_map(|seen| seen.was.zip(seen.slot))
                .filter(|(was, is)| was != is)
                .collect(),
            leaving: stores().filter(|seen| seen.slot.is_none()).filter_map(|seen| seen.was).collect(),
            change,
        })
    }

    /// Fails unless every slot with counters has its store: ids could still be taken from a cell that is not closed.
    fn all_there(&self, sight: &Sight, keys: &[KeyPlan]) -> Result<(), SourceError> {
        let rows = keys.iter().flat_map(|key| &key.rows).filter(|(_, row)| !row.store.is_nobody());
        let used: BTreeSet<SlotIndex> = rows.map(|(slot, _)| *slot).collect();
        let is_missing = |slot: &SlotIndex| {
            sight.of(*slot).is_none() && !self.gone.contains(slot) && !sight.volatile.contains(slot)
        };
        match used.into_iter().find(is_missing) {
            None => Ok(()),
            Some(slot) if sight.is_empty(slot) => {
                Err(refused(came_back_empty(slot, sight.page.step.is_fenced())))
            }
            Some(slot) => Err(refused(format!(
                "slot {slot}: its store has counters that must be closed, and it is none of the given stores: name the \
                 configuration that has it, or if no server can ever reach it again, `--gone {slot}`"
            ))),
        }
    }

    /// The slots that need no store although they have counters: see [`note_volatile`](Self::note_volatile).
    async fn volatile(&self, page: &LayoutPage) -> Result<BTreeSet<SlotIndex>, SourceError> {
        let Some(change) = page.fenced_change() else { return Ok(BTreeSet::new()) };
        let known = patiently(self.limit, "read of the stores on record", || self.ledger.known()).await?;
        Ok(super::preflight::volatile(&known, &change))
    }
}

/// Why an empty store is not taken for the one that was there.
fn came_back_empty(slot: SlotIndex, is_fenced: bool) -> String {
    let done = if is_fenced { "" } else { "start a server of the old layout, which stamps it again; or " };
    format!(
        "slot {slot}: its store has counters that must be closed, and the given one is empty: either it forgot, or servers use \
         another one, which may have given more than its ceilings: {done}if no server can ever reach another one, `--gone {slot}`"
    )
}

/// Refuses two stores with the stamp of one slot, one store named twice, and two stores for one slot.
fn distinct(sight: &Sight) -> Result<(), SourceError> {
    let stores = &sight.stores;
    for (at, one) in stores.iter().enumerate() {
        for other in &stores[at + 1..] {
            if one.found.instance == other.found.instance {
                let text = format!("two slots are on one store, {}", one.found.instance);
                return Err(refused(text));
            }
            let same = |one: Option<SlotIndex>, other: Option<SlotIndex>| one.filter(|_| one == other);
            if let Some(slot) = same(one.was, other.was) {
                return Err(refused(format!(
                    "two stores bear the stamp of slot {slot}: one of them is a copy"
                )));
            }
            if let Some(slot) = same(one.slot, other.slot) {
                return Err(refused(format!("slot {slot} is named twice")));
            }
        }
    }
    Ok(())
}

fn refused(text: String) -> SourceError {
    SourceError::new(ErrorKind::Refused, text)
}
