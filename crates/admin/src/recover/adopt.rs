//! Adoption of stamped stores: the ledger is lost without a copy, and an empty one takes over the cluster that the stamps
//! name.
//!
//! The stamps name cluster, layout, slot and generation, and the lost ledger. The empty ledger gets that
//! layout, each store its stamp, and a recovery then names the loss. If the process ends in between, the
//! cluster stays refused: a store still has the old stamp, or a store's mark is above the new ledger's
//! version. The command is then repeated.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use sequent_core::{ErrorKind, Inspection, SlotIndex, SourceError, ledger::LayoutRecord};
use sequent_engine::{
    OpenError, Options,
    bootstrap::FIRST_CALL_FACTOR,
    config::{Config, Place},
    foreign_stores::existing,
    ledger_timeout::within,
    stores::{self, Files, Shard},
};
use tokio::task::JoinSet;

use super::unreadable_witnesses::{listed, without_words};
use crate::{
    admin::Admin,
    cell_scan::{Pages, extent_of},
};

/// The reason why every store must be seen.
const WHY: &str = "the ledger was lost, and not every store can be seen";

/// A shard, and the result of its examination.
pub(crate) type Look = (Shard, Result<Inspection, SourceError>);

/// A loss that an operator names for a cluster whose ledger may be empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamedLoss {
    /// No counter has come further than so many raw ids above its ceiling. An empty ledger's ceilings are 0.
    pub bump: u64,
    /// Slots whose stores are lost. Only the bump prevents a repeat of what they gave.
    pub without: BTreeSet<SlotIndex>,
    /// The caller's further reasons against it: running servers.
    pub cautions: Vec<String>,
    /// Whether the operator has read all of that, and what no bump covers: cells beyond every bump, and cells
    /// of a previous layout.
    pub is_confirmed: bool,
}

impl NamedLoss {
    /// A loss of so many raw ids, with every store available.
    pub fn of(bump: u64) -> Self {
        Self { bump, ..Self::default() }
    }
}

impl Admin {
    /// Opens a cluster after a loss that an operator names. If the ledger is empty and the shards have the
    /// stamps of a lost one, the ledger first adopts their cluster. Otherwise nothing is changed. What was
    /// not seen is reported.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open). `Refused` if the store of a slot that is not named is missing, does not
    /// answer, or belongs to another cluster than the others. `Refused` if a cell is above the bump, or if
    /// something that no bump covers was not confirmed. In each case no store was changed.
    pub async fn open_after_loss(
        config: &Config,
        options: &Options,
        loss: &NamedLoss,
    ) -> Result<Self, OpenError> {
        let mut unseen = Vec::new();
        if config.ledger.place != Place::Memory {
            let mut files = Files::default();
            let taken_up = take_up(config, options, (loss, &mut unseen), &mut files).await;
            files.leave().await;
            taken_up?;
        }
        match Self::open(config, options).await {
            Err(OpenError::NoCluster(text) | OpenError::Recovery(text)) if !unseen.is_empty() => {
                Err(OpenError::Refused(format!(
                    "{text}. No store that was read has a stamp either. Bring the stores back, and repeat the command: {}",
                    unseen.join("; ")
                )))
            }
            opened => opened,
        }
    }
}

async fn take_up(
    config: &Config,
    options: &Options,
    (loss, unseen): (&NamedLoss, &mut Vec<String>),
    files: &mut Files,
) -> Result<(), OpenError> {
    let without = &loss.without;
    let looks = look(config, options, files).await?;
    let stamps = || looks.iter().filter_map(|(_, found)| found.as_ref().ok()?.stamp.clone());
    let Some(any) = stamps().next() else {
        let silent = looks.iter().filter_map(|(shard, found)| Some((shard.part.slot, found.as_ref().err()?)));
        unseen.extend(silent.map(|(slot, error)| format!("slot {slot}: {error}")));
        return Ok(());
    };
    let record =
        LayoutRecord { cluster: any.cluster.clone(), layout: any.layout, generation: any.generation };
    let is_gone = matches!(&config.ledger.place, Place::Sqlite(path) if !path.exists());
    if is_gone {
        // Checked before an empty ledger file is made.
        check_seen(config, &record, &looks, without)?;
        check_extent(&looks, loss, (record.generation, config.ring.attempt_timeout)).await?;
    }
    let limit = config.ring.attempt_timeout;
    let ledger = stores::ledger(&config.ledger.place, true, &options.env, files)?;
    let id = within(limit * FIRST_CALL_FACTOR, "open the ledger", ledger.inspect()).await?.id;
    let Some(gone) = stamps().map(|stamp| stamp.ledger).find(|ledger| *ledger != id) else { return Ok(()) };
    let held = within(limit, "read the layout", ledger.layout()).await?;
    let rows = within(limit, "read the rows", ledger.list(None, 1)).await?;
    let (_, definitions) = within(limit, "read the definitions", ledger.definitions()).await?;
    let dense = within(limit, "read the dense counters", ledger.dense(None, 1)).await?;
    if held.is_some_and(|held| held != record) || !rows.is_empty() || !dense.is_empty() {
        // The ledger is in use, so it does not replace a lost one.
        return Ok(());
    }
    let slots = record.layout.slots();
    let mut lines = check_seen(config, &record, &looks, without)?;
    lines.extend(check_extent(&looks, loss, (record.generation, limit)).await?);
    // A server that had not noticed the loss wrote them back. This ledger never counted by them.
    lines.extend((!definitions.is_empty()).then(|| found_defined(definitions.len())));
    for line in &lines {
        (options.say)(line);
    }
    let mut to_stamp = Vec::new();
    for (shard, found) in looks.into_iter().filter(|(shard, _)| shard.part.slot < slots) {
        let slot = shard.part.slot;
        let Ok(found) = found else { continue };
        let stamp = |ledger| record.stamp(ledger, slot);
        match &found.stamp {
            Some(borne) if *borne == stamp(gone) => to_stamp.push((shard, found, stamp(id))),
            // Stamped by an earlier run that was interrupted, or empty: an empty store is stamped at its
            // first use.
            Some(borne) if *borne == stamp(id) => {}
            None if !found.has_cells => {}
            borne => {
                let borne = borne.as_ref().map_or("none".to_owned(), ToString::to_string);
                return Err(refused(slot, &format!("it has the stamp {borne}, expected {}", stamp(gone))));
            }
        }
    }
    let founded = within(limit, "write the layout", ledger.found(&record)).await?;
    if founded != record {
        return Err(OpenError::Refused("another process has written another layout meanwhile".to_owned()));
    }
    for (shard, found, stamp) in to_stamp {
        let stamped = shard.store.stamp(&found.instance, found.stamp.as_ref(), &stamp);
        within(limit, "stamp the shard", stamped).await?;
    }
    Ok(())
}

