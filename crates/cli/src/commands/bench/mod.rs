//! `sequent bench`: how fast a cluster gives numbers, in process or through servers, and whether any repeats.

mod driving;
mod figures;
mod journal;
mod live;
mod load;
mod progress;
mod schedule;
mod seen;
mod served;
mod summary;
mod tally;

use std::{sync::Arc, time::Duration};

use clap::Args;
use sequent_core::{Clock, Events, SequenceName, SystemClock};
use sequent_engine::{Engine, Pace};

use self::{
    driving::drive,
    journal::Journal,
    live::Live,
    load::Load,
    progress::Progress,
    schedule::Schedule,
    served::{Served, Via},
    summary::Summary,
    tally::Tallies,
};
use crate::{
    cluster::{Cluster, sequence_name},
    failure::Failure,
    output,
    remote::{Servers, Where},
    runtime,
};

/// How long a bench runs where nobody says.
const DURATION_DEFAULT: Duration = Duration::from_secs(10);

/// The most tasks: what a server's connections might amount to.
const TASKS_MAX: usize = 10_000;

/// How long a request at a server may take where nobody says.
const DEADLINE_DEFAULT: Duration = Duration::from_millis(1500);

/// The most connections to a server.
const CONNECTIONS_MAX: usize = 1_000;

/// The most numbers that a server is asked for at once.
const BATCH_MAX: u64 = 1_000_000;

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
  sequent bench order --server http://a:7420 --connections 4 --in-flight 64
                                                       a server, 16 calls at once on each of 4 connections
  sequent bench order --server http://a:7420,http://b:7420 --via lease
                                                       as a service that leases would

The numbers are real: they are taken from the cluster, and nobody gets them again. Without --server and \
without a configuration (--config, SEQUENT_CONFIG, --set), servers that run on the data directory are asked; where none runs, or with \
--in-process, the stores are opened here.

Without --rate each task asks again as soon as it has its answer (closed loop). With --rate requests start by \
a timetable, and latency counts from the start that was meant, so that a stall shows in each request that it \
delayed. A terminal shows a table while it runs, of the last second and of all so far; elsewhere standard error gets a \
line every five seconds. Evictions and rescues are shown as they happen, there too.

Exit code 1 if a request failed or a number came twice.";

/// Measure numbers a second and latency, and check that none repeats
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Bench {
    /// The sequence
    name: String,
    /// Callers at once: requests in flight
    #[arg(long, visible_alias = "in-flight", value_name = "N", default_value = "8")]
    tasks: usize,
    /// Connections to each server, shared by the callers
    #[arg(long, value_name = "N", default_value = "1")]
    connections: usize,
    /// How a server is asked
    #[arg(long, value_enum, default_value = "call")]
    via: Via,
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
    #[command(flatten)]
    servers: Where,
}

impl Bench {
    pub(crate) fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let name = sequence_name(&self.name)?;
        let servers = self.servers.pick(cluster)?;
        self.check(cluster, &servers)?;
        let summary =
            runtime::run(tokio::runtime::Builder::new_multi_thread(), self.measure(cluster, servers, name))?;
        if cluster.json() {
            output::json(&summary)?;
        } else {
            output::lines(summary.lines())?;
        }
        summary.verdict().map_err(Failure::failed)
    }

    fn check(&self, cluster: &Cluster, servers: &Servers) -> Result<(), Failure> {
        // A server's own bound is known to it alone.
        let batch_max = match servers {
            Servers::None => cluster.config()?.limits.max_count,
            Servers::Named(_) | Servers::Found { .. } => BATCH_MAX,
        };
        let within = |field, value: u64, max: u64| {
            let bound = || format!("1 to {max} are allowed");
            if (1..=max).contains(&value) { Ok(()) } else { Err(Failure::argument(field, value, bound())) }
        };
        within("tasks", self.tasks as u64, TASKS_MAX as u64)?;
        within("connections", self.connections as u64, CONNECTIONS_MAX as u64)?;
        within("batch", self.batch, batch_max)?;
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
        servers: Servers,
        name: SequenceName,
    ) -> Result<Summary, Failure> {
        let duration = self.duration.or_else(|| self.count.is_none().then_some(DURATION_DEFAULT));
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let progress = Progress::new(self.count, duration);
        let journal = Arc::new(Journal::new(clock.now()));
        let schedule = || Schedule::start(Arc::clone(&clock), self.count, duration, self.rate);
        let load = |schedule: &Arc<Schedule>, patience| Load {
            clock: Arc::clone(&clock),
            schedule: Arc::clone(schedule),
            batch: self.batch,
            patience,
            tallies: Arc::new(Tallies::default()),
            seen: (!self.no_check).then(Arc::default),
        };
        let (load, elapsed) = match servers {
            Servers::Named(_) | Servers::Found { .. } => {
                let patience = self.deadline.unwrap_or(DEADLINE_DEFAULT);
                let target = Served::open(&servers, &name, (self.connections, self.via, patience)).await?;
                let load = load(&schedule(), patience);
                let elapsed = drive(&load, self.tasks, target, &progress).await?;
                (load, elapsed)
            }
            Servers::None => {
                let events = listen(&clock, &journal, &progress);
                let config = cluster.config()?;
                let patience = self.deadline.unwrap_or(config.limits.deadline);
                let engine = cluster.engine(config, Pace::Standing, Some(events)).await?;
                let target = live(&engine, &name).await?;
                let load = load(&schedule(), patience);
                let elapsed = drive(&load, self.tasks, target, &progress).await;
                engine.shutdown().await;
                (load, elapsed?)
            }
        };
        let (total, unstarted) = (load.tallies.total(), load.schedule.unstarted());
        Ok(Summary::new(name.to_string(), elapsed, total, load.seen.as_deref(), unstarted, journal.kept()))
    }
}

/// The engine's own sequence as a target.
async fn live(engine: &Engine, name: &SequenceName) -> Result<Live, Failure> {
    Ok(Live { keyed: engine.reservoir(name).await?, name: name.clone() })
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
