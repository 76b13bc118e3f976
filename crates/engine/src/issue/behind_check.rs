//! The check of `above`, the highest number that a caller was given. If it exceeds all that the key's ceilings permit,
//! another cluster issued it, or this cluster lost data. The check filters nothing and raises nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use sequent_core::{Block, Event, Key, Layout, SlotIndex, Span};
use tokio::sync::Mutex;

use crate::{
    engine::{Engine, Inner},
    error::{EngineError, reason::Reason},
    issue::{active_key::ActiveKey, dense::dense_number},
    ledger_timeout::within,
    status::report::BehindReport,
};

/// How far an active key may have been used, as far as is known.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    /// The highest number that is known to be permitted.
    known: AtomicU64,
    begun: AtomicU64,
    /// The number of the latest finished lookup, and its result. Locked during each lookup, so that only one runs at a
    /// time.
    looked: Mutex<(u64, u64)>,
}

impl Engine {
    /// Refuses a caller that was given a number above all that the key's ceilings permit. If the ledger is unavailable
    /// or not trusted, nothing is refused.
    pub(crate) async fn check_above(
        &self,
        live: &ActiveKey,
        key: &Key,
        above: u64,
    ) -> Result<(), EngineError> {
        let reach = live.reach();
        if above <= reach.known.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Some(permitted) = reach.exceeded_by(above, || self.0.permitted(live, key, above)).await else {
            return Ok(());
        };
        Err(self.accuse(key, above, permitted))
    }

    /// Records that a caller has a number which this cluster can't have issued, and returns the error.
    pub(crate) fn accuse(&self, key: &Key, above: u64, permitted: u64) -> EngineError {
        let at_ms = self.0.env.clock.wall_ms();
        self.0.behind_reports.add(BehindReport { key: key.to_string(), above, permitted, at_ms });
        self.0.env.events.emit(Event::ClusterBehind { key: key.clone(), above, permitted });
        let name = key.sequence();
        let text = format!(
            "the caller was given {above}, and this cluster can have given {permitted} of {name} at most: it is older than \
             its caller, or another; a person must act, `sequent recover --help` says how"
        );
        EngineError::new(Reason::ClusterBehind, text)
    }
}

/// Upper limit of the rows read by a lookup over all keys of a sequence.
const KEYS_MAX: usize = 4096;

impl Reach {
    /// The permitted number, if it is less than `above`. The lookup begins after this call; concurrent calls may share
    /// it.
    async fn exceeded_by<F>(&self, above: u64, look: impl FnOnce() -> F) -> Option<u64>
    where
        F: Future<Output = Option<u64>>,
    {
        let before = self.begun.load(Ordering::Acquire);
        let mut looked = self.looked.lock().await;
        if looked.0 <= before {
            let number = self.begun.fetch_add(1, Ordering::AcqRel) + 1;
            // The permitted number is unknown: nothing is refused.
            let permitted = look().await?;
            self.known.fetch_max(permitted, Ordering::Relaxed);
            *looked = (number, permitted);
        }
        let permitted = looked.1.max(self.known.load(Ordering::Relaxed));
        (above > permitted).then_some(permitted)
    }
}

impl Inner {
    /// The highest number that a key may have issued. The search stops at `above`. `None` if it can't be determined.
    async fn permitted(&self, live: &ActiveKey, key: &Key, above: u64) -> Option<u64> {
        let (layout, span) = (self.cluster.layout(), live.entry().known().ok()?.span());
        let highest = |reach: Vec<(SlotIndex, u64)>| {
            reach.into_iter().map(|(slot, raw)| highest_of(layout, span, slot, raw)).max().unwrap_or(0)
        };
        let own = highest(self.guard.held(key));
        if own >= above {
            return Some(own);
        }
        // Callers name any key and any number. The ledger's time is for counters first.
        let _turn = self.behind_turn.lock().await;
        let ledger = highest(self.guard.ceilings(key).await.ok()?);
        if ledger >= above {
            return Some(ledger);
        }
        // A ledger that went back may permit less than was issued, even after `recover`. The stores' cells show more.
        let stores = highest(self.guard.values(key).await);
        // The ledger is read again: it may have been lost, and have come back behind, since the first read.
        let again = highest(self.guard.ceilings(key).await.ok()?);
        let permitted = ledger.max(stores).max(again);
        if permitted >= above {
            Some(permitted)
        } else {
            Some(permitted.max(self.of_all_keys(key, span).await?))
        }
    }

