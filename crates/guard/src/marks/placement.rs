//! Placement of marks: shards are tried in turn, failing ones last, and more in parallel if some are slow.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use sequent_core::SlotIndex;
use tokio::{task::JoinSet, time::timeout};

use super::{Excluded, Marks, SLOW_BEARER, locked};
use crate::shard::Shard;

/// How many marks a failed or slow shard is tried last for. A dead shard then costs time only now and then.
const SHUNNED_MARKS: usize = 32;

/// Percentage of the time limit during which unanswered shards are awaited once no other is left. Taking an id waits for a mark,
/// and for one already under way, within a single attempt.
const PATIENCE_PERCENT: u32 = 60;

impl Marks {
    /// The shards that may take the next mark for `slots`, in the order in which they are tried.
    pub(super) fn candidates(&self, slots: &BTreeSet<SlotIndex>) -> Vec<Arc<Shard>> {
        // A restarted shard takes marks if it has its stamp, even before the next take admits it.
        let mut candidates: Vec<Arc<Shard>> = self.shards.iter().map(Arc::clone).collect();
        // The rotation counts marks and not versions, since some versions need no mark. So every shard gets recent ones.
        let mark = self.marked.fetch_add(1, Ordering::Relaxed) + 1;
        let turn = mark % candidates.len().max(1);
        candidates.rotate_left(turn);
        let list = locked(&self.shunned);
        let shunned = |slot| list.get(&slot).is_some_and(|it| mark < it.at.saturating_add(SHUNNED_MARKS));
        candidates.sort_by_key(|shard| {
            (shunned(shard.slot()), !shard.is_admitted(), shard.class(), slots.contains(&shard.slot()))
        });
        candidates
    }

    /// Tries shards in turn until every slot is marked on another slot's store, and more in parallel while some are slow.
    /// Pending calls continue after this returns, and note a late mark.
    pub(super) async fn leave_on(
        &self,
        version: u64,
        slots: &BTreeSet<SlotIndex>,
        candidates: Vec<Arc<Shard>>,
    ) -> BTreeSet<SlotIndex> {
        let dead: BTreeSet<SlotIndex> =
            locked(&self.shunned).iter().filter(|(_, it)| it.silent).map(|(slot, _)| *slot).collect();
        let (mut borne, mut asked, mut rest) = (BTreeSet::new(), JoinSet::new(), candidates.into_iter());
        let mut awaited = BTreeSet::new();
        let (mut patience, mut beside) = (self.limit * PATIENCE_PERCENT / 100, 1);
        while !covers(&borne, slots) {
            if asked.is_empty() {
                let Some(shard) = rest.next() else { break };
                // Silent shards come last. If one is known to be silent, so are those behind it, or they were lately: all are
                // asked at once.
                let together = if dead.contains(&shard.slot()) { usize::MAX } else { 0 };
                for shard in [shard].into_iter().chain(rest.by_ref().take(together)) {
                    awaited.insert(shard.slot());
                    self.ask(&mut asked, shard, version, None);
                }
            }
            match timeout(SLOW_BEARER, asked.join_next()).await {
                Ok(Some(Ok((slot, bears)))) => {
                    awaited.remove(&slot);
                    borne.extend(bears.then_some(slot));
                }
                Ok(_) => {}
                Err(_) => {
                    self.shun(&awaited);
                    patience = patience.saturating_sub(SLOW_BEARER);
                    if rest.len() == 0 && (patience.is_zero() || awaited.is_subset(&dead)) {
                        break;
                    }
                    for shard in rest.by_ref().take(beside) {
                        awaited.insert(shard.slot());
                        self.ask(&mut asked, shard, version, None);
                    }
                    beside *= 2;
                }
            }
        }
        asked.detach_all();
        borne
    }

    /// Asks one shard to take a mark, in a task that notes the result whether or not it is awaited. With `before`, the shard's
    /// previous mark is read first and stored there.
    pub(super) fn ask(
        &self,
        asked: &mut JoinSet<(SlotIndex, bool)>,
        shard: Arc<Shard>,
        version: u64,
        before: Option<Arc<AtomicU64>>,
    ) {
        let (shunned, met) = (Arc::clone(&self.shunned), Arc::clone(&self.met));
        let at = self.marked.load(Ordering::Relaxed);
        asked.spawn(async move {
            let bearing = async {
                if let Some(before) = before {
                    before.fetch_max(shard.borne().await?, Ordering::Relaxed);
                }
                if shard.is_admitted() {
                    shard.bear(version).await
                } else {
                    shard.bear_stamped(version).await
                }
            };
            tokio::pin!(bearing);
            let (answer, is_slow) = match timeout(SLOW_BEARER, &mut bearing).await {
                Ok(answer) => (answer, false),
                Err(_) => (bearing.await, true),
            };
            let (slot, bears) = (shard.slot(), answer.is_ok());
            met.fetch_max(answer.unwrap_or(0), Ordering::Relaxed);
            let mut list = locked(&shunned);
            if bears && !is_slow {
                list.remove(&slot);
            } else {
                list.insert(slot, Excluded { at, silent: !bears });
            }
            (slot, bears)
        });
    }

    /// Makes slow shards the last to be tried. Otherwise each mark of their turn costs as much time again, and all raises wait
    /// for each mark.
    pub(super) fn shun(&self, slow: &BTreeSet<SlotIndex>) {
        let it = Excluded { at: self.marked.load(Ordering::Relaxed), silent: true };
        locked(&self.shunned).extend(slow.iter().map(|slot| (*slot, it)));
    }
}

/// Whether each of `slots` has a mark on another slot's store.
pub(super) fn covers(borne: &BTreeSet<SlotIndex>, slots: &BTreeSet<SlotIndex>) -> bool {
    !borne.is_empty() && slots.iter().all(|slot| borne.iter().any(|bearer| bearer != slot))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_does_not_bear_its_own_witness() {
        let set = |slots: &[SlotIndex]| slots.iter().copied().collect::<BTreeSet<_>>();
        assert!(covers(&set(&[1]), &set(&[0])));
        assert!(!covers(&set(&[0]), &set(&[0])));
        assert!(!covers(&set(&[0]), &set(&[0, 1])), "slot 0 needs a bearer too");
        assert!(covers(&set(&[0, 1]), &set(&[0, 1, 2, 3])));
        assert!(!covers(&set(&[]), &set(&[])));
    }
}
