//! `sequent recover`: an operator names what was lost, and the cluster goes on above it.

use clap::Args;
use sequent_core::ledger::Loss;

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
nothing, and a repeated number can't be taken back. A raw id is 2^m numbers (m: memory_bits), so N numbers in \
all are at most N / 2^m raw ids of each counter.";

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
        let done = cluster.desk().await?.recover(loss).await?;
        if cluster.json() {
            return output::json(&serde_json::json!({ "done": done }));
        }
        output::lines([done])
    }
}
