//! `sequent bench`: measures the rate and latency of a cluster, in process or through servers, and checks for
//! repeats.

mod duplicate_check;
mod report;
mod target;
mod workers;

use std::time::Duration;

use clap::Args;
use sequent_core::SequenceName;
use sequent_engine::{Engine, Pace};
use tokio::runtime::Builder;

use self::{
    report::Report,
    target::{InProcess, Remote, Target},
    workers::{Plan, Workers},
};
use crate::{
    failure::Failure,
    open_cluster::{Cluster, sequence_name},
    output,
    remote::{Servers, Where},
    runtime,
};

/// The default duration of a bench.
const DURATION_DEFAULT: Duration = Duration::from_secs(10);

/// The most tasks: about the connections that a server may have.
const TASKS_MAX: u64 = 10_000;

/// The most numbers in one request to a server.
const BATCH_MAX: u64 = 1_000_000;

/// The rates of a timetable: from about one request in a quarter of an hour to more than a machine can serve.
const RATE_MIN: f64 = 0.001;
const RATE_MAX: f64 = 10_000_000.0;

const EXAMPLES: &str = "\
Examples:
  sequent bench order                                  ten seconds, as fast as it goes
  sequent bench order --tasks 2 --duration 1m          two callers, a minute
  sequent bench order --rate 5000 --duration 1m        5000 requests a second, whatever they take
  sequent bench order --batch 100 --count 1000000      a million requests of 100 numbers
  sequent bench order --json > result.json             for a script
  sequent bench order --server http://a:7420 --tasks 64   a server, 64 calls at once

The numbers are real: they are taken from the cluster, and nobody gets them again. Without --server and \
without a configuration (--config, SEQUENT_CONFIG, --set), servers that run on the data directory are asked; where none runs, or with \
--in-process, the stores are opened here.

Without --rate each task asks again as soon as it has its answer (closed loop). With --rate requests start by \
a timetable, and latency counts from the start that was meant, so that a stall shows in each request that it \
delayed; where more tasks are needed to keep the rate, it falls short of it.

Standard error gets a line every five seconds, and what happens to slots and ledger, where the stores are opened here.

Exit code 1 if a request failed or a number came twice.";

/// Measure numbers a second and latency, and check that none repeats
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Bench {
    /// The sequence
    name: String,
    /// Callers at once: requests in flight
    #[arg(long, value_name = "N", default_value = "8")]
    tasks: u64,
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
    #[command(flatten)]
    servers: Where,
}

impl Bench {
    pub(crate) fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let name = sequence_name(&self.name)?;
        let servers = self.servers.pick(cluster)?;
        self.check(cluster, &servers)?;
        let report = runtime::run(Builder::new_multi_thread(), self.measure(cluster, &servers, &name))?;
        if cluster.json() {
            output::json(&report)?;
        } else {
            output::lines(report.lines())?;
        }
        report.verdict().map_err(Failure::failed)
    }

    fn check(&self, cluster: &Cluster, servers: &Servers) -> Result<(), Failure> {
        // Only a server knows its own bound.
        let batch_max = match servers {
            Servers::None => cluster.config()?.limits.max_count,
            Servers::Named(_) | Servers::Found { .. } => BATCH_MAX,
        };
        within("tasks", self.tasks, TASKS_MAX)?;
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
        servers: &Servers,
        name: &SequenceName,
    ) -> Result<Report, Failure> {
        if let Some(client) = servers.connect(cluster).await? {
            return self.load(name, Remote(client.sequence(name.as_str())?)).await;
        }
        let config = cluster.config()?;
        let patience = config.limits.deadline;
        let measured = async |engine: &Engine| -> Result<Report, Failure> {
            let target = InProcess { keyed: engine.reservoir(name).await?, name: name.clone(), patience };
            self.load(name, target).await
        };
        cluster.with_engine(config, Pace::Standing, measured).await
    }

    async fn load<T: Target>(&self, name: &SequenceName, target: T) -> Result<Report, Failure> {
        let duration = self.duration.or_else(|| self.count.is_none().then_some(DURATION_DEFAULT));
        let plan = Plan { count: self.count, duration, rate: self.rate, batch: self.batch };
        Workers::new(plan, target).run(name, self.tasks).await
    }
}

fn within(field: &str, value: u64, max: u64) -> Result<(), Failure> {
    if (1..=max).contains(&value) {
        return Ok(());
    }
    Err(Failure::argument(field, value, format!("1 to {max} are allowed")))
}
