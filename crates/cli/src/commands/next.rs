//! `sequent next`: numbers, one a line.

use clap::Args;
use sequent_engine::{NextRequest, Pace};
use serde::Serialize;

use crate::{
    cluster::{Cluster, sequence_name},
    failure::Failure,
    output,
};

const EXAMPLES: &str = "\
Examples:
  sequent next order                       1
  sequent next order -n 3                  2, 3 and 4, one a line
  sequent next order -n 3 --json           {\"sequence\":\"order\",\"numbers\":[\"5\",\"6\",\"7\"],\"version\":1}
  sequent next order --data /var/lib/shop  from another directory

All the numbers that were asked for, or none and an error. A number that was given is never given again, \
whatever happens to the process that asked.";

/// Give the next numbers of a sequence
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Next {
    /// The sequence
    name: String,
    /// How many numbers
    #[arg(short = 'n', long = "count", value_name = "N", default_value = "1")]
    #[arg(allow_hyphen_values = true)]
    count: String,
}

/// What `--json` prints: the answer of the HTTP door. `period` and `at` belong to templates, so they are absent
/// until a definition has one; numbers are strings, since JSON's readers round them above 2^53.
#[derive(Serialize)]
struct Answer<'a> {
    sequence: &'a str,
    numbers: Vec<String>,
    version: u32,
}

impl Next {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let name = sequence_name(&self.name)?;
        let config = cluster.config()?;
        // Before anything is opened: an argument that is wrong must not even make a new cluster.
        let count = parse_count(&self.count, config.limits.max_count)?;
        let engine = cluster.engine(config, Pace::Once, None).await?;
        let issued = engine.next(&NextRequest { name, count, deadline: None }).await;
        // Whether it went well or not, the ledger hears exactly what was taken, so that nothing is skipped later.
        engine.shutdown().await;
        let issued = issued?;
        if !cluster.json() {
            return output::lines(issued.numbers.numbers());
        }
        output::json(&Answer {
            sequence: issued.sequence.as_str(),
            numbers: issued.numbers.numbers().map(|number| number.to_string()).collect(),
            version: issued.version,
        })
    }
}

fn parse_count(text: &str, max: u64) -> Result<u64, Failure> {
    let count = text.parse().ok().filter(|count| (1..=max).contains(count));
    count.ok_or_else(|| Failure::argument("count", text, format!("1 to {max} are allowed")))
}
