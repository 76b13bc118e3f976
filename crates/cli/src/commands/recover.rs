//! `sequent recover`: an operator names what was lost, and the cluster goes on above it.

use clap::Args;
use sequent_core::ledger::Loss;
use sequent_engine::report::SequenceSummary;

use crate::{cluster::Cluster, failure::Failure, output};

/// The highest bump: beyond it the leap rule would refuse what follows.
const BUMP_MAX: u64 = 1 << 36;

const EXAMPLES: &str = "\
Examples:
  sequent recover --moved        it was copied or moved, and this is the newest state
  sequent recover --bump 100000  it is older: at most 100000 raw ids a counter came after it

What it does: adds the bump to the ceiling of each counter, raises the ledger's version above every mark that \
can be found, and makes the ledger speak as a new incarnation. Each counter then begins a new life above its \
ceiling at its next use. Nothing is lowered, and no number is taken.

One of the two flags must be given, for nothing inside the data can tell which is true. With --moved make sure \
that the place it was moved from is never started again. With --bump name more rather than less: a gap costs \
nothing, and a repeated number can't be taken back.

Raw ids and numbers: a raw id is what the counter of one slot gives. It becomes 2^m numbers (m: memory_bits), and \
a sequence has a counter in each of the 2^n slots (n: shard_bits). So N numbers of one sequence are at most \
N / 2^m raw ids of each of its counters, all from one slot, and about N / 2^(n+m) where all slots served alike. \
Name the former where you don't know.

Sequences that are defined later begin above the loss, too, since one of that name may have begun after the copy \
was made: with a bump of N their first number is not `start`, but start + step * N * 2^(n+m).

Stop every process of the cluster first, suspended ones too. One that runs burns what it holds ready once it \
notices, which may take two seconds, and hands it out until then; what clients hold on lease it can't burn. If \
some must go on, add to N what they may hold of any one sequence: reservoir.at_risk_max and the leases, for each \
process.

Where the ledger is lost and no copy is left, put an empty one in its place (a fresh database with the grants, or \
nothing where it was a file) and name with --bump at least as many raw ids as any one counter has given since it \
began; a dense sequence's counter gives one a number. The ledger then takes up the cluster from the stamps of its \
shards, all of which must answer. It knows no sequence: define each again.

Definitions made after the copy are lost with it. The command ends with those that the ledger still knows: \
compare them, and define each one that is missing as it was, start, step and end, before anything is taken of \
it. A first use by a pattern of auto_create would define it with start 1 and step 1: what was given under another \
start may then come again.";

/// The most sequences that are listed in text.
const LISTED_MAX: usize = 1000;

/// Go on after the ledger, or the whole directory, was copied or restored
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("loss").required(true))]
pub(crate) struct Recover {
    /// Nothing was lost: the data was moved, and is the newest state
    #[arg(long, group = "loss")]
    moved: bool,
    /// At most so many raw ids of each counter were given after the state at hand
    #[arg(long, group = "loss", value_name = "N", value_parser = clap::value_parser!(u64).range(1..=BUMP_MAX))]
    bump: Option<u64>,
}

impl Recover {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let loss = self.bump.map_or(Loss::Moved, Loss::Bump);
        let desk = match loss {
            Loss::Moved => cluster.desk().await?,
            Loss::Bump(_) => cluster.desk_after_loss().await?,
        };
        let done = desk.recover(loss).await?;
        let known = desk.list().await;
        if cluster.json() {
            let sequences = known.as_ref().ok();
            output::json(&serde_json::json!({ "done": done, "sequences": sequences }))?;
        } else {
            output::lines([done])?;
            if let Ok(known) = &known {
                output::lines(listed(known))?;
            }
        }
        known.map(drop).map_err(Failure::from)
    }
}

/// What the ledger knows now, for the operator to compare.
fn listed(known: &[SequenceSummary]) -> Vec<String> {
    let count = known.len();
    let mut lines = vec![format!(
        "sequences that the ledger knows: {count}; define any other again as it was before anything is taken of it"
    )];
    lines.extend(known.iter().take(LISTED_MAX).map(|held| {
        let SequenceSummary { sequence, version, start, step, end, .. } = held;
        format!("  {sequence}  version {version}  start {start}  step {step}  end {end}")
    }));
    if let more @ 1.. = count.saturating_sub(LISTED_MAX) {
        lines.push(format!("  and {more} more: `sequent list`"));
    }
    lines
}
