//! `sequent shards`: each slot, looked at afresh.

use std::time::Duration;

use clap::Args;
use sequent_engine::report::{ShardReport, WordReport};

use super::word;
use crate::{cluster::Cluster, failure::Failure, output};

const EXAMPLES: &str = "\
Examples:
  sequent shards
  sequent shards --json

Opens the store of each slot itself, so it shows what this process finds now, whatever others have evicted; \
and the operators' words in force, from the ledger. It takes no number.";

/// Show each slot with its state and cause
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Shards {}

impl Shards {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let desk = cluster.desk().await?;
        let slots = desk.shards().await;
        if cluster.json() {
            let layout = desk.layout();
            return output::report(&serde_json::json!({
                "shard_bits": layout.shard_bits(),
                "memory_bits": layout.memory_bits(),
                "slots": slots,
            }));
        }
        let rows: Vec<_> = slots.iter().map(row).collect();
        let mut lines = output::table(&["slot", "state", "store", "durability", "place", "cause"], &rows);
        lines.extend(slots.iter().filter_map(|slot| Some(word_line(slot, slot.word.as_ref()?))));
        output::lines(lines)
    }
}

fn row(slot: &ShardReport) -> Vec<String> {
    let out = [
        slot.since_ms.map(|ms| format!(" since {}", span(ms))),
        slot.retry_in_ms.map(|ms| format!(", next try in {}", span(ms))),
    ];
    let out: String = out.into_iter().flatten().collect();
    let cause = slot.cause.as_ref().map(|cause| format!("{}: {}", cause.kind, cause.detail));
    vec![
        slot.slot.to_string(),
        format!("{}{out}", slot.state),
        slot.store.to_owned(),
        slot.found.as_ref().map_or("-", |found| found.durability).to_owned(),
        slot.place.clone(),
        cause.unwrap_or_default(),
    ]
}

fn word_line(slot: &ShardReport, said: &WordReport) -> String {
    format!("slot {}: {}", slot.slot, word::sentence(said))
}

fn span(ms: u64) -> String {
    humantime::format_duration(Duration::from_millis(ms)).to_string()
}
