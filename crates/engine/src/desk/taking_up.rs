//! A ledger that was lost without a copy: an empty one takes up the cluster that the shards' stamps tell of.
//!
//! The stamps name cluster, layout, slot and epoch, and the ledger that is gone. The empty one gets that layout, and each
//! shard its stamp; a recovery then names the loss. Whoever dies in between leaves a cluster that is refused as it was before:
//! either a shard still bears the stamp of the ledger that is gone, or a shard's mark is above the new one's version. The
//! command is given once more.

use sequent_core::{ErrorKind, Inspection, Layout, SHARD_BITS_MAX, SourceError, Stamp, ledger::LayoutRecord};
use tokio::task::JoinSet;

use super::Desk;
use crate::{
    OpenError, Options,
    config::{Config, Place},
    ground::FIRST_CALL_FACTOR,
    limit::within,
    stores::{self, Files, Shard},
};

/// A shard, and what a look at it found.
type Look = (Shard, Result<Inspection, SourceError>);

impl Desk {
    /// The desk of a cluster after a loss that an operator names. Where the ledger holds nothing at all, and the shards
    /// bear the stamps of one that is gone, it takes up their cluster first; otherwise nothing is changed.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open); `Refused` where a shard does not answer, or is not of one cluster with the others.
    pub async fn open_after_loss(config: &Config, options: &Options) -> Result<Self, OpenError> {
        if config.ledger.place != Place::Memory {
            let mut files = Files::default();
            let taken_up = take_up(config, options, &mut files).await;
            files.leave().await;
            taken_up?;
        }
        Self::open(config, options).await
    }
}

async fn take_up(config: &Config, options: &Options, files: &mut Files) -> Result<(), OpenError> {
    // The widest ring's names where the configuration has none of its own: the stamps say how wide it is.
    let widest = Layout::new(SHARD_BITS_MAX, 0).or_else(|_| config.first_layout());
    let widest = widest.map_err(|error| OpenError::Refused(error.to_string()))?;
    let looks = look(config, options, widest, files).await?;
    let stamps = || looks.iter().filter_map(|(_, found)| found.as_ref().ok()?.stamp.clone());
    let Some(any) = stamps().next() else { return Ok(()) };
    let limit = config.ring.health.attempt_timeout;
    let ledger = stores::ledger(&config.ledger.place, true, &options.env, files)?;
    let unusable = |error: SourceError| OpenError::of_source(&error);
    let id =
        within(limit * FIRST_CALL_FACTOR, "open the ledger", ledger.inspect()).await.map_err(unusable)?.id;
    let Some(gone) = stamps().map(|stamp| stamp.ledger).find(|ledger| *ledger != id) else { return Ok(()) };
    let record = LayoutRecord { cluster: any.cluster.clone(), layout: any.layout, epoch: any.epoch };
    let held = within(limit, "read the layout", ledger.layout()).await.map_err(unusable)?;
    let rows = within(limit, "read the rows", ledger.list(None, 1)).await.map_err(unusable)?;
    let (_, definitions) =
        within(limit, "read the definitions", ledger.definitions()).await.map_err(unusable)?;
    if held.is_some_and(|held| held != record) || !rows.is_empty() || !definitions.is_empty() {
        // Somebody counts by it: it is not what became of a ledger that was lost.
        return Ok(());
    }
    let slots = record.layout.slots();
    let mut to_stamp = Vec::new();
    for (shard, found) in looks.into_iter().filter(|(shard, _)| shard.part.slot < slots) {
        let slot = shard.part.slot;
        let found = found.map_err(|error| refused(slot, &error.to_string()))?;
        let stamp = |ledger| {
            let LayoutRecord { cluster, layout, epoch } = record.clone();
            Stamp { ledger, cluster, layout, slot, epoch }
        };
        match &found.stamp {
            Some(borne) if *borne == stamp(gone) => to_stamp.push((shard, found, stamp(id))),
            // Stamped by a command that was cut off, or empty: it is stamped when it is used.
            Some(borne) if *borne == stamp(id) => {}
            None if !found.has_cells => {}
            borne => {
                let borne = borne.as_ref().map_or("none".to_owned(), ToString::to_string);
                return Err(refused(slot, &format!("it bears stamp {borne}, expected {}", stamp(gone))));
            }
        }
    }
    if config.cluster != record.cluster {
        let (own, other) = (&config.cluster, &record.cluster);
        return Err(OpenError::Refused(format!("cluster is {own}: the shards are of cluster {other}")));
    }
    let founded = within(limit, "write the layout", ledger.found(&record)).await.map_err(unusable)?;
    if founded != record {
        return Err(OpenError::Refused("another process has written another layout meanwhile".to_owned()));
    }
    for (shard, found, stamp) in to_stamp {
        let stamped = shard.store.stamp(&found.incarnation, found.stamp.as_ref(), &stamp);
        within(limit, "stamp the shard", stamped).await.map_err(unusable)?;
    }
    Ok(())
}

/// Looks at each shard that is there; all at once.
async fn look(
    config: &Config,
    options: &Options,
    layout: Layout,
    files: &mut Files,
) -> Result<Vec<Look>, OpenError> {
    let limit = config.ring.health.attempt_timeout;
    let mut parts = config.shards_of(layout);
    // Of files that are not there nothing is learned.
    parts.retain(|part| !matches!(&part.place, Place::Sqlite(path) if !path.exists()));
    let shards = stores::shards(parts, &config.cluster, false, &options.env, files)?;
    let mut looks = JoinSet::new();
    for shard in shards {
        looks.spawn(async move {
            let found = within(limit, "look", shard.store.inspect()).await;
            (shard, found)
        });
    }
    let mut looks = looks.join_all().await;
    looks.sort_by_key(|(shard, _)| shard.part.slot);
    Ok(looks)
}

fn refused(slot: sequent_core::SlotIndex, cause: &str) -> OpenError {
    let error = SourceError::new(
        ErrorKind::Refused,
        format!(
            "slot {slot}: {cause}: a ledger that was lost is followed by an empty one only where every shard says whose it is"
        ),
    );
    OpenError::of_source(&error)
}
