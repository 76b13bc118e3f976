//! S4: numbers from a reservoir whose refills come from real shards, drawn as fast as a thread can, beside what `CosId`'s
//! `SegmentChainId` is published to reach on such a machine.

use std::{
    hint::black_box,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use sequent_benches::Row;
use sequent_buffer::{LocalHandle, Reservoir, TakeError};
use sequent_core::{Clock, SequenceName, SystemClock};
use tokio::runtime::{Builder, Handle, Runtime};

use crate::{
    fleet::{Fleet, Site},
    note::{Note, median},
    plan::{Found, Plan},
};

/// `CosId`'s figures: numbers a second with one thread and with two.
const PEER: [f64; 2] = [184e6, 127e6];

/// Draws between two looks at the clock.
const DRAWS: u64 = 1 << 16;

/// Rounds that are thrown away: the refill policy adapts.
const WARM_UP: u64 = 2;

pub(crate) fn run(plan: &Plan, fleet: &Fleet, found: &mut Found) -> Result<(), String> {
    // Refills run on a thread of their own: a loop that is always ready lets nothing else run.
    let refills = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let refills: Runtime = refills.map_err(|error| format!("no runtime: {error}"))?;
    let keys = [("reservoir.at_risk_max", plan.at_risk.to_string())];
    let site = Site { name: "s4", store: "mysql-row", memory_bits: 0, keys: &keys };
    let engine = refills.block_on(fleet.open(&site))?;
    let name: SequenceName = "order".parse().map_err(|error| format!("{error}"))?;
    let keyed = refills.block_on(engine.reservoir(&name)).map_err(|error| error.to_string())?;
    for (row, goal, threads) in [("S4-1", 2.0, 1), ("S4-2", 8.0, 2)] {
        rounds(plan, (keyed.reservoir(), refills.handle()), (row, goal, threads), found)?;
    }
    refills.block_on(engine.shutdown());
    Ok(())
}

fn rounds(
    plan: &Plan,
    (reservoir, refills): (&Reservoir, &Handle),
    (name, goal, threads): (&'static str, f64, usize),
    found: &mut Found,
) -> Result<(), String> {
    let mut row = Row::new(name, goal);
    let (mut machine, mut rates) = (Vec::new(), Vec::new());
    let mut on_cpu = Vec::new();
    let length = Duration::from_secs(plan.seconds);
    let mut before = reservoir.stats();
    for round in 0..WARM_UP + plan.rounds {
        if round == WARM_UP {
            before = reservoir.stats();
        }
        let (rate, ran) = together(threads, length, |until| {
            if threads == 1 {
                refills.block_on(shared(reservoir, until))
            } else {
                refills.block_on(own(reservoir, until))
            }
        })?;
        let bare = AtomicU64::new(0);
        let (added, _) = together(threads, length / 10, |until| Ok(add(&bare, until)))?;
        if round >= WARM_UP {
            row.add_rates(rate, PEER[threads - 1]);
            machine.push(added);
            rates.push(rate);
            on_cpu.push(ran);
        }
    }
    let now = reservoir.stats();
    #[allow(clippy::cast_precision_loss, reason = "counts of a bench")]
    let figures = vec![
        ("refills", (now.refills - before.refills) as f64),
        (
            "numbers a refill",
            (now.issued - before.issued) as f64 / (now.refills - before.refills).max(1) as f64,
        ),
        ("last refill ms", now.refill_last.unwrap_or_default().as_secs_f64() * 1e3),
        ("callers that waited", (now.waits - before.waits) as f64),
        ("M/s", median(&rates) / 1e6),
        ("M/s, best round", rates.iter().copied().fold(0.0, f64::max) / 1e6),
        ("M/s while the threads had a processor", median(&on_cpu) / 1e6),
        ("M/s of a bare fetch_add here", median(&machine) / 1e6),
    ];
    found.notes.push(Note::new(name, figures));
    found.rows.push(row);
    Ok(())
}

/// Numbers a second of so many threads, begun together; and the same by the time for which each had a processor, which other
/// work on the machine does not shorten.
fn together(
    threads: usize,
    length: Duration,
    draw: impl Fn(Instant) -> Result<u64, TakeError> + Sync,
) -> Result<(f64, f64), String> {
    let begun = SystemClock.now();
    let until = begun + length;
    let one = || {
        let before = ran();
        let drawn = draw(until).map_err(|error| error.to_string())?;
        Ok((drawn, ran().saturating_sub(before).as_secs_f64()))
    };
    let drawn: Vec<Result<(u64, f64), String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let took = SystemClock.now().saturating_duration_since(begun).as_secs_f64();
    let drawn: Vec<(u64, f64)> = drawn.into_iter().collect::<Result<_, _>>()?;
    #[allow(clippy::cast_precision_loss, reason = "a rate needs no more than 53 bits")]
    let rates = drawn.iter().map(|(drawn, ran)| (*drawn as f64 / took, *drawn as f64 / ran));
    Ok(rates.fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1)))
}

/// For how long this thread has had a processor.
fn ran() -> Duration {
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(said.split_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(0))
}

/// `next().await` for each number, on the reservoir itself.
async fn shared(reservoir: &Reservoir, until: Instant) -> Result<u64, TakeError> {
    let mut drawn = 0;
    while SystemClock.now() < until {
        for _ in 0..DRAWS {
            black_box(reservoir.next(None).await?);
        }
        drawn += DRAWS;
    }
    Ok(drawn)
}

/// A local handle: `try_next` while numbers are ready, `next().await` when it is empty.
async fn own(reservoir: &Reservoir, until: Instant) -> Result<u64, TakeError> {
    let (mut local, mut drawn) = (reservoir.local(), 0);
    while SystemClock.now() < until {
        let mut left = DRAWS;
        while left > 0 {
            left -= draw_ready(&mut local, left);
            if left > 0 {
                black_box(local.next(None).await?);
                left -= 1;
            }
        }
        drawn += DRAWS;
    }
    Ok(drawn)
}

/// At most `most` numbers, as long as none has to be waited for; how many there were.
fn draw_ready(local: &mut LocalHandle, most: u64) -> u64 {
    for drawn in 0..most {
        let Some(number) = local.try_next() else { return drawn };
        black_box(number);
    }
    most
}

fn add(bare: &AtomicU64, until: Instant) -> u64 {
    let mut added = 0;
    while SystemClock.now() < until {
        for _ in 0..DRAWS {
            black_box(bare.fetch_add(1, Ordering::Relaxed));
        }
        added += DRAWS;
    }
    added
}
