//! Plan of a resize, for people and scripts: the effect on each key, and what would no longer fit.

use std::collections::BTreeSet;

use sequent_core::{Key, SlotIndex, ledger::LayoutRecord};
use sequent_engine::{
    AtRisk, Body, OpenError,
    ledger_timeout::{patiently, within},
};
use sequent_guard::{KeyPlan, Placed, Plan, Resize};
use serde::Serialize;

use super::Resizing;

/// The state of a plan whose layout is in force already, so that nothing changes.
pub(super) const IN_FORCE: &str = "in_force";

/// A layout, for people and scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LayoutReport {
    /// n.
    pub shard_bits: u8,
    /// m.
    pub memory_bits: u8,
    /// The generation: one higher with each resize.
    pub generation: u64,
}

/// The effect of a resize on one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResizedKey {
    /// The sequence.
    pub sequence: String,
    /// The key.
    pub key: String,
    /// The highest number that servers have reported as given; 0: none.
    pub before: u64,
    /// The highest number that can have been given within the ledger's ceilings; 0: none.
    pub last: u64,
    /// The lowest number of the next layout, as far as known before the cells are closed. Absent if none is
    /// left.
    pub next: Option<u64>,
    /// What would no longer fit or be allowed.
    pub fault: Option<String>,
}

/// The plan of a resize, or its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResizeReport {
    /// The previous layout.
    pub from: LayoutReport,
    /// The next layout.
    pub to_be: LayoutReport,
    /// `new` (nothing is written yet), `planned`, `fenced` (it must be finished), `current` (it is done), or
    /// `in_force`: the requested layout is in force already, and there is nothing to do.
    pub state: &'static str,
    /// Slots whose stores are new to the ring.
    pub added: Vec<SlotIndex>,
    /// Stores that move, from one slot to another.
    pub moved: Vec<(SlotIndex, SlotIndex)>,
    /// Slots whose stores leave the ring.
    pub leaving: Vec<SlotIndex>,
    /// The keys whose counters are still those of the previous layout, ascending.
    pub keys: Vec<ResizedKey>,
}

impl Resizing {
    pub(super) async fn report(&self, resize: &Resize) -> Result<ResizeReport, OpenError> {
        let plan = resize.plan().await?;
        let limit = self.config.ring.attempt_timeout;
        let (_, definitions) =
            within(limit, "read the definitions", patiently(|| self.ledger.definitions())).await?;
        let body = |name: &str| definitions.iter().find(|held| held.name.as_str() == name);
        let keys = plan.keys.iter().map(|key| {
            let body = body(key.key.sequence()).and_then(|held| Body::from_text(&held.body).ok());
            self.key(&plan, key, &body.unwrap_or_default(), &resize.stores)
        });
        let report = |LayoutRecord { layout, generation, .. }: &LayoutRecord| LayoutReport {
            shard_bits: layout.shard_bits(),
            memory_bits: layout.memory_bits(),
            generation: *generation,
        };
        let at_hand: BTreeSet<SlotIndex> = resize.stores.iter().filter_map(|placed| placed.slot).collect();
        let named = self.parts.iter().filter_map(|(slot, _)| *slot);
        let mut added: Vec<SlotIndex> =
            named.filter(|slot| !at_hand.contains(slot)).chain(plan.new.clone()).collect();
        added.sort_unstable();
        let (from, to_be) = (report(&plan.change.from), report(&plan.change.next));
        let state = match (plan.is_fenced, self.page.step.next()) {
            (true, _) => "fenced",
            (false, Some(_)) => "planned",
            (false, None) if self.is_in_force(&plan) => {
                let (moved, leaving, keys) = (Vec::new(), Vec::new(), Vec::new());
                return Ok(ResizeReport { from, to_be: from, state: IN_FORCE, added, moved, leaving, keys });
            }
            (false, None) => "new",
        };
        let keys = keys.collect();
        Ok(ResizeReport { from, to_be, state, added, moved: plan.moved, leaving: plan.leaving, keys })
    }

    /// Whether a run would change nothing, according to the guard.
    fn is_in_force(&self, plan: &Plan) -> bool {
        let stays = plan.moved.is_empty() && plan.leaving.is_empty() && self.gone.is_empty();
        stays && self.next == self.page.layout
    }

    fn key(&self, plan: &Plan, key: &KeyPlan, body: &Body, stores: &[Placed]) -> ResizedKey {
        let span = body.span();
        let (from, to_be) = (plan.change.from.layout, plan.change.next.layout);
        let before =
            |place: Option<u64>| place.map_or(0, |place| span.number_at(from, place)).min(span.limit());
        let filled = self.parts.iter().filter_map(|(slot, _)| *slot);
        let next = plan.first(key, filled).map(|place| span.number_at(to_be, place));
        let next = next.filter(|next| *next <= span.limit());
        let (sequence, last) = (key.key.sequence().to_owned(), before(key.last));
        let spent =
            || (next.is_none() && last < span.limit()).then(|| format!("{}: no number is left", key.key));
        let refused = || {
            let at_risk = AtRisk::of(&self.config);
            // If servers were added after the definition, that is not a fault of the next layout.
            body.check_layout(self.page.layout, at_risk).ok()?;
            let fault = body.check_layout(self.next, at_risk).err()?;
            Some(format!("{sequence}: {fault}"))
        };
        let held = || unheld(&key.key, plan.change.next.generation, stores);
        ResizedKey {
            fault: spent().or_else(refused).or_else(held),
            key: key.key.to_string(),
            before: before(key.taken),
            last,
            next,
            sequence,
        }
    }
}

/// Why no store of the next layout can hold the key's cells. Slots whose stores can't are left out, as before.
fn unheld(key: &Key, generation: u64, stores: &[Placed]) -> Option<String> {
    let cells = key.in_generation(generation);
    let in_ring = || stores.iter().filter(|placed| placed.slot.is_some());
    if in_ring().any(|placed| placed.store.holds(&cells).is_ok()) {
        return None;
    }
    let unheld = |placed: &Placed| Some((placed.slot?, placed.store.holds(&cells).err()?));
    let (slot, error) = in_ring().find_map(unheld)?;
    Some(format!("slot {slot}: {}", error.context()))
}
