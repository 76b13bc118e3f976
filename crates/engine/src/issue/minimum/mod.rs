//! The minimum of each key that an operator has advanced. Numbers at or below it are dropped, whatever the sources
//! return.

mod filter;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use arc_swap::ArcSwap;
use sequent_core::{
    Key, SourceError,
    ledger::{Fence, Ledger, LedgerNote, NoteSubject, Periods},
};

pub(crate) use filter::MinimumFilter;

use crate::{
    engine::{Engine, Inner},
    error::EngineError,
    ledger_timeout::{patiently, within},
};

const WHY: &str = "an operator has advanced its key";

/// The minimums of the advanced keys, which are few, and the fences of the ended periods.
#[derive(Default)]
pub(crate) struct Minimums {
    held: ArcSwap<Held>,
    /// Whether any period has ended for good.
    has_fences: AtomicBool,
}

#[derive(Clone, Default)]
struct Held {
    advanced: BTreeMap<Key, u64>,
    over: BTreeMap<Periods, u64>,
}

impl Minimums {
    /// Reads the minimums and fences of the ledger.
    pub(crate) async fn read(ledger: &dyn Ledger, limit: Duration) -> Result<Self, SourceError> {
        let floors = Self::default();
        floors.refresh(ledger, limit).await?;
        Ok(floors)
    }

    /// The highest number that may not be issued any more; 0 if there is none.
    pub(crate) fn of(&self, key: &Key) -> u64 {
        self.held.load().advanced.get(key).copied().unwrap_or(0)
    }

    /// Whether a key's period is over for good, as far as this process knows.
    pub(crate) fn is_over(&self, key: &Key) -> bool {
        // Most clusters have no fence, and this is checked for each text.
        self.has_fences.load(Ordering::Relaxed) && Fence::of(key).is_some_and(|fence| self.has(&fence))
    }

    /// Whether the ledger has this fence, or a later one, as far as this process knows.
    pub(crate) fn has(&self, fence: &Fence) -> bool {
        self.held.load().over.get(&fence.periods).is_some_and(|over| *over >= fence.to)
    }

    /// Reads the ledger's minimums; returns the keys that were advanced since. Minimums that the ledger has lost stay
    /// in force.
    pub(crate) async fn refresh(
        &self,
        ledger: &dyn Ledger,
        limit: Duration,
    ) -> Result<BTreeSet<Key>, SourceError> {
        let read = patiently(|| within(limit, "read how far keys are advanced", ledger.notes())).await?;
        Ok(self.take_up(&read))
    }

    fn take_up(&self, read: &[LedgerNote]) -> BTreeSet<Key> {
        let mut changed = BTreeSet::new();
        self.held.rcu(|held| {
            let mut held = Held::clone(held);
            changed.clear();
            for LedgerNote { about, to } in read {
                match about {
                    NoteSubject::Advanced(key) if rise(&mut held.advanced, key, *to) => {
                        changed.insert(key.clone());
                    }
                    NoteSubject::PeriodsOver(periods) => {
                        rise(&mut held.over, periods, *to);
                    }
                    _ => {}
                }
            }
            held
        });
        if !self.held.load().over.is_empty() {
            self.has_fences.store(true, Ordering::Relaxed);
        }
        changed
    }
}

/// Raises a held number; whether it rose.
fn rise<K: Clone + Ord>(held: &mut BTreeMap<K, u64>, of: &K, to: u64) -> bool {
    let held = held.entry(of.clone()).or_default();
    let rises = to > *held;
    *held = to.max(*held);
    rises
}

impl Engine {
    /// The number up to which an operator has advanced a key, read from the ledger; 0 without an advance.
    pub async fn advanced_to(&self, key: &Key) -> Result<u64, EngineError> {
        self.0.refresh_minimums().await?;
        Ok(self.0.minimums.of(key))
    }

    /// The number up to which each key was advanced, read from the ledger.
    pub async fn all_advanced(&self) -> Result<BTreeMap<Key, u64>, EngineError> {
        self.0.refresh_minimums().await?;
        Ok(self.0.minimums.held.load().advanced.clone())
    }

    /// Records in the ledger that no number of a key up to `to` is issued any more. Other servers learn of it with the
    /// definitions; this server learns of it at once.
    pub async fn note_advanced(&self, key: &Key, to: u64) -> Result<(), EngineError> {
        self.record_advanced(&[(key.clone(), to)]).await?;
        self.follow_advanced().await
    }

    /// The same for several keys in one call. This server learns of them by [`follow_advanced`](Self::follow_advanced).
    pub async fn record_advanced(&self, keys: &[(Key, u64)]) -> Result<(), EngineError> {
        let rising = keys.iter().filter(|(key, to)| self.0.minimums.of(key) < *to);
        let note = |(key, to): &(Key, u64)| LedgerNote { about: NoteSubject::Advanced(key.clone()), to: *to };
        let notes: Vec<LedgerNote> = rising.map(note).collect();
        if notes.is_empty() {
            return Ok(());
        }
        let cluster = &self.0.cluster;
        let note = || cluster.within("note how far keys are advanced", cluster.ledger.note_all(&notes));
        Ok(patiently(note).await?)
    }

    /// Applies the minimums that are recorded.
    pub async fn follow_advanced(&self) -> Result<(), EngineError> {
        Ok(self.0.follow_minimums().await?)
    }
}

impl Inner {
    /// Reads the minimums again, and returns the keys that were advanced since.
    async fn refresh_minimums(&self) -> Result<BTreeSet<Key>, SourceError> {
        self.minimums.refresh(&*self.cluster.ledger, self.cluster.limit).await
    }

    /// Applies new minimums. The numbers held by an active key that was advanced are discarded; its waiting callers
    /// are served by its successor.
    pub(crate) async fn follow_minimums(&self) -> Result<(), SourceError> {
        let changed = self.refresh_minimums().await?;
        if changed.is_empty() {
            return Ok(());
        }
        tracing::warn!(keys = changed.len(), "what was ready is burnt: an operator has advanced these keys");
        for live in self.keys.remove(|key| changed.contains(key)) {
            live.reservoir().close_because(WHY);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_only_rises() {
        let floors = Minimums::default();
        let note = |name: &str, to| LedgerNote { about: NoteSubject::Advanced(Key::from_stored(name)), to };
        assert_eq!(floors.take_up(&[note("a", 5), note("b", 1)]).len(), 2);
        assert_eq!(floors.take_up(&[note("a", 4)]).len(), 0, "the ledger went back");
        assert_eq!(floors.take_up(&[note("a", 5), note("b", 2)]).len(), 1);
        let of = |name: &str| floors.of(&Key::from_stored(name));
        assert_eq!([of("a"), of("b"), of("c")], [5, 2, 0]);
    }
}
