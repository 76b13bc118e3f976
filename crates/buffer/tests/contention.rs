//! Contention of real threads: callers spin on an empty reservoir, then get numbers, over many ranges.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use sequent_buffer::{Reservoir, ReservoirConfig, Spawner};
use sequent_core::{Block, Blocks, Env, Reply, Source, SourceError};
use sequent_testkit::Oracle;

/// Spinning threads: more than the machine has cores, so that some are stalled at every point.
const THREADS: usize = 4;

/// Gives small blocks of different steps. Every refill takes a few hundred microseconds, in which all threads spin.
#[derive(Default)]
struct Slow(AtomicU64);

impl Source for Slow {
    fn take(&self, want: u64) -> Reply<'_, Blocks> {
        Box::pin(async move {
            tokio::time::sleep(std::time::Duration::from_micros(200)).await;
            let step = 1 + want % 3;
            let count = 1 + want % 97;
            let first = self.0.fetch_add(count * step, Ordering::Relaxed) + 1;
            Block::new(first, step, count).map(Blocks::from).map_err(SourceError::exhausted)
        })
    }
}

fn reservoir(runtime: &tokio::runtime::Runtime) -> Reservoir {
    let handle = runtime.handle().clone();
    let spawn: Spawner = Arc::new(move |refill| drop(handle.spawn(refill)));
    Reservoir::new(Arc::new(Slow::default()), ReservoirConfig::default(), Env::default(), spawn)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap()
}

/// Each thread collects `each` numbers. All of them together must differ.
fn assert_none_twice(each: usize, collect: impl Fn(usize) -> Vec<u64> + Send + Sync) {
    let oracle = Oracle::new();
    thread::scope(|scope| {
        let collect = &collect;
        let threads: Vec<_> = (0..THREADS).map(|index| scope.spawn(move || collect(index))).collect();
        for (index, thread) in threads.into_iter().enumerate() {
            let numbers = thread.join().unwrap();
            assert_eq!(numbers.len(), each);
            for number in numbers {
                oracle.add(number, &format!("thread {index}")).unwrap();
            }
        }
    });
}

#[test]
fn callers_spinning_on_an_empty_reservoir_get_no_number_twice() {
    let runtime = runtime();
    let reservoir = reservoir(&runtime);
    let each = 10_000;
    assert_none_twice(each, |_| {
        let mut numbers = Vec::with_capacity(each);
        while numbers.len() < each {
            numbers.extend(reservoir.try_next());
        }
        numbers
    });
    assert_eq!(
        reservoir.stats().issued,
        (each * THREADS) as u64,
        "every number issued was received: none lost"
    );
}

#[test]
fn all_kinds_of_callers_together_get_no_number_twice() {
    let runtime = runtime();
    let reservoir = reservoir(&runtime);
    let each = 6000;
    assert_none_twice(each, |index| {
        let mut local = reservoir.local();
        let mut numbers = Vec::with_capacity(each + 8);
        while numbers.len() < each {
            match index {
                0 => numbers.extend(reservoir.try_next()),
                1 => numbers.extend(local.try_next()),
                2 => numbers.extend(runtime.block_on(reservoir.next(None))),
                _ => {
                    let many = runtime.block_on(reservoir.take(7.min((each - numbers.len()) as u64), None));
                    numbers.extend(many.unwrap().numbers());
                }
            }
        }
        numbers
    });
    let stats = reservoir.stats();
    assert_eq!((stats.issued, stats.discarded), ((each * THREADS) as u64, 0), "none lost");
}
