//! Callers of one engine, each in a task of its own, one request after the other; how long each waited.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use sequent_core::{Clock, SequenceName, SystemClock};
use sequent_engine::Engine;
use tokio::task::JoinSet;

use crate::waits::Waits;

/// How long a caller waits who names no deadline.
const DEADLINE: Duration = Duration::from_millis(1500);

/// What a load came to.
pub(crate) struct Load {
    pub(crate) numbers: u64,
    pub(crate) failed: u64,
    /// One of the failures, for people.
    pub(crate) why: Option<String>,
    pub(crate) took: Duration,
    waits: Waits,
}

impl Load {
    fn empty() -> Result<Self, String> {
        Ok(Self { numbers: 0, failed: 0, why: None, took: Duration::ZERO, waits: Waits::new()? })
    }

    /// Another load is counted in; both are said to have gone on one after the other.
    pub(crate) fn add(&mut self, other: &Self) -> Result<(), String> {
        self.numbers += other.numbers;
        self.failed += other.failed;
        self.why = self.why.take().or_else(|| other.why.clone());
        self.took += other.took;
        self.waits.add(&other.waits)
    }

    /// Numbers a second.
    #[allow(clippy::cast_precision_loss, reason = "requests of a bench")]
    pub(crate) fn rate(&self) -> f64 {
        self.numbers as f64 / self.took.as_secs_f64()
    }

    /// How long at most such a part of the requests waited, in milliseconds.
    pub(crate) fn wait_ms(&self, part: f64) -> f64 {
        self.waits.ms(part)
    }
}

/// `callers` tasks take one number after the other for `length`; meanwhile `beside` happens.
pub(crate) async fn load(
    engine: &Engine,
    name: &SequenceName,
    (callers, length): (u64, Duration),
    beside: impl Future<Output = ()>,
) -> Result<Load, String> {
    let over = Arc::new(AtomicBool::new(false));
    let begun = SystemClock.now();
    let mut tasks: JoinSet<Result<Load, String>> =
        (0..callers).map(|_| caller(engine.clone(), name.clone(), Arc::clone(&over))).collect();
    let end = async {
        tokio::time::sleep(length).await;
        over.store(true, Ordering::Relaxed);
        SystemClock.now()
    };
    let (ended, ()) = tokio::join!(end, beside);
    let mut all = Load::empty()?;
    while let Some(done) = tasks.join_next().await {
        all.add(&done.map_err(|error| format!("a caller: {error}"))??)?;
    }
    all.took = ended.saturating_duration_since(begun);
    Ok(all)
}

async fn caller(engine: Engine, name: SequenceName, over: Arc<AtomicBool>) -> Result<Load, String> {
    let mut load = Load::empty()?;
    while !over.load(Ordering::Relaxed) {
        // What is ready is given at the first poll: others, and the refills, must have their turn all the same.
        tokio::task::yield_now().await;
        let begun: Instant = SystemClock.now();
        match engine.take(&name, 1, begun + DEADLINE).await {
            Ok(_) => load.numbers += 1,
            Err(error) => {
                load.failed += 1;
                load.why = Some(error.to_string());
            }
        }
        load.waits.note(SystemClock.now().saturating_duration_since(begun));
    }
    Ok(load)
}
