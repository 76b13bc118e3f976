//! Plan of a recovery: its effect on each key, shown before anything is done.

mod key;

use std::collections::BTreeMap;

use sequent_core::{Key, SlotIndex, ledger::Loss};
use sequent_engine::{Body, OpenError, Placement, ledger_timeout::within};
use serde::Serialize;

use self::key::{Stand, of_dense, of_rows, stands};
use crate::{admin::Admin, ceiling_view::without_generation, cell_scan::Extent, named_floor::floor};

pub use key::PlannedKey;

/// The most counters whose rows are read for a plan.
const COUNTERS_MAX: usize = 1 << 16;

/// How many dense sequences are listed.
const NAMED_MAX: usize = 5;

/// Why no cell proves a sufficient bump.
const NOTHING_NEWER: &str = "no store is newer than the ledger, so nothing shows how far the numbers had come: only the operator \
    vouches for N";

/// What a recovery would skip, and why an operator must confirm it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecoveryPlan {
    /// Why a confirmation is needed. Empty if the ledger went back or was copied, and nothing contradicts the
    /// loss.
    pub cautions: Vec<String>,
    /// What each key would skip, ascending.
    pub keys: Vec<PlannedKey>,
    /// Whether there are more keys.
    pub is_partial: bool,
}

impl Admin {
    /// The effect of a recovery from this loss, and why it should be confirmed first. Changes nothing.
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
        self.plan_of(loss, &extent).await
    }

    /// The same plan, computed from these cells.
    pub(crate) async fn plan_of(&self, loss: Loss, extent: &Extent) -> Result<RecoveryPlan, OpenError> {
        let mut cautions = extent.warnings(self.0.record.generation);
        if !self.is_bare().await? && self.0.trouble().await.is_none() && !self.has_moved().await {
            let nothing = "nothing shows that anything was lost: the ledger is not behind any mark that was read, and was neither copied nor emptied";
            cautions.insert(0, nothing.to_owned());
        }
        let (limit, ledger) = (self.limit(), self.ledger());
        let rows = within(limit, "read the rows", ledger.list(None, COUNTERS_MAX)).await?;
        let suspects = self.suspects(&rows).await?;
        cautions.extend(suspects.iter().map(|row| {
            let line = row.line();
            format!("a row is implausible. It would be raised as it is, and its counter gives nothing before the row is set right: {line}")
        }));
        let dense = within(limit, "read the dense counters", ledger.dense(None, COUNTERS_MAX)).await?;
        let is_partial = rows.len() == COUNTERS_MAX || dense.len() == COUNTERS_MAX;
        let bodies = self.in_effect().await?;
        if let Loss::Bump(_) = loss {
            cautions.extend(self.unproven(extent, &bodies).await?);
        }
        let mut by_key: BTreeMap<Key, BTreeMap<SlotIndex, Stand>> = BTreeMap::new();
        for (counter, row) in rows {
            by_key.entry(counter.key).or_default().insert(counter.slot, Stand::of(&row));
        }
        for (cell, slots) in
            extent.ahead.iter().filter(|(cell, _)| cell.generation() == self.0.record.generation)
        {
            let Some(held) = by_key.get_mut(&without_generation(cell)) else { continue };
            for (slot, value) in slots {
                held.entry(*slot).and_modify(|stand| *stand = stand.beside(*value));
            }
        }
        let span = |key: &Key| bodies.get(key.sequence()).map(Body::span);
        let spread = by_key
            .iter()
            .filter_map(|(key, rows)| Some(of_rows(key, span(key)?, self.layout(), (rows, loss))));
        let dense = dense.iter().filter_map(|row| Some(of_dense(row, span(&row.key)?, loss)));
        let floor = floor(ledger, self.0.record.generation, limit).await;
        // If not all rows were read, it is unknown which keys have none.
        let rowless = stands(&extent.rowless, self.0.record.generation, (floor, loss));
        let rowless = rowless.iter().filter(|(key, _)| !is_partial && !by_key.contains_key(*key));
        let rowless = rowless
            .map(|(key, stands)| of_rows(key, span(key).unwrap_or_default(), self.layout(), (stands, loss)));
        let mut keys: Vec<PlannedKey> = spread.chain(dense).chain(rowless).collect();
        keys.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(RecoveryPlan { cautions, keys, is_partial: is_partial || extent.is_partial })
    }

    /// Why nothing proves that a bump is enough. Empty if all cells prove it.
    async fn unproven(
        &self,
        extent: &Extent,
        bodies: &BTreeMap<String, Body>,
    ) -> Result<Vec<String>, OpenError> {
        let mut why = Vec::new();
        if extent.least() == 0 && !self.is_outrun().await? {
            why.push(NOTHING_NEWER.to_owned());
        }
        why.extend(extent.untold_lines());
        why.extend(extent.unread.iter().map(|(slot, _)| {
            format!(
                "slot {slot}: its cells can't be read, so only N prevents that its numbers are given again"
            )
        }));
        let is_absent = |slot: &SlotIndex| !self.0.shards.iter().any(|shard| shard.part.slot == *slot);
        why.extend((0..self.layout().slots()).filter(is_absent).map(|slot| {
            format!("slot {slot}: the configuration names no store for it, so only N prevents that its numbers are given again")
        }));
        let is_dense = |body: &Body| body.placement() == Placement::Dense;
        let dense: Vec<&str> =
            bodies.iter().filter(|(_, body)| is_dense(body)).map(|(name, _)| name.as_str()).collect();
        if !dense.is_empty() {
            let shown = dense.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
            let more = if dense.len() > NAMED_MAX { ", …" } else { "" };
            why.push(format!(
                "dense sequences are counted in the ledger only, so no cell shows how far they had come: {shown}{more}"
            ));
        }
        Ok(why)
    }

    /// Whether a store's mark has a later version of the ledger than the present one.
    async fn is_outrun(&self) -> Result<bool, OpenError> {
        let highest = sequent_guard::read_marks(&self.0.stores(), self.limit()).await.highest;
        Ok(highest > self.0.inspected().await?.version)
    }

    /// Each sequence, as it is in effect.
    async fn in_effect(&self) -> Result<BTreeMap<String, Body>, OpenError> {
        let definitions = self.0.definitions().await?;
        let body = |held: &sequent_core::ledger::Definition| {
            let body = Body::from_text(&held.body).ok()?;
            Some((held.name.to_string(), body.in_effect(held.version, self.0.now()).1.clone()))
        };
        Ok(definitions.iter().filter_map(body).collect())
    }

    /// Whether ledger and stores, all of them files, are other ones than those on record.
    async fn has_moved(&self) -> bool {
        let cluster = &self.0;
        if cluster.is_shared || !cluster.shards.iter().all(|shard| shard.part.place.is_file()) {
            return false;
        }
        let known = self.0.within("read the instances on record", self.ledger().known()).await;
        let (Ok(known), Ok(opened)) = (known, self.0.inspected().await) else { return false };
        let mut found = Vec::new();
        for shard in &cluster.shards {
            if let Ok(inspection) = self.0.within("look", shard.store.inspect()).await {
                found.push((shard.part.slot, inspection.instance));
            }
        }
        let found: Vec<_> = found.iter().map(|(slot, opened)| (*slot, opened)).collect();
        sequent_guard::all_moved(&known, &opened.instance, &found)
    }
}
