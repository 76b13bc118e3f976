//! Collection of facts: all places are examined at once, each within a time limit. Nothing is changed.

use std::{sync::Arc, time::Duration};

use sequent_core::{Env, Examination, Key, LedgerExamination, SlotIndex, SourceError, Store, ledger::Ledger};
use sequent_engine::{ledger_timeout::within, stores::Shard};
use tokio::task::JoinSet;

use super::clocks::Asked;

/// Time limit for the examination of one place.
const LOOK_LIMIT: Duration = Duration::from_secs(10);

/// How many rows of the ledger are examined.
pub(super) const ROWS_MAX: usize = 1 << 16;

/// How many counters of one slot are compared with their rows.
pub(super) const COUNTERS_MAX: usize = 4096;

/// The result of an examination, and the times of question and answer.
pub(super) struct Looked<T> {
    pub(super) found: Result<T, SourceError>,
    pub(super) asked: Asked,
}

async fn timed<T>(env: &Env, look: impl Future<Output = Result<T, SourceError>>) -> Looked<T> {
    let begun_ms = env.clock.wall_ms();
    let found = within(LOOK_LIMIT, "look", look).await;
    Looked { found, asked: Asked { begun_ms, ended_ms: env.clock.wall_ms() } }
}

/// Examines the ledger.
pub(super) async fn into_ledger(ledger: &dyn Ledger, env: &Env) -> Looked<LedgerExamination> {
    timed(env, async {
        if let Some(examiner) = ledger.examiner() {
            return examiner.examine(ROWS_MAX).await;
        }
        let layout = ledger.layout().await?;
        let inspection = ledger.inspect().await?;
        let rows = ledger.list(None, ROWS_MAX).await?;
        Ok(LedgerExamination { inspection, layout, rows, facts: Vec::new() })
    })
    .await
}

/// Examines each of these shards, including the cells of its keys; in the order of slots.
pub(super) async fn into_shards(
    shards: Vec<(Shard, Vec<Key>)>,
    env: &Env,
) -> Vec<(SlotIndex, Looked<Examination>)> {
    let looks = shards.into_iter().map(|(shard, keys)| {
        let env = env.clone();
        async move { (shard.part.slot, timed(&env, into_store(Arc::clone(&shard.store), &keys)).await) }
    });
    let mut found = looks.collect::<JoinSet<_>>().join_all().await;
    found.sort_by_key(|(slot, _)| *slot);
    found
}

async fn into_store(store: Arc<dyn Store>, keys: &[Key]) -> Result<Examination, SourceError> {
    if let Some(examiner) = store.examiner() {
        return examiner.examine(keys).await;
    }
    let inspection = store.inspect().await?;
    let mark = store.mark(&inspection.instance, 0).await?;
    Ok(Examination { inspection, mark, cells: Vec::new(), facts: Vec::new() })
}
