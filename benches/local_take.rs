//! One number from a reservoir, beside a bare `fetch_add`: goals S1 (one thread), S2 (two threads, one handle)
//! and S3 (two threads, a handle each), refills included.

use std::{
    hint::black_box,
    process::ExitCode,
    sync::{
        Arc, Barrier,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use sequent_benches::{Options, Row, print, side_by_side, timed};
use sequent_buffer::{Reservoir, ReservoirConfig, Spawner};
use sequent_core::{Block, Blocks, BoxFuture, Clock, Env, Source, SourceError, SystemClock};
use tokio::runtime::{Builder, Runtime};

/// Numbers a round and thread: several refills of the largest reserve, and short enough that both sides of a round
/// meet the same machine.
const NUMBERS: u64 = 5_000_000;

const THREADS: u64 = 2;

/// A counter in memory that gives whatever is asked for, in one block.
#[derive(Default)]
struct Counter(AtomicU64);

impl Source for Counter {
    fn take(&self, want: u64) -> BoxFuture<'_, Result<Blocks, SourceError>> {
        let first = self.0.fetch_add(want, Ordering::Relaxed) + 1;
        let block = Block::new(first, 1, want).map(Blocks::from).map_err(SourceError::exhausted);
        Box::pin(std::future::ready(block))
    }
}

/// The baseline: nothing but the instruction, alone on its line.
#[derive(Default)]
#[repr(align(128))]
struct Bare(AtomicU64);

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("local_take: {text}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let options = Options::from_args()?;
    let one = Builder::new_current_thread().enable_time().build().map_err(|error| error.to_string())?;
    let two = Builder::new_multi_thread().worker_threads(2).enable_time().build();
    let two = two.map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    let plan: [(&str, &dyn Fn() -> Row); 3] = [
        ("S1", &|| one_thread(&one, options.rounds)),
        ("S2", &|| shared_handle(&two, options.rounds)),
        ("S3", &|| handle_each(&two, options.rounds)),
    ];
    for (name, measure) in plan {
        if options.wants(name) {
            rows.push(measure());
        }
    }
    print(&rows, options.json);
    Ok(())
}

fn reservoir() -> Reservoir {
    let spawn: Spawner = Arc::new(|refill| drop(tokio::spawn(refill)));
    Reservoir::new(Arc::new(Counter::default()), ReservoirConfig::default(), Env::default(), spawn)
}

fn one_thread(runtime: &Runtime, rounds: usize) -> Row {
    let (reservoir, bare) = (reservoir(), Bare::default());
    let subject = || timed(|| runtime.block_on(draw(&reservoir)));
    side_by_side("S1", 0.8, (NUMBERS, rounds), subject, || timed(|| add(&bare)))
}

fn shared_handle(runtime: &Runtime, rounds: usize) -> Row {
    let (reservoir, bare) = (reservoir(), Arc::new(Bare::default()));
    let subject = || {
        both(runtime, || {
            let reservoir = reservoir.clone();
            async move { draw(&reservoir).await }
        })
    };
    side_by_side("S2", 0.8, (NUMBERS * THREADS, rounds), subject, || both_add(runtime, &bare))
}

fn handle_each(runtime: &Runtime, rounds: usize) -> Row {
    let (reservoir, bare) = (reservoir(), Arc::new(Bare::default()));
    let subject = || {
        both(runtime, || {
            let mut local = reservoir.local();
            async move {
                for _ in 0..NUMBERS {
                    black_box(local.next(None).await.ok());
                }
            }
        })
    };
    side_by_side("S3", 5.0, (NUMBERS * THREADS, rounds), subject, || both_add(runtime, &bare))
}

async fn draw(reservoir: &Reservoir) {
    for _ in 0..NUMBERS {
        black_box(reservoir.next(None).await.ok());
    }
}

fn add(bare: &Bare) {
    for _ in 0..NUMBERS {
        black_box(bare.0.fetch_add(1, Ordering::Relaxed));
    }
}

fn both_add(runtime: &Runtime, bare: &Arc<Bare>) -> Duration {
    both(runtime, || {
        let bare = Arc::clone(bare);
        async move { add(&bare) }
    })
}

/// Two tasks on two workers, begun together; from the first beginning to the last end.
fn both<F: Future<Output = ()> + Send + 'static>(runtime: &Runtime, work: impl Fn() -> F) -> Duration {
    let barrier = Arc::new(Barrier::new(2));
    let spawn = || {
        let (barrier, work) = (Arc::clone(&barrier), work());
        runtime.spawn(async move {
            barrier.wait();
            let begun: Instant = SystemClock.now();
            work.await;
            (begun, SystemClock.now())
        })
    };
    let tasks = [spawn(), spawn()];
    let times: Vec<(Instant, Instant)> =
        tasks.into_iter().filter_map(|task| runtime.block_on(task).ok()).collect();
    let (begun, ended) = (times.iter().map(|time| time.0).min(), times.iter().map(|time| time.1).max());
    begun.zip(ended).map_or(Duration::MAX, |(begun, ended)| ended.saturating_duration_since(begun))
}
