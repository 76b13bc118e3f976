//! The way back after a loss that an operator names.

use std::sync::Arc;

use sequent_core::{SlotIndex, Store, ledger::Loss};

use super::Desk;
use crate::OpenError;

impl Desk {
    /// Names the loss after which this cluster may go on: every counter then opens a new life above its ceiling.
    /// No process of the cluster should be running. Returns what was done, for people.
    pub async fn recover(&self, loss: Loss) -> Result<String, OpenError> {
        let ground = &self.0;
        let shards: Vec<(SlotIndex, Arc<dyn Store>)> =
            ground.shards.iter().map(|shard| (shard.part.slot, Arc::clone(&shard.store))).collect();
        sequent_guard::recover(&*ground.ledger, &shards, ground.home.as_deref(), loss, ground.limit)
            .await
            .map_err(|error| OpenError::of_source(&error))?;
        Ok(match loss {
            Loss::Moved => {
                "the data at hand is the newest state: each counter goes on above its ceiling".to_owned()
            }
            Loss::Bump(ids) => {
                format!("each counter goes on {ids} raw ids above its ceiling, all of them skipped")
            }
        })
    }
}