    /// The highest number that any key of a sequence may have issued. After a sequence got periods or partitions it
    /// counts in other keys, and callers can't know that. `None` if it can't be determined, or if there are too many
    /// rows.
    pub(crate) async fn of_all_keys(&self, key: &Key, span: Span) -> Option<u64> {
        let (ledger, limit, name) = (&self.cluster.ledger, self.cluster.limit, Some(key.sequence()));
        let rows = within(limit, "read the rows", ledger.list(name, KEYS_MAX)).await.ok()?;
        let dense = within(limit, "read the dense counters", ledger.dense(name, KEYS_MAX)).await.ok()?;
        if rows.len() == KEYS_MAX || dense.len() == KEYS_MAX {
            return None;
        }
        let layout = self.cluster.layout();
        let spread = rows.iter().map(|(counter, row)| highest_of(layout, span, counter.slot, row.ceiling));
        let dense = dense.iter().map(|row| dense_number(span, row.value));
        Some(spread.chain(dense).max().unwrap_or(0))
    }
}

/// The highest number that a slot's counter can have issued at a raw id, 0 for none. It may lie beyond the sequence's
/// end, since an earlier definition may have had a later end.
fn highest_of(layout: Layout, span: Span, slot: SlotIndex, raw: u64) -> u64 {
    let Some(id) = layout.encode(raw, slot) else {
        return if raw == 0 { 0 } else { Block::NUMBER_MAX };
    };
    let encoded = u128::from(id) << layout.memory_bits() | u128::from(layout.numbers_per_id() - 1);
    let Some(offset) = encoded.checked_sub(u128::from(span.zero(layout))) else { return 0 };
    let number = u128::from(span.start()) + u128::from(span.step()) * offset;
    u64::try_from(number).unwrap_or(u64::MAX).min(Block::NUMBER_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::Fits;

    #[test]
    fn the_highest_number_of_a_raw_id_is_the_last_of_its_own() {
        let (layout, span) = (Layout::new(1, 2).unwrap(), Span::new(1, 1, Some(1000), Fits::Js).unwrap());
        // Raw id 1 of slot 0 is encoded 8 to 11: the numbers 1 to 4.
        assert_eq!(highest_of(layout, span, 0, 1), 4);
        assert_eq!(highest_of(layout, span, 1, 1), 8);
        assert_eq!(highest_of(layout, span, 0, 2), 12);
        assert_eq!(highest_of(layout, span, 0, 0), 0);
        assert_eq!(highest_of(layout, span, 0, 10_000), 79_996, "the end was a later one");
        assert_eq!(highest_of(layout, span, 0, u64::MAX), Block::NUMBER_MAX);
        let stepped = Span::new(10, 5, None, Fits::Js).unwrap();
        assert_eq!(highest_of(layout, stepped, 0, 1), 25);
        let itself = Span::itself(None, Fits::Js).unwrap();
        assert_eq!(highest_of(layout, itself, 1, 1), 15, "encoded 12 to 15");
    }

    #[tokio::test]
    async fn a_look_is_shared_by_those_who_came_before_it_began_and_by_nobody_else() {
        let reach = Reach::default();
        let looks = AtomicU64::new(0);
        let look = |found| {
            looks.fetch_add(1, Ordering::Relaxed);
            std::future::ready(found)
        };
        assert_eq!(reach.exceeded_by(10, || look(Some(5))).await, Some(5));
        assert_eq!(reach.exceeded_by(10, || look(None)).await, None, "nobody can say");
        assert_eq!(reach.exceeded_by(10, || look(Some(10))).await, None);
        assert_eq!(looks.load(Ordering::Relaxed), 3);
        let gate = tokio::sync::Semaphore::new(0);
        let first = reach.exceeded_by(20, async || {
            drop(gate.acquire().await);
            Some(12)
        });
        let waiters = async {
            tokio::task::yield_now().await;
            gate.add_permits(1);
            tokio::join!(reach.exceeded_by(30, || look(Some(13))), reach.exceeded_by(40, || look(Some(99))),)
        };
        let (first, waiters) = tokio::join!(first, waiters);
        // The second caller waits for a lookup that begins after it came. The third caller came before that lookup.
        assert_eq!((first, waiters), (Some(12), (Some(13), Some(13))));
        assert_eq!(looks.load(Ordering::Relaxed), 4);
    }
}