/// The note about definitions in a ledger that was emptied.
fn found_defined(count: usize) -> String {
    format!(
        "the ledger has no rows, but {count} definitions: a server that ran on wrote them back after the ledger was emptied. Check \
         each before numbers are taken of it"
    )
}

/// Refuses if a cell is above the bump, or if an operator has not read what no bump covers. Returns the
/// notes.
async fn check_extent(
    looks: &[Look],
    loss: &NamedLoss,
    (generation, limit): (u64, Duration),
) -> Result<Vec<String>, OpenError> {
    let seen = looks.iter().filter(|(_, found)| found.is_ok());
    let stores = seen.map(|(shard, _)| (shard.part.slot, Arc::clone(&shard.store)));
    let extent = extent_of(stores, None, Pages::all(limit * FIRST_CALL_FACTOR)).await;
    let lines = extent.check(loss.bump, &loss.without)?;
    let warnings = [extent.warnings(generation), lines, loss.cautions.clone()].concat();
    if !warnings.is_empty() && !loss.is_confirmed {
        return Err(OpenError::Refused(format!(
            "the ledger is empty and would adopt the cluster of its stores, which needs a confirmation: {}; nothing was done: read \
             this, and add --yes",
            warnings.join("; ")
        )));
    }
    Ok(warnings)
}

/// Refuses if a slot's store can't be seen, because it is unknown how far its counters were. Returns the
/// notes about slots that the operator named, and about empty stores.
fn check_seen(
    config: &Config,
    record: &LayoutRecord,
    looks: &[Look],
    without: &BTreeSet<SlotIndex>,
) -> Result<Vec<String>, OpenError> {
    if config.cluster != record.cluster {
        let (own, other) = (&config.cluster, &record.cluster);
        return Err(OpenError::Refused(format!("cluster is {own}: the shards belong to cluster {other}")));
    }
    let parts = config.shards_of(record.layout);
    let mut unseen: Vec<(SlotIndex, String)> = Vec::new();
    let mut empty = Vec::new();
    for slot in 0..record.layout.slots() {
        let look = looks.iter().find(|(shard, _)| shard.part.slot == slot);
        match (look, parts.iter().find(|part| part.slot == slot)) {
            (Some((_, Ok(found))), _) if found.stamp.is_none() && !found.has_cells => empty.push(slot),
            (Some((_, Ok(_))), _) => {}
            (Some((_, Err(error))), _) => unseen.push((slot, error.to_string())),
            (None, Some(part)) => unseen.push((slot, format!("{} is not there", part.place))),
            (None, None) => unseen.push((slot, "the configuration names no store for it".to_owned())),
        }
    }
    let shown = |unseen: &[(SlotIndex, String)]| {
        unseen.iter().map(|(slot, cause)| format!("slot {slot}: {cause}")).collect::<Vec<_>>().join("; ")
    };
    let unnamed: Vec<_> = unseen.iter().filter(|(slot, _)| !without.contains(slot)).cloned().collect();
    if !unnamed.is_empty() {
        let words = without_words(unnamed.iter().map(|(slot, _)| *slot));
        return Err(OpenError::Refused(format!(
            "{WHY}, and only the stores show how far the counters were: {}; no store was changed. Bring the stores back, and repeat \
             the command; or, if they are lost, add `{words}`, with N at least the highest raw id that any of their counters has \
             reached: numbers above N would be given again",
            shown(&unnamed)
        )));
    }
    let mut lines = Vec::new();
    if !unseen.is_empty() {
        lines.push(format!(
            "not read, so only N prevents that their numbers are given again: {}",
            shown(&unseen)
        ));
    }
    if !empty.is_empty() {
        let slots = listed(empty.into_iter());
        lines.push(format!("empty, so only N prevents that their numbers are given again: slots {slots}"));
    }
    Ok(lines)
}

/// Examines each existing shard, all at once.
pub(crate) async fn look(
    config: &Config,
    options: &Options,
    files: &mut Files,
) -> Result<Vec<Look>, OpenError> {
    let limit = config.ring.attempt_timeout;
    let looks = existing(config, options, files)?.into_iter().map(|shard| async move {
        let found = within(limit, "look", shard.store.inspect()).await;
        (shard, found)
    });
    let mut looks = looks.collect::<JoinSet<_>>().join_all().await;
    looks.sort_by_key(|(shard, _)| shard.part.slot);
    Ok(looks)
}

fn refused(slot: SlotIndex, cause: &str) -> OpenError {
    let context = format!(
        "slot {slot}: {cause}: an empty ledger replaces a lost one only if the stamp of every shard names that one"
    );
    SourceError::new(ErrorKind::Refused, context).into()
}
