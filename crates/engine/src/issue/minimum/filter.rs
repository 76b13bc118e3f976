//! A source without the numbers that are no longer allowed: those at or below the key's minimum.

use std::sync::Arc;

use sequent_core::{Block, Blocks, ErrorKind, Event, Events, Reply, Source, SourceError};

/// Upper limit of attempts to replace numbers at or below the minimum; then the caller must retry. A counter that has
/// not learned of the advance issues such numbers for two seconds at most.
const TRIES_MAX: u32 = 64;

const DROPPED: &str = "at or below the number that the key was advanced to";

/// A source of numbers above a minimum.
pub(crate) struct MinimumFilter {
    numbers: Arc<dyn Source>,
    floor: u64,
    events: Events,
}

impl MinimumFilter {
    /// The numbers of `numbers` above `floor`.
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

impl Source for MinimumFilter {
    fn take(&self, want: u64) -> Reply<'_, Blocks> {
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

    fn lift(&self, floor: u64) -> Reply<'_, ()> {
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
        let above = MinimumFilter::of(Arc::clone(&numbers), 7, events.clone());
        assert_eq!(above.take(5).await.unwrap().numbers().collect::<Vec<_>>(), [8, 9, 10]);
        assert_eq!(*told.lock().unwrap(), [5, 2], "1 to 5, and 6 and 7");
        assert_eq!(above.take(1).await.unwrap().highest(), Some(11));
        let far = MinimumFilter::of(numbers, 1 << 40, events);
        assert_eq!(far.take(1).await.unwrap_err().kind(), ErrorKind::NoWitness, "not for ever");
    }
}
