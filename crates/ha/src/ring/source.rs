//! One key over the whole ring, as a source.

use std::sync::Arc;

use sequent_core::{Blocks, Reply, Source};
use tokio::task::JoinSet;

use super::{key::KeyCounters, take::RingTake};

/// Yields `raw << n | slot` for one key, before memory bits, the lowest first.
///
/// Dropping a take disturbs no other: what the slots answer afterwards is kept for the next one.
pub struct RingSource {
    pub(super) key: Arc<KeyCounters>,
}

impl RingSource {
    pub(super) fn new(key: Arc<KeyCounters>) -> Self {
        Self { key }
    }
}

impl Source for RingSource {
    fn take(&self, want: u64) -> Reply<'_, Blocks> {
        Box::pin(RingTake::new(Arc::clone(&self.key), want.max(1)).run())
    }

    /// Lifts every live slot that can be asked. Succeeds if one of them was lifted, or if there is none to lift: a slot
    /// that comes back later is lifted then.
    fn lift(&self, floor: u64) -> Reply<'_, ()> {
        let raw = floor >> self.key.layout().shard_bits();
        let key = Arc::clone(&self.key);
        Box::pin(async move {
            key.discard_late_blocks_up_to(raw);
            let mut lifts = JoinSet::new();
            for slot in key.live() {
                let key = Arc::clone(&key);
                lifts.spawn(async move { key.lift(slot, raw).await });
            }
            // `join_all` runs in a task of its own, so that lifts go on when the caller is dropped.
            let lifted = tokio::spawn(lifts.join_all()).await.unwrap_or_default();
            let any = lifted.iter().any(Result::is_ok);
            lifted.into_iter().find(|_| !any).unwrap_or(Ok(()))
        })
    }

    fn position(&self) -> Option<u64> {
        self.key.position()
    }

    fn remaining_up_to(&self, limit: u64) -> Option<u64> {
        self.key.remaining_up_to(limit)
    }
}
