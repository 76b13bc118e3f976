//! `sequent import`: sequences that go on where the counters of another system are.

mod shown;
mod source;

use std::time::Duration;

use clap::Args;
use sequent_admin::import::{self, Action, Choice, MEMORY_BITS_MAX, Mapping, Standing, TABLES_MAX};
use sequent_engine::{
    Engine, Pace,
    foreign::{Table, TableFormat},
};

use self::source::SourceArgs;
use crate::{failure::Failure, open_cluster::Cluster, output};

const EXAMPLES: &str = "\
Examples:
  sequent import mysql://shop@db1/shop --password-file shop.password      a plan: every table that is known
  sequent import mysql://shop@db1/shop --password-file shop.password --table leaf_alloc --yes
  sequent import postgres://shop@db1/shop --column orders.id --map orders=order
  sequent import redis://cache:6379/0 --pattern 'seq:*' --map 'seq:*=*' --ahead 5000 --yes
  sequent import mysql://seq@a/seq mysql://seq@b/seq --memory-bits 3      tables of one owner in two databases
  sequent import counters.csv --yes          with the columns counter, last_number, step
  sequent import redis://cache:6379/0 --pattern 'seq:*' --map 'seq:*=*' --verify

Without --yes it shows a plan and changes no sequence; in a place without a cluster, it begins one. It reads the tables of \
sequences that it knows by their columns, the sequences of PostgreSQL, the ids of a table that counts by itself (--table), \
the maximum of a column (--column), keys of Redis that are numbers (--pattern), and files in CSV and JSON. The other \
system is only read.

A sequence that is not there is defined, and begins right above the last number. One that is there goes forward, and never \
back. The same once more changes nothing, and after a kill the same command goes on. Programs that still count in the other \
system have room for --ahead numbers of each counter; --verify reads it twice, and tells which counters move, and which \
moved past that room. The exit code is 3 if anything is refused or has passed.";

/// How long a verification watches the other system, in seconds.
const WATCH_S_DEFAULT: u64 = 2;

/// Go on where the counters of another system are
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Import {
    #[command(flatten)]
    source: SourceArgs,
    /// Which counter becomes which sequence: OLD=NEW, or TABLE.OLD=NEW for one of several tables, with a * for
    /// what both have; may be repeated, and the first that fits counts
    #[arg(long, value_name = "OLD=NEW")]
    map: Vec<String>,
    /// How many numbers more each counter of the other system may give while callers move
    #[arg(long, value_name = "N", default_value_t = 0)]
    ahead: u64,
    /// The memory bits of the old program that counts in tables OWNER_code_0 to OWNER_code_N: 2^M numbers an id
    #[arg(long, value_name = "M", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u32).range(..=i64::from(MEMORY_BITS_MAX)))]
    memory_bits: u32,
    /// The names of tables that together count one sequence: %s is the owner, %d the index
    #[arg(long, value_name = "FORMAT", default_value = "%s_code_%d")]
    table_name: String,
    /// How many tables OWNER_code_0 to OWNER_code_N each owner has [default: as many as the ring has slots]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=TABLES_MAX as u64))]
    tables: Option<u64>,
    /// spread or dense, for sequences that are defined [default: dense if a key has fewer than 1000000 numbers]
    #[arg(long, value_name = "PLACEMENT")]
    placement: Option<String>,
    /// The zone of dates in texts: an IANA name [default: UTC]
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,
    /// Do it
    #[arg(long, conflicts_with = "verify")]
    yes: bool,
    /// Tell which counters of the other system moved past what was imported
    #[arg(long)]
    verify: bool,
    /// How long --verify watches the other system, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = WATCH_S_DEFAULT, requires = "verify")]
    #[arg(value_parser = clap::value_parser!(u64).range(0..=3600))]
    watch_s: u64,
}

impl Import {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let choice = self.choice()?;
        let tables = self.source.read(&choice.table_names).await?;
        let second = if self.verify {
            tokio::time::sleep(Duration::from_secs(self.watch_s)).await;
            Some(self.source.read(&choice.table_names).await?)
        } else {
            None
        };
        let config = cluster.config()?;
        // Without patterns, no first use defines anything.
        let first_uses_max = (!config.auto_create.is_empty()).then_some(config.limits.auto_create_max);
        let work = async |engine: &Engine| match second {
            Some(second) => verify(cluster, engine, (&tables, &second), &choice).await,
            None => self.import(cluster, (engine, first_uses_max), &tables, &choice).await,
        };
        cluster.with_engine(config, Pace::Once, work).await
    }

    fn choice(&self) -> Result<Choice, Failure> {
        let mapping =
            |text: &String| text.parse::<Mapping>().map_err(|bound| Failure::argument("--map", text, bound));
        Ok(Choice {
            placement: self.placement.clone(),
            zone: self.zone.clone(),
            ahead: self.ahead,
            memory_bits: self.memory_bits,
            table_names: self.table_names()?,
            tables: self.tables.and_then(|tables| usize::try_from(tables).ok()),
            mappings: self.map.iter().map(mapping).collect::<Result<_, _>>()?,
        })
    }

    fn table_names(&self) -> Result<TableFormat, Failure> {
        let refused = |bound: &str| Failure::argument("--table-name", &self.table_name, bound);
        let names = self.table_name.parse::<TableFormat>().map_err(|bound| refused(&bound.to_string()))?;
        match names.database() {
            None => Ok(names),
            Some(_) => Err(refused("the source names the database: leave it out")),
        }
    }

    async fn import(
        &self,
        cluster: &Cluster,
        (engine, first_uses_max): (&Engine, Option<u64>),
        tables: &[Table],
        choice: &Choice,
    ) -> Result<(), Failure> {
        let before = engine.cluster().list().await?.len();
        let plan = import::plan(engine, tables, choice).await?;
        let report = if self.yes { import::carry_out(engine, plan).await? } else { plan.report() };
        cluster.show(&report, || shown::plan(&report))?;
        let defined = before + report.count(Action::Define);
        if let Some(most) =
            first_uses_max.filter(|most| report.count(Action::Define) > 0 && defined as u64 >= *most)
        {
            output::say(&format!(
                "sequent: {defined} sequences are in use then: first uses define none beyond {most}, limits.auto_create_max"
            ));
        }
        match report.count(Action::Refused) {
            0 => Ok(()),
            count => {
                Err(Failure::incomplete(format!("{count} of {} counters are refused", report.counters.len())))
            }
        }
    }
}

async fn verify(
    cluster: &Cluster,
    engine: &Engine,
    readings: (&[Table], &[Table]),
    choice: &Choice,
) -> Result<(), Failure> {
    let report = import::verify(engine, readings, choice).await?;
    cluster.show(&report, || shown::verification(&report))?;
    let kept = report.count(Standing::Kept);
    if kept == report.counters.len() {
        return Ok(());
    }
    let (passed, missing) = (report.count(Standing::Passed), report.count(Standing::Missing));
    let unread = report.count(Standing::Unread);
    let message =
        format!("{passed} counters passed what was imported, {missing} are missing, {unread} can't be read");
    Err(Failure::incomplete(message))
}
