//! The operator's word on a loss that nothing inside can measure.

use std::{sync::Arc, time::Duration};

use sequent_core::{
    Incarnation, MarkPlace, SlotIndex, SourceError, Store,
    ledger::{Ledger, Loss},
    mark_of,
};

use crate::{belongs, limit::limited};

/// Takes the ledger at hand as the truth, but for `loss`: every counter opens a new life above its ceiling plus the
/// loss. The version goes above every mark that can be reached, so that the marks no longer accuse it.
///
/// Running servers notice at their next call: the ledger speaks as a new incarnation.
///
/// # Errors
///
/// `LedgerBehind` where the shards are another ledger's; those of ledger and `home`.
pub async fn recover(
    ledger: &dyn Ledger,
    shards: &[(SlotIndex, Arc<dyn Store>)],
    home: Option<&dyn MarkPlace>,
    loss: Loss,
    limit: Duration,
) -> Result<Incarnation, SourceError> {
    let stores: Vec<Arc<dyn Store>> = shards.iter().map(|(_, store)| Arc::clone(store)).collect();
    belongs(ledger, &stores, limit).await?;
    let mut floor = match home {
        Some(home) => home.mark(0).await?,
        None => 0,
    };
    for (_, store) in shards {
        // A shard that can't be reached bears no mark that anybody will read before it has been admitted again.
        floor = floor.max(mark_of(&**store).await.unwrap_or(0));
    }
    limited(limit, "recover", ledger.recover(loss, floor)).await
}
