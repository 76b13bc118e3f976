//! `sequent show`: one sequence with its counters.

use clap::Args;
use sequent_engine::report::{CounterReport, DenseReport, SequenceReport, SequenceSummary};

use crate::{
    failure::Failure,
    open_cluster::{Cluster, sequence_name},
    output,
    remote_definitions::{self, Named},
};

const EXAMPLES: &str = "\
Examples:
  sequent show order
  sequent show order --json
  sequent show order --server http://a:7420    its definition; a server tells no counters

Each counter is a key in a slot. Its epoch is one unbroken stretch of history; raw ids of that epoch are above \
the base, none above the ceiling may leave a process, and `seen` is the highest that was reported as taken. A \
dense sequence counts in the ledger: a key, and how many numbers it has given.";

/// Show a sequence and its counters
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// The sequence
    name: String,
    #[command(flatten)]
    servers: Named,
}

impl Show {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let name = sequence_name(&self.name)?;
        if let Some(definitions) = self.servers.definitions(cluster).await? {
            let (summary, definition) = remote_definitions::show(&definitions, name.as_str()).await?;
            let mut told = serde_json::json!(summary);
            told["definition"] = definition.as_str().into();
            return cluster.show(&told, || head(&summary, &definition));
        }
        let report = cluster.admin().await?.cluster().show(&name).await?;
        cluster.show(&report, || lines(&report))
    }
}

fn head(summary: &SequenceSummary, definition: &str) -> Vec<String> {
    // If a template is not proven, the range of its numbers is unknown.
    let end = if summary.fault.is_none() { summary.end.to_string() } else { "(not known)".to_owned() };
    let mut lines = vec![
        format!("sequence    {}", summary.sequence),
        format!("version     {}", summary.version),
        format!("placement   {}", summary.placement),
        format!("numbers     {} to {end}, {} apart", summary.start, summary.step),
        format!("definition  {}", definition),
    ];
    lines.extend(summary.template.iter().map(|template| format!("template    {template}")));
    lines.extend(summary.waiting.iter().map(|next| {
        let template = next.template.as_deref().unwrap_or("no template");
        format!("waiting     version {} from {} on: {template}", next.version, next.effective)
    }));
    lines.extend(summary.fault.iter().map(|fault| format!("fault       {fault}")));
    lines
}

fn lines(report: &SequenceReport) -> Vec<String> {
    let mut lines = head(&report.summary, &report.definition);
    lines.push(String::new());
    if report.summary.placement == "dense" {
        let rows: Vec<_> = report.dense.iter().map(dense).collect();
        lines.extend(output::table(&["key", "given", "last number"], &rows));
    } else {
        let rows: Vec<_> = report.counters.iter().map(row).collect();
        lines.extend(output::table(
            &["key", "slot", "epoch", "base", "ceiling", "seen", "highest number"],
            &rows,
        ));
    }
    lines.extend(super::shards::quarantined(report.quarantined.iter()));
    lines
}

fn dense(held: &DenseReport) -> Vec<String> {
    vec![held.key.clone(), held.given.to_string(), held.number.to_string()]
}

fn row(counter: &CounterReport) -> Vec<String> {
    vec![
        counter.key.clone(),
        counter.slot.to_string(),
        counter.epoch.clone(),
        counter.base.to_string(),
        counter.ceiling.to_string(),
        counter.seen.to_string(),
        counter.number_max.map_or_else(|| "-".to_owned(), |number| number.to_string()),
    ]
}
