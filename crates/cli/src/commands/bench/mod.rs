//! `sequent bench`: how fast an in-process cluster gives numbers, and whether any repeats.

mod journal;
mod load;
mod progress;
mod schedule;
mod seen;
mod summary;
mod tally;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Args;
use sequent_buffer::TakeError;
use sequent_core::{Blocks, Clock, Events, SequenceName, SystemClock};
use sequent_engine::{EngineError, Keyed, Pace, Reason, config::Config};

use self::{
    journal::Journal,
    load::{Load, Missed, Target},
    progress::Progress,
    schedule::Schedule,
    summary::Summary,
    tally::Tallies,
};
use crate::{
    cluster::{Cluster, sequence_name},
    failure::Failure,
    output,
};

/// How long a bench runs where nobody says.
const DURATION_DEFAULT: Duration = Duration::from_secs(10);

/// The most tasks: what a server's connections might amount to.
const TASKS_MAX: usize = 10_000;

/// The rates of a timetable: from one request in about a quarter of an hour to what one pacer can keep.
const RATE_MIN: f64 = 0.001;
const RATE_MAX: f64 = 10_000_000.0;

const EXAMPLES: &str = "\
Examples:
  sequent bench order                                  ten seconds, as fast as it goes
  sequent bench order --tasks 2 --duration 1m          two callers, a minute
  sequent bench order --rate 5000 --duration 1m        5000 requests a second, whatever they take
  sequent bench order --batch 100 --count 1000000      a million requests of 100 numbers
  sequent bench order --json > result.json             for a script

The numbers are real: they are taken from the cluster, and nobody gets them again.

Without --rate each task asks again as soon as it has its answer (closed loop). With --rate requests start by \
a timetable, and latency counts from the start that was meant, so that a stall shows in each request that it \
delayed. Evictions and rescues are shown as they happen, on standard error.

Exit code 1 if a request failed or a number came twice.";

/// Measure numbers a second and latency, and check that none repeats
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Bench {
    /// The sequence
    name: String,
    /// Callers at once
    #[arg(long, value_name = "N", default_value = "8")]
    tasks: usize,
    /// Numbers a request
    #[arg(long, value_name = "N", default_value = "1")]
    batch: u64,
    /// Stop after so many requests
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<u64>,
    /// Stop after so long: 500ms, 10s, 5m [default: 10s without --count]
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,
    /// Requests a second, by a timetable (open loop)
    #[arg(long, value_name = "PER_SECOND")]
    rate: Option<f64>,
    /// How long a request may take [default: limits.deadline_ms]
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    deadline: Option<Duration>,
    /// Don't check that no number repeats
    #[arg(long)]
    no_check: bool,
}

impl Bench {
    pub(crate) fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let name = sequence_name(&self.name)?;
        let config = cluster.config()?;
        self.check(config.limits.max_count)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::failed(format!("no runtime: {error}")))?;
        let summary = runtime.block_on(self.measure(cluster, config, name))?;
        if cluster.json() {
            output::json(&summary)?;
        } else {
            output::lines(summary.lines())?;
        }
        summary.verdict().map_err(Failure::failed)
    }

    fn check(&self, max_count: u64) -> Result<(), Failure> {
        let within = |field, value: u64, max: u64| {
            let bound = || format!("1 to {max} are allowed");
            if (1..=max).contains(&value) { Ok(()) } else { Err(Failure::argument(field, value, bound())) }
        };
        within("tasks", self.tasks as u64, TASKS_MAX as u64)?;
        within("batch", self.batch, max_count)?;
        within("count", self.count.unwrap_or(1), u64::MAX)?;
        match self.rate {
            Some(rate) if !(RATE_MIN..=RATE_MAX).contains(&rate) => {
                let bound = format!("{RATE_MIN} to {RATE_MAX} requests a second are allowed");
                Err(Failure::argument("rate", rate, bound))
            }
            _ => Ok(()),
        }
    }

    async fn measure(
        &self,
        cluster: &Cluster,
        config: Config,
        name: SequenceName,
    ) -> Result<Summary, Failure> {
        let patience = self.deadline.unwrap_or(config.limits.deadline);
        let duration = self.duration.or_else(|| self.count.is_none().then_some(DURATION_DEFAULT));
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let progress = Progress::new(self.count, duration);
        let journal = Arc::new(Journal::new(clock.now()));
        let events = listen(&clock, &journal, &progress);
        let engine = cluster.engine(config, Pace::Standing, Some(events)).await?;
        let target = Live { keyed: engine.reservoir(&name).await?, name: name.clone() };
        let schedule = Schedule::start(Arc::clone(&clock), self.count, duration, self.rate);
        let load = Load {
            clock,
            schedule: Arc::clone(&schedule),
            batch: self.batch,
            patience,
            tallies: Arc::new(Tallies::default()),
            seen: (!self.no_check).then(Arc::default),
        };
        let pacer = std::thread::spawn({
            let schedule = Arc::clone(&schedule);
            move || schedule.run()
        });
        let ended = drive(&load, self.tasks, target, &progress).await;
        schedule.stop();
        let elapsed = schedule.elapsed();
        progress.finish();
        engine.shutdown().await;
        // It sees the stop within a nap.
        drop(pacer.join());
        ended?;
        let seen = load.seen.as_deref();
        Ok(Summary::new(
            name.to_string(),
            elapsed,
            load.tallies.total(),
            seen,
            schedule.unstarted(),
            journal.kept(),
        ))
    }
}

/// Runs the load until the schedule ends, or a person does; what is under way is finished first.
async fn drive(load: &Load, tasks: usize, target: Live, progress: &Progress) -> Result<(), Failure> {
    let running = load.run(tasks, target);
    tokio::pin!(running);
    let ended = loop {
        tokio::select! {
            ended = &mut running => break ended,
            () = progress.run(&load.schedule, &load.tallies) => {}
            interrupted = tokio::signal::ctrl_c() => {
                load.schedule.stop();
                if interrupted.is_err() {
                    break running.await;
                }
            }
        }
    };
    ended.map_err(|error| Failure::failed(format!("a task of the bench died: {error}")))
}

/// Events go to the journal, and those worth a line to the person watching.
fn listen(clock: &Arc<dyn Clock>, journal: &Arc<Journal>, progress: &Progress) -> Events {
    let (clock, journal, progress) = (Arc::clone(clock), Arc::clone(journal), progress.clone());
    Events::to(move |event| {
        if let Some(entry) = journal.note(clock.now(), &event) {
            progress.say(&entry.line());
        }
    })
}

/// The sequence under load.
#[derive(Clone)]
struct Live {
    keyed: Keyed,
    name: SequenceName,
}

impl Target for Live {
    async fn one(&self, deadline: Option<Instant>) -> Result<u64, Missed> {
        self.keyed.reservoir().next(deadline).await.map_err(|error| self.missed(error))
    }

    async fn many(&self, count: u64, deadline: Option<Instant>) -> Result<Blocks, Missed> {
        self.keyed.reservoir().take(count, deadline).await.map_err(|error| self.missed(error))
    }
}

impl Live {
    fn missed(&self, error: TakeError) -> Missed {
        let text = error.to_string();
        let reason = match error {
            TakeError::Source(error) => EngineError::of_source(&self.name, error).reason(),
            TakeError::Deadline => Reason::DeadlineExceeded,
            TakeError::Closed => Reason::Draining,
        };
        Missed { reason: reason.as_str(), text }
    }
}
