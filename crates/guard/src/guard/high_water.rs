//! High water of a key's counters: how far any server may have taken them, by this process, the ledger, and the stores.

use std::sync::Arc;

use sequent_core::{
    Key, SlotIndex, SourceError,
    ledger::{Counter, Reading},
};
use tokio::task::JoinSet;

use super::Guard;
use crate::counter::Guarded;

/// The highest raw id that can have been given, by slot.
type Reach = Vec<(SlotIndex, u64)>;

impl Guard {
    /// As far as this process knows, without a call.
    pub fn held(&self, key: &Key) -> Reach {
        self.alive(key).iter().map(|guarded| (guarded.counter.slot, guarded.reach())).collect()
    }

    /// As far as the ledger permits, in one read.
    ///
    /// # Errors
    ///
    /// `NoWitness` if the ledger is away, `LedgerBehind` if it is not trusted.
    pub async fn ceilings(&self, key: &Key) -> Result<Reach, SourceError> {
        let counter = |slot| Counter { slot, key: key.clone() };
        let asked: Vec<Counter> = self.shards.iter().map(|shard| counter(shard.slot())).collect();
        let (_, Reading { rows, .. }) = self.shared.client.read(&asked).await?;
        self.shared.client.trusted()?;
        let mut reach = self.held(key);
        let rows = asked.iter().zip(rows).filter_map(|(counter, row)| Some((counter.slot, row?.ceiling)));
        reach.extend(rows);
        Ok(reach)
    }

    /// As far as the stores have counted. Unreachable ones are left out.
    pub async fn values(&self, key: &Key) -> Reach {
        let mut looks = JoinSet::new();
        for guarded in self.alive(key) {
            looks.spawn(async move { (guarded.counter.slot, guarded.value().await) });
        }
        let mut reach = Reach::new();
        while let Some(look) = looks.join_next().await {
            reach.extend(look.ok().and_then(|(slot, value)| Some((slot, value?))));
        }
        reach
    }

    pub(super) fn alive(&self, key: &Key) -> Vec<Arc<Guarded>> {
        let registry = self.registry();
        let counter = |slot| Counter { slot, key: key.clone() };
        self.shards.iter().filter_map(|shard| registry.get(&counter(shard.slot())).cloned()).collect()
    }
}
