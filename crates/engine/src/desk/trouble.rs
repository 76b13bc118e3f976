//! Whether the cluster as a whole may give numbers, seen from outside.

use std::sync::Arc;

use sequent_core::{ErrorKind, MarkPlace, SourceError, mark_of};

use super::Desk;
use crate::{
    EngineError,
    limit::{of_ledger, within},
};

impl Desk {
    /// Why no number may be given before an operator has acted: a marker that was copied, a ledger behind the marks at
    /// hand, or one that can't be read. `None` where nothing of that is found.
    pub async fn trouble(&self) -> Option<EngineError> {
        self.judge().await.err().map(|error| of_ledger(&error))
    }

    async fn judge(&self) -> Result<(), SourceError> {
        let mut mark = match &self.0.home {
            Some(home) => within(self.limit(), "read the mark", home.mark(0)).await?,
            None => 0,
        };
        for shard in &self.0.shards {
            let left = within(self.limit(), "read the mark", mark_of(&*shard.store)).await;
            mark = mark.max(left.unwrap_or(0));
        }
        let stores: Vec<_> = self.0.shards.iter().map(|shard| Arc::clone(&shard.store)).collect();
        within(self.limit(), "look whose shards these are", sequent_guard::belongs(self.ledger(), &stores))
            .await?;
        // After the marks: a ledger that is well is then never behind those that were read.
        let version = within(self.limit(), "open the ledger", self.ledger().inspect()).await?.version;
        within(self.limit(), "read the words", self.ledger().words()).await?;
        if version < mark {
            let context = format!(
                "the ledger is at version {version}, and a mark names {mark}: an older copy was put in its place; put \
                 the newest one back, or run `sequent recover --bump N`, N at least the raw ids given since"
            );
            return Err(SourceError::new(ErrorKind::LedgerBehind, context));
        }
        Ok(())
    }
}
