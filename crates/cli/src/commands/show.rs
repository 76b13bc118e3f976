//! `sequent show`: one sequence with its counters.

use clap::Args;
use sequent_engine::report::{CounterReport, DenseReport, SequenceReport};

use crate::{
    cluster::{Cluster, sequence_name},
    failure::Failure,
    output,
};

const EXAMPLES: &str = "\
Examples:
  sequent show order
  sequent show order --json

Each counter is a key in a slot. Its life is one unbroken stretch of history; raw ids of that life are above \
the base, none above the ceiling may leave a process, and `seen` is the highest that was reported as taken. A \
dense sequence counts in the ledger: a key, and how many numbers it has given.";

/// Show a sequence and its counters
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// The sequence
    name: String,
}

impl Show {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let name = sequence_name(&self.name)?;
        let report = cluster.desk().await?.show(&name).await?;
        if cluster.json() {
            return output::report(&report);
        }
        output::lines(lines(&report))
    }
}

fn lines(report: &SequenceReport) -> Vec<String> {
    let summary = &report.summary;
    let mut lines = vec![
        format!("sequence    {}", summary.sequence),
        format!("version     {}", summary.version),
        format!("placement   {}", summary.placement),
        format!("numbers     {} to {}, {} apart", summary.start, summary.end, summary.step),
        format!("definition  {}", report.definition),
    ];
    lines.extend(summary.template.iter().map(|template| format!("template    {template}")));
    lines.extend(summary.waiting.iter().map(|next| {
        let template = next.template.as_deref().unwrap_or("no template");
        format!("waiting     version {} from {} on: {template}", next.version, next.effective)
    }));
    lines.extend(summary.fault.iter().map(|fault| format!("fault       {fault}")));
    lines.push(String::new());
    if report.summary.placement == "dense" {
        let rows: Vec<_> = report.dense.iter().map(dense).collect();
        lines.extend(output::table(&["key", "given", "last number"], &rows));
    } else {
        let rows: Vec<_> = report.counters.iter().map(row).collect();
        lines.extend(output::table(
            &["key", "slot", "life", "base", "ceiling", "seen", "highest number"],
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
        counter.life.clone(),
        counter.base.to_string(),
        counter.ceiling.to_string(),
        counter.seen.to_string(),
        counter.number_max.map_or_else(|| "-".to_owned(), |number| number.to_string()),
    ]
}
