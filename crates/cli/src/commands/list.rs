//! `sequent list`: the sequences of a cluster.

use clap::Args;
use sequent_engine::report::SequenceSummary;

use crate::{
    failure::Failure,
    open_cluster::Cluster,
    output,
    remote_definitions::{self, Named},
};

const EXAMPLES: &str = "\
Examples:
  sequent list
  sequent list --json
  sequent list --server http://a:7420    of the cluster that this server is of";

/// List the sequences
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct List {
    #[command(flatten)]
    servers: Named,
}

impl List {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let sequences = match self.servers.definitions(cluster).await? {
            Some(definitions) => remote_definitions::list(&definitions).await?,
            None => cluster.admin().await?.cluster().list().await?,
        };
        cluster.show(&serde_json::json!({ "sequences": sequences }), || {
            let rows: Vec<_> = sequences.iter().map(row).collect();
            output::table(
                &["sequence", "version", "placement", "start", "step", "end", "template", "waiting", "fault"],
                &rows,
            )
        })
    }
}

fn row(summary: &SequenceSummary) -> Vec<String> {
    let SequenceSummary { sequence, version, placement, start, step, end, template, fault, waiting } =
        summary;
    let waiting = waiting.iter().map(|next| format!("version {} from {}", next.version, next.effective));
    vec![
        sequence.clone(),
        version.to_string(),
        (*placement).to_owned(),
        start.to_string(),
        step.to_string(),
        end.to_string(),
        template.clone().unwrap_or_default(),
        waiting.collect::<Vec<_>>().join(", "),
        fault.clone().unwrap_or_default(),
    ]
}
