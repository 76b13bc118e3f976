//! The way back after a loss that an operator names.

use std::sync::Arc;

use sequent_core::{MarkPlace, SlotIndex, SourceError, Store, ledger::Loss};

use super::Desk;
use crate::{OpenError, data::Unjudged};

impl Desk {
    /// Names the loss after which this cluster may go on: every counter then opens a new life above its ceiling.
    /// No process of the cluster should be running. Returns what was done, for people.
    pub async fn recover(&self, loss: Loss) -> Result<String, OpenError> {
        let ground = &self.0;
        let shards: Vec<(SlotIndex, Arc<dyn Store>)> =
            ground.shards.iter().map(|shard| (shard.part.slot, Arc::clone(&shard.store))).collect();
        let unjudged = ground.home.as_deref().map(Unjudged);
        let home = unjudged.as_ref().map(|home| home as &dyn MarkPlace);
        let unusable = |error: SourceError| OpenError::of_source(&error);
        let unreadable = match &ground.home {
            Some(home) => home.unreadable().await.map_err(unusable)?.map(|found| (home.path(), found)),
            None => None,
        };
        sequent_guard::recover(&*ground.ledger, &shards, home, loss, ground.limit).await.map_err(unusable)?;
        // After the ledger: where this breaks off, the marker still accuses, and the command is given once more.
        if let Some(home) = &ground.home {
            home.renew(0).await.map_err(unusable)?;
        }
        let done = match loss {
            Loss::Moved => {
                "the data at hand is the newest state: each counter goes on above its ceiling".to_owned()
            }
            Loss::Bump(ids) => {
                format!("each counter goes on {ids} raw ids above its ceiling, all of them skipped")
            }
        };
        Ok(match unreadable {
            None => done,
            Some((file, found)) => {
                format!(
                    "{done}; the marker {} could not be read, and was written anew: {found}",
                    file.display()
                )
            }
        })
    }
}
