//! How far operators have advanced keys: nothing at or below leaves any more, whatever comes from the rooms below.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use sequent_core::{
    Block, Blocks, BoxFuture, ErrorKind, Event, Events, Key, Source, SourceError,
    ledger::{Advanced, Ledger},
};

use crate::{
    engine::Inner,
    limit::{patiently, within},
};

/// How often numbers that may not leave are dropped for others, before the caller is told to come again: a counter that
/// has not heard yet gives them until it has, two seconds at most.
const TRIES_MAX: u32 = 64;

const DROPPED: &str = "at or below the number that the key was advanced to";

const WHY: &str = "an operator has advanced its key";

/// How far keys are advanced; most of them never are. Fences are among them, whether there are any besides.
#[derive(Default)]
pub(crate) struct Floors(ArcSwap<BTreeMap<Key, u64>>, AtomicBool);

impl Floors {
    /// As the ledger has them.
    pub(crate) async fn read(ledger: &dyn Ledger, limit: Duration) -> Result<Self, SourceError> {
        let floors = Self::default();
        floors.refresh(ledger, limit).await?;
        Ok(floors)
    }

    /// The highest number that may not leave any more; 0 where there is none.
    pub(crate) fn of(&self, key: &Key) -> u64 {
        self.0.load().get(key).copied().unwrap_or(0)
    }

    /// Whether a key's period is over for good, as far as this process has heard.
    pub(crate) fn is_over(&self, key: &Key) -> bool {
        // Most clusters have no fence, and this is asked for each text.
        self.1.load(Ordering::Relaxed)
            && Advanced::fence(key).is_some_and(|fence| self.of(&fence.key) >= fence.to)
    }

    /// Takes up what the ledger has; returns the keys that were advanced since. One that it has lost stays known.
    pub(crate) async fn refresh(
        &self,
        ledger: &dyn Ledger,
        limit: Duration,
    ) -> Result<BTreeSet<Key>, SourceError> {
        let read = patiently(|| within(limit, "read how far keys are advanced", ledger.advanced())).await?;
        Ok(self.take_up(&read))
    }

    fn take_up(&self, read: &[Advanced]) -> BTreeSet<Key> {
        let mut changed = BTreeSet::new();
        self.0.rcu(|held| {
            let mut floors = BTreeMap::clone(held);
            changed.clear();
            for note in read {
                let Advanced { key, to } = note;
                let floor = floors.entry(key.clone()).or_default();
                if *to > *floor {
                    *floor = *to;
                    if !note.is_fence() {
                        changed.insert(key.clone());
                    }
                }
            }
            floors
        });
        if read.iter().any(Advanced::is_fence) {
            self.1.store(true, Ordering::Relaxed);
        }
        changed
    }
}

impl Inner {
    /// Hears how far keys are advanced. What a live key of these holds is burnt; whoever waits for it is served by its
    /// successor.
    pub(crate) async fn follow_floors(&self) -> Result<(), SourceError> {
        let changed = self.floors.refresh(&*self.desk.0.ledger, self.desk.0.limit).await?;
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

/// A source of numbers above a floor.
pub(crate) struct Above {
    numbers: Arc<dyn Source>,
    floor: u64,
    events: Events,
}

impl Above {
    /// What `numbers` gives, but for what is at or below `floor`.
    pub(crate) fn of(numbers: Arc<dyn Source>, floor: u64, events: Events) -> Arc<dyn Source> {
        if floor == 0 { numbers } else { Arc::new(Self { numbers, floor, events }) }
    }

    fn cut(&self, numbers: Blocks) -> Blocks {
        let (until, all) = (numbers.expiry(), numbers.count());
        let above = |block: Block| {
            let below = block.up_to(self.floor).map_or(0, |block| block.count());
            block.split_at(below).1
        };
        let kept = Blocks::from_unsorted(numbers.into_iter().filter_map(above).collect()).until(until);
        let count = all - kept.count();
        if count > 0 {
            self.events.emit(Event::Dropped { slot: None, count, why: DROPPED });
        }
        kept
    }
}

impl Source for Above {
    fn take(&self, want: u64) -> BoxFuture<'_, Result<Blocks, SourceError>> {
        Box::pin(async move {
            for _ in 0..TRIES_MAX {
                let kept = self.cut(self.numbers.take(want).await?);
                if kept.count() > 0 {
                    return Ok(kept);
                }
            }
            let context =
                format!("the key was advanced to {}, and its counters are below it yet", self.floor);
            Err(SourceError::new(ErrorKind::NoWitness, context))
        })
    }

    fn lift(&self, floor: u64) -> BoxFuture<'_, Result<(), SourceError>> {
        self.numbers.lift(floor)
    }

    fn position(&self) -> Option<u64> {
        self.numbers.position()
    }

    fn remaining(&self) -> Option<u64> {
        self.numbers.remaining()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use sequent_testkit::ScriptedSource;

    #[tokio::test]
    async fn nothing_at_or_below_a_floor_leaves_and_what_is_dropped_is_told() {
        let told: Arc<Mutex<Vec<u64>>> = Arc::default();
        let heard = Arc::clone(&told);
        let events = Events::to(move |event| {
            if let Event::Dropped { count, .. } = event {
                heard.lock().unwrap().push(count);
            }
        });
        let numbers: Arc<dyn Source> = Arc::new(ScriptedSource::giving());
        let above = Above::of(Arc::clone(&numbers), 7, events.clone());
        assert_eq!(above.take(5).await.unwrap().numbers().collect::<Vec<_>>(), [8, 9, 10]);
        assert_eq!(*told.lock().unwrap(), [5, 2], "1 to 5, and 6 and 7");
        assert_eq!(above.take(1).await.unwrap().highest(), Some(11));
        let far = Above::of(numbers, 1 << 40, events);
        assert_eq!(far.take(1).await.unwrap_err().kind(), ErrorKind::NoWitness, "not for ever");
    }

    #[test]
    fn a_floor_only_rises() {
        let floors = Floors::default();
        let note = |name: &str, to| Advanced { key: Key::from_stored(name), to };
        assert_eq!(floors.take_up(&[note("a", 5), note("b", 1)]).len(), 2);
        assert_eq!(floors.take_up(&[note("a", 4)]).len(), 0, "the ledger went back");
        assert_eq!(floors.take_up(&[note("a", 5), note("b", 2)]).len(), 1);
        let of = |name: &str| floors.of(&Key::from_stored(name));
        assert_eq!([of("a"), of("b"), of("c")], [5, 2, 0]);
    }
}
