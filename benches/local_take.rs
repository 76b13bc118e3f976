//! One number from a reservoir, beside a bare `fetch_add`: goals S1 (one thread), S2 (two threads, one handle)
//! and S3 (two threads, a handle each), refills included.

use std::{
    hint::black_box,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use sequent_benches::{Options, Row, print, side_by_side, timed};
use sequent_buffer::{LocalHandle, Reservoir, ReservoirConfig, Spawner, TakeError};
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
    let (one, two) = (workers(1)?, workers(2)?);
    let refills = workers(1)?;
    let mut rows = Vec::new();
    let plan: [(&str, &dyn Fn() -> Row); 4] = [
        ("S1", &|| one_thread((&one, &refills), options.rounds)),
        ("S2", &|| shared_handle((&two, &refills), options.rounds)),
        ("S3", &|| handle_each((&two, &refills), options.rounds)),
        ("S3-await", &|| handle_each_awaited((&two, &refills), options.rounds)),
    ];
    for (name, measure) in plan {
        if options.wants(name) {
            rows.push(measure());
        }
    }
    print(&rows, options.json);
    Ok(())
}

/// Refills run on a thread of their own: a loop that is always ready never lets its own runtime run anything else.
fn reservoir(refills: &Runtime) -> Reservoir {
    let handle = refills.handle().clone();
    let spawn: Spawner = Arc::new(move |refill| drop(handle.spawn(refill)));
    Reservoir::new(Arc::new(Counter::default()), ReservoirConfig::default(), Env::default(), spawn)
}

fn workers(count: usize) -> Result<Runtime, String> {
    let runtime = Builder::new_multi_thread().worker_threads(count).enable_time().build();
    runtime.map_err(|error| error.to_string())
}

fn one_thread((runtime, refills): (&Runtime, &Runtime), rounds: usize) -> Row {
    let (reservoir, bare) = (reservoir(refills), Bare::default());
    let subject = || {
        timed(|| {
            checked(runtime.block_on(draw(&reservoir)));
        })
    };
    side_by_side("S1", 0.8, (NUMBERS, rounds), subject, || timed(|| add(&bare)))
}

fn shared_handle((runtime, refills): (&Runtime, &Runtime), rounds: usize) -> Row {
    let (reservoir, bare) = (reservoir(refills), Arc::new(Bare::default()));
    let subject = || {
        both(runtime, || {
            let reservoir = reservoir.clone();
            async move { draw(&reservoir).await }
        })
    };
    side_by_side("S2", 0.8, (NUMBERS * THREADS, rounds), subject, || both_add(runtime, &bare))
}

/// As those use it who ask for the last factor of speed: `try_next` while there is something, `next().await` when dry.
fn handle_each((runtime, refills): (&Runtime, &Runtime), rounds: usize) -> Row {
    let (reservoir, bare) = (reservoir(refills), Arc::new(Bare::default()));
    let subject = || {
        both(runtime, || {
            let mut local = reservoir.local();
            async move {
                let mut left = NUMBERS;
                loop {
                    left -= draw_ready(&mut local, left);
                    if left == 0 {
                        break;
                    }
                    black_box(local.next(None).await?);
                    left -= 1;
                }
                Ok(())
            }
        })
    };
    side_by_side("S3", 5.0, (NUMBERS * THREADS, rounds), subject, || both_add(runtime, &bare))
}

/// The same with `next().await` for each number: its state is then in the task's frame, which costs a store and a
/// load that wait for each other.
fn handle_each_awaited((runtime, refills): (&Runtime, &Runtime), rounds: usize) -> Row {
    let (reservoir, bare) = (reservoir(refills), Arc::new(Bare::default()));
    let subject = || {
        both(runtime, || {
            let mut local = reservoir.local();
            async move {
                for _ in 0..NUMBERS {
                    black_box(local.next(None).await?);
                }
                Ok(())
            }
        })
    };
    side_by_side("S3-await", 5.0, (NUMBERS * THREADS, rounds), subject, || both_add(runtime, &bare))
}

/// At most `most` numbers, as long as none has to be waited for; how many there were.
fn draw_ready(local: &mut LocalHandle, most: u64) -> u64 {
    for drawn in 0..most {
        let Some(number) = local.try_next() else { return drawn };
        black_box(number);
    }
    most
}

async fn draw(reservoir: &Reservoir) -> Result<(), TakeError> {
    for _ in 0..NUMBERS {
        black_box(reservoir.next(None).await?);
    }
    Ok(())
}

fn add(bare: &Bare) {
    for _ in 0..NUMBERS {
        black_box(bare.0.fetch_add(1, Ordering::Relaxed));
    }
}

fn both_add(runtime: &Runtime, bare: &Arc<Bare>) -> Duration {
    both(runtime, || {
        let bare = Arc::clone(bare);
        async move {
            add(&bare);
            Ok(())
        }
    })
}

/// A round in which a number failed is worth nothing, and no such thing can happen with a counter in memory.
fn checked(outcome: Result<(), TakeError>) {
    if let Err(error) = outcome {
        eprintln!("local_take: {error}");
        std::process::exit(1);
    }
}

/// Two tasks on two workers, begun together; from the first beginning to the last end.
fn both<F: Future<Output = Result<(), TakeError>> + Send + 'static>(
    runtime: &Runtime,
    work: impl Fn() -> F,
) -> Duration {
    let missing = Arc::new(AtomicU64::new(THREADS));
    let spawn = || {
        let (missing, work) = (Arc::clone(&missing), work());
        runtime.spawn(async move {
            // Spinning, not sleeping: a thread that is woken may begin on the core of the other, and they run in turn.
            missing.fetch_sub(1, Ordering::AcqRel);
            while missing.load(Ordering::Acquire) > 0 {
                std::hint::spin_loop();
            }
            let begun: Instant = SystemClock.now();
            checked(work.await);
            (begun, SystemClock.now())
        })
    };
    let tasks = [spawn(), spawn()];
    let times: Vec<(Instant, Instant)> =
        tasks.into_iter().filter_map(|task| runtime.block_on(task).ok()).collect();
    let (begun, ended) = (times.iter().map(|time| time.0).min(), times.iter().map(|time| time.1).max());
    begun.zip(ended).map_or(Duration::MAX, |(begun, ended)| ended.saturating_duration_since(begun))
}
