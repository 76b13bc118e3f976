//! The check of durability at the start. Stores that may lose data are refused unless the configuration allows them.
//! The guard repeats the check whenever the ledger restarts.

use std::sync::Arc;

use sequent_core::{Durability, DurabilityClass};
use tokio::task::JoinSet;

use crate::{
    config::Config, definition::Placement, error::OpenError, ledger_timeout::within,
    open::bootstrap::ClusterHandle,
};

/// Checks the ledger and the shards. A ledger that may lose acknowledged writes repeats dense numbers after a crash.
/// If the ledger and all shards are volatile, nothing shows which numbers were issued.
pub(crate) async fn check(config: &Config, cluster: &ClusterHandle) -> Result<(), OpenError> {
    check_dense(config, &cluster.durability)?;
    if cluster.durability.class != DurabilityClass::Volatile || config.ring.allow_volatile {
        return Ok(());
    }
    if !all_forget(cluster).await {
        return Ok(());
    }
    Err(OpenError::Refused(sequent_guard::all_forget(&cluster.durability)))
}

fn check_dense(config: &Config, durability: &Durability) -> Result<(), OpenError> {
    let dense = config.sequences.iter().find(|part| part.body.placement() == Placement::Dense);
    let Some(dense) = dense.filter(|_| !config.ledger.allow_lossy) else { return Ok(()) };
    if durability.class == DurabilityClass::Durable {
        return Ok(());
    }
    let lossy = sequent_guard::lossy(durability);
    Err(OpenError::Refused(format!("sequence {} has placement dense: {lossy}", dense.name)))
}

/// Whether each shard reports that it is volatile. An unavailable shard counts as not volatile.
async fn all_forget(cluster: &ClusterHandle) -> bool {
    let forgets = cluster.shards.iter().map(|shard| {
        let (store, limit) = (Arc::clone(&shard.store), cluster.limit);
        async move {
            let look = within(limit, "look at a shard", store.inspect()).await;
            look.is_ok_and(|found| found.durability.class == DurabilityClass::Volatile)
        }
    });
    forgets.collect::<JoinSet<_>>().join_all().await.into_iter().all(|forgets| forgets)
}
