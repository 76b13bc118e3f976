//! The load: tasks that ask, one request after another, measure and check.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sequent_core::{Blocks, Clock};
use tokio::task::JoinSet;

use super::{
    schedule::Schedule,
    seen::{Checker, Seen},
    tally::{Tallies, Tally},
};

/// A task lets others run after so many requests that were answered from memory, or refills would starve.
const REQUESTS_A_TURN: u32 = 128;

/// How often a task hands over what it has counted.
const HAND_OVER_EVERY: Duration = Duration::from_millis(100);

/// Whatever answers requests.
pub(crate) trait Target: Clone + Send + Sync + 'static {
    /// `count` numbers, or none.
    fn take(&self, count: u64, deadline: Option<Instant>)
    -> impl Future<Output = Result<Got, Missed>> + Send;
}

/// A request that failed.
#[derive(Debug)]
pub(crate) struct Missed {
    /// As in the table of errors.
    pub(crate) reason: &'static str,
    /// For people.
    pub(crate) text: String,
}

/// What every task needs.
#[derive(Clone)]
pub(crate) struct Load {
    /// Time.
    pub(crate) clock: Arc<dyn Clock>,
    /// When requests start.
    pub(crate) schedule: Arc<Schedule>,
    /// Numbers a request.
    pub(crate) batch: u64,
    /// How long a request may take.
    pub(crate) patience: Duration,
    /// Where counts go.
    pub(crate) tallies: Arc<Tallies>,
    /// Where numbers are checked, if they are.
    pub(crate) seen: Option<Arc<Seen>>,
}

impl Load {
    /// Runs `tasks` tasks against `target` until the schedule ends; the error is a task that died.
    pub(crate) async fn run<T: Target>(&self, tasks: usize, target: T) -> Result<(), tokio::task::JoinError> {
        let mut running = JoinSet::new();
        for _ in 0..tasks {
            running.spawn(self.clone().task(target.clone()));
        }
        while let Some(ended) = running.join_next().await {
            ended?;
        }
        Ok(())
    }

    async fn task<T: Target>(self, target: T) {
        let mut checker = self.seen.as_ref().map(Checker::new);
        let mut local = Tally::default();
        let mut handed_over = self.clock.now();
        let mut turn = 0;
        while let Some(intended) = self.schedule.next().await {
            let answer = self.request(&target, intended).await;
            let now = self.clock.now();
            let latency = now.saturating_duration_since(intended);
            match answer {
                Ok(blocks) => {
                    local.done(blocks.count(), latency);
                    if let Some(checker) = &mut checker {
                        blocks.each(|number| checker.add(number));
                    }
                }
                Err(missed) => local.failed(missed.reason, || missed.text, latency),
            }
            if now.saturating_duration_since(handed_over) >= HAND_OVER_EVERY {
                self.tallies.hand_over(&mut local);
                handed_over = now;
            }
            turn += 1;
            if turn % REQUESTS_A_TURN == 0 {
                tokio::task::yield_now().await;
            }
        }
        self.tallies.hand_over(&mut local);
    }

    async fn request<T: Target>(&self, target: &T, intended: Instant) -> Result<Got, Missed> {
        // From the intended start: a caller that was made to wait has that much less patience left.
        let deadline = intended.checked_add(self.patience);
        target.take(self.batch, deadline).await
    }
}

/// What a request gave.
pub(crate) enum Got {
    /// One number.
    One(u64),
    /// Blocks of them.
    Many(Blocks),
    /// Each by itself.
    Each(Vec<u64>),
}

impl Got {
    fn count(&self) -> u64 {
        match self {
            Self::One(_) => 1,
            Self::Many(blocks) => blocks.count(),
            Self::Each(numbers) => numbers.len() as u64,
        }
    }

    fn each(&self, mut put: impl FnMut(u64)) {
        match self {
            Self::One(number) => put(*number),
            Self::Many(blocks) => blocks.numbers().for_each(put),
            Self::Each(numbers) => numbers.iter().copied().for_each(put),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::{Block, SystemClock};
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Counts up, gives 7 twice, and fails each hundredth request.
    #[derive(Clone, Default)]
    struct Scripted(Arc<AtomicU64>);

    impl Target for Scripted {
        async fn take(&self, count: u64, _: Option<Instant>) -> Result<Got, Missed> {
            let first = self.0.fetch_add(count, Ordering::Relaxed) + 1;
            match first {
                _ if count > 1 => Ok(Got::Many(Block::new(first, 1, count).unwrap().into())),
                8 => Ok(Got::One(7)),
                index if index % 100 == 0 => {
                    Err(Missed { reason: "DRAINING", text: format!("request {index}") })
                }
                index => Ok(Got::One(index)),
            }
        }
    }

    fn run(batch: u64) -> (Tally, Arc<Seen>) {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let seen = Arc::new(Seen::default());
        let load = Load {
            schedule: Schedule::start(Arc::clone(&clock), Some(1000), None, None),
            clock,
            batch,
            patience: Duration::from_secs(1),
            tallies: Arc::default(),
            seen: Some(Arc::clone(&seen)),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(load.run(3, Scripted::default())).unwrap();
        (load.tallies.total(), seen)
    }

    #[test]
    fn every_request_is_counted_and_every_number_checked() {
        let (tally, seen) = run(1);
        assert_eq!((tally.requests, tally.numbers, tally.error_count()), (1000, 990, 10));
        assert_eq!((seen.duplicates(), seen.listed()), (1, vec![7]));
        assert!(tally.error_example.unwrap().starts_with("request "));
    }

    #[test]
    fn a_batch_counts_once_as_a_request_and_whole_in_numbers() {
        let (tally, seen) = run(64);
        assert_eq!((tally.requests, tally.numbers, tally.error_count()), (1000, 64_000, 0));
        assert_eq!(seen.duplicates(), 0);
    }
}
