//! `sequent next`: the next numbers of a sequence, one a line.

mod first_use;

use clap::Args;
use sequent_core::SequenceName;
use sequent_engine::{Engine, NextRequest, Pace};
use serde::Serialize;

use crate::{
    failure::Failure,
    open_cluster::{Cluster, sequence_name},
    output,
    remote::{Servers, Where},
    template_values::TemplateValues,
};

const EXAMPLES: &str = "\
Examples:
  sequent next order                       1
  sequent next order -n 3                  2, 3 and 4, one a line
  sequent next order -n 3 --json           {\"sequence\":\"order\",\"numbers\":[\"5\",\"6\",\"7\"],\"version\":1}
  sequent next repair --with area=010      010-00001, where the sequence has such a template
  sequent next invoice --at 2026-03-31     a number and a text of that day
  sequent next order --data /var/lib/shop  from another directory
  sequent next order --server http://a:7420,http://b:7420   from servers

Where the sequence has a template its texts are printed, and with --json both. \
All the numbers that were asked for, or none and an error. A number that was given is never given again, \
whatever happens to the process that asked.

Without --server and without a configuration (--config, SEQUENT_CONFIG, --set), servers that run on the data directory, without a \
configuration either, are asked. Where none runs, or a configuration is given, ledger and stores are opened here: what it says may be another thing than what \
a server has. Where the ledger is away then, servers that may still serve are named.";

/// The bound if servers are asked.
const SERVERS_BOUND: &str = "1 to the servers' limits.max_count (10000 by default) are allowed";

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
    #[command(flatten)]
    with: TemplateValues,
    #[command(flatten)]
    servers: Where,
}

/// The output of `--json`: the answer of the HTTP API. Texts, period and instant are there if the sequence
/// has a template. Numbers are strings, since JSON readers round them above 2^53.
#[derive(Serialize)]
struct Issued {
    sequence: String,
    numbers: Vec<String>,
    #[serde(flatten)]
    dated: Option<Dated>,
    version: u32,
    /// Whether these numbers are the first of their cluster.
    #[serde(skip)]
    is_first: bool,
}

#[derive(Serialize)]
struct Dated {
    texts: Vec<String>,
    period: String,
    at: String,
}

impl Next {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let name = sequence_name(&self.name)?;
        let servers = self.servers.pick(cluster)?;
        let issued = match (self.ask(cluster, &servers, &name).await, &servers) {
            (Ok(Some(issued)), _) => issued,
            // The servers may be ending just now, or hang. The files are available.
            (Err(failure), Servers::Found { .. }) if failure.is_of_a_server() => {
                self.take(cluster, name).await?
            }
            (Err(failure), _) => return Err(failure),
            (Ok(None), _) => {
                self.take(cluster, name).await.map_err(|failure| self.servers.beside(failure, cluster))?
            }
        };
        if cluster.json() {
            return output::json(&issued);
        }
        output::lines(issued.dated.map_or(issued.numbers, |dated| dated.texts))?;
        if issued.is_first {
            first_use::hint();
        }
        Ok(())
    }

    /// Numbers from the stores, opened in this process.
    async fn take(&self, cluster: &Cluster, name: SequenceName) -> Result<Issued, Failure> {
        let config = cluster.config()?;
        // Checked before anything is opened, so that a wrong argument does not make a new cluster.
        let count = parse_count(&self.count, config.limits.max_count)?;
        let request = NextRequest {
            with: self.with.values()?,
            at: self.with.at.clone(),
            ..NextRequest::of(name).count(count)
        };
        let is_first = first_use::begins(&config);
        if is_first {
            first_use::check(&config, &request)?;
        }
        // Even after a failure, the ledger records exactly what was taken, so that nothing is skipped later.
        let next = async |engine: &Engine| engine.next(&request).await;
        let issued = cluster.with_engine(config, Pace::Once, next).await?;
        Ok(Issued {
            sequence: issued.sequence.to_string(),
            numbers: issued.numbers.numbers().map(|number| number.to_string()).collect(),
            dated: issued.dated.map(|dated| Dated { texts: dated.texts, period: dated.period, at: dated.at }),
            version: issued.version,
            is_first,
        })
    }

    /// Numbers from servers, without a lease, so that a command that ends wastes none.
    async fn ask(
        &self,
        cluster: &Cluster,
        servers: &Servers,
        name: &SequenceName,
    ) -> Result<Option<Issued>, Failure> {
        if matches!(servers, Servers::None) {
            return Ok(None);
        }
        // Only the servers know their own bound. Their refusal reports it.
        let count = self.count.parse().ok().filter(|count| *count > 0);
        let count: u32 = count.ok_or_else(|| Failure::argument("count", &self.count, SERVERS_BOUND))?;
        let with = self.with.values()?;
        let Some(client) = servers.connect(cluster).await? else { return Ok(None) };
        let mut sequence = client.sequence(name.as_str())?;
        for (name, value) in with.iter() {
            sequence = sequence.with(name, value);
        }
        if let Some(at) = &self.with.at {
            sequence = sequence.at(at);
        }
        let batch = sequence.next_batch(count).await?;
        let has_texts = !batch.texts.is_empty();
        let dated = Dated { texts: batch.texts, period: batch.period, at: batch.at };
        Ok(Some(Issued {
            sequence: name.to_string(),
            numbers: batch.numbers.iter().map(ToString::to_string).collect(),
            dated: has_texts.then_some(dated),
            version: batch.version,
            is_first: false,
        }))
    }
}

fn parse_count(text: &str, max: u64) -> Result<u64, Failure> {
    let count = text.parse().ok().filter(|count| (1..=max).contains(count));
    count.ok_or_else(|| Failure::argument("count", text, format!("1 to {max} are allowed")))
}
