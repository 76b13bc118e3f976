//! `sequent resize`: a change of the number of slots, or of the slots of stores.

use std::path::PathBuf;

use clap::Args;
use sequent_admin::{LayoutReport, Progress, ResizeReport, Resizing, Wish};
use sequent_core::SlotIndex;

use crate::{failure::Failure, open_cluster::Cluster, output};

const EXAMPLES: &str = "\
Examples:
  sequent resize --shard-bits 3                            the plan for a ring of eight; changes nothing
  sequent resize --shard-bits 3 --go                       does it, or finishes what was begun
  sequent resize --config next.toml --go                   the shards of next.toml, and its shard_bits
  sequent resize --config next.toml --leaving old.toml     stores that old.toml has, and next.toml no more
  sequent resize --cancel                                  takes back a plan that nothing has come of

The configuration names the shards of the next layout; what a store is now, its stamp says. Without --go the plan is \
printed with its proof: for each counter's key the highest number before, the lowest after, and what would no longer fit. \
Numbers go on above all that can have been given; none is lost but for what was permitted ahead.

It works on running servers. From the moment of the fence they are refused by ledger and stores, within seconds, with \
`layout changed`, and give no numbers until they are restarted with the new configuration: the pause lasts as long as \
every counter takes to be closed and begun anew. Whoever is killed on the way, or finds a store away, is given the same \
command once more.

Every store of the layout before must be within reach. --gone SLOT says of one that no server can ever reach it again: a \
server that could would repeat numbers.";

/// The most keys that are listed in text.
const LISTED_MAX: usize = 1000;

/// Change the number of slots, or move stores to other slots: prints the plan; --go does it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Resize {
    /// n: the ring gets 2^n slots [default: ring.shard_bits of the configuration, or the value in force]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=10))]
    shard_bits: Option<u8>,
    /// m: each encoded id becomes 2^m numbers [default: the value in force]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u8).range(0..=16))]
    memory_bits: Option<u8>,
    /// The previous configuration, for stores that leave the ring
    #[arg(long, value_name = "FILE")]
    leaving: Option<PathBuf>,
    /// A slot whose store no server can ever reach again
    #[arg(long, value_name = "SLOT")]
    gone: Vec<SlotIndex>,
    /// Do it, or finish it
    #[arg(long)]
    go: bool,
    /// Withdraw a plan that was not begun
    #[arg(long, conflicts_with = "go")]
    cancel: bool,
}

impl Resize {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let Self { shard_bits, memory_bits, ref leaving, ref gone, go, cancel } = self;
        let leaving = leaving.as_ref().map(|file| cluster.config_of(Some(file))).transpose()?;
        let wish = Wish { shard_bits, memory_bits, gone: gone.iter().copied().collect() };
        let (config, options) = cluster.opening()?;
        let resizing = Resizing::open(config, leaving.as_ref(), wish, &options).await?;
        let done = match (cancel, go) {
            (true, _) => cancelled(cluster, &resizing).await,
            (_, true) => run(cluster, &resizing).await,
            (false, false) => plan(cluster, &resizing).await,
        };
        resizing.close().await;
        done
    }
}

async fn cancelled(cluster: &Cluster, resizing: &Resizing) -> Result<(), Failure> {
    let was_planned = resizing.cancel().await?;
    if cluster.json() {
        return output::report(&serde_json::json!({ "cancelled": was_planned }));
    }
    output::lines([if was_planned { "the plan is taken back" } else { "nothing was planned" }])
}

async fn plan(cluster: &Cluster, resizing: &Resizing) -> Result<(), Failure> {
    let report = resizing.plan().await?;
    show(cluster, &report)?;
    let faults: Vec<&str> = report.keys.iter().filter_map(|key| key.fault.as_deref()).collect();
    if faults.is_empty() { Ok(()) } else { Err(Failure::failed(faults.join("\n"))) }
}

async fn run(cluster: &Cluster, resizing: &Resizing) -> Result<(), Failure> {
    let tell = |step: Progress| {
        if !cluster.json() {
            output::say(&told(step));
        }
    };
    show(cluster, &resizing.run(&tell).await?)
}

fn told(step: Progress) -> String {
    match step {
        Progress::Planned => "planned: the ledger has the next layout, nothing is different yet".to_owned(),
        Progress::Fenced => "fenced: whoever counts by the layout before is refused".to_owned(),
        Progress::Rebased { done, of } => format!("keys that have their new counters: {done} of {of}"),
        Progress::Current => "current: restart every server with the new configuration".to_owned(),
    }
}

fn show(cluster: &Cluster, report: &ResizeReport) -> Result<(), Failure> {
    if cluster.json() {
        return output::report(report);
    }
    let layout = |layout: LayoutReport| {
        let LayoutReport { shard_bits, memory_bits, generation } = layout;
        format!(
            "{} slots (shard_bits {shard_bits}, memory_bits {memory_bits}, generation {generation})",
            1_u32 << shard_bits
        )
    };
    let is_in_force = report.state == "in_force";
    let mut lines = vec![if is_in_force {
        format!(
            "the ring has {} already: there is nothing to do, and nothing was changed; servers of the layout before, if any run, are to be \
                 restarted with this configuration",
            layout(report.from)
        )
    } else {
        format!("from {} to {}: {}", layout(report.from), layout(report.to_be), said(report.state))
    }];
    let slots = |slots: &[SlotIndex]| slots.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if !report.added.is_empty() {
        let later =
            if is_in_force { ": servers that are started with this configuration take them up" } else { "" };
        lines.push(format!("stores that are new to the ring, by slot: {}{later}", slots(&report.added)));
    }
    lines.extend(
        report.moved.iter().map(|(was, is)| format!("the store of slot {was} becomes that of slot {is}")),
    );
    if !report.leaving.is_empty() {
        lines.push(format!("slots whose stores leave the ring: {}", slots(&report.leaving)));
    }
    let rows: Vec<Vec<String>> = report.keys.iter().take(LISTED_MAX).map(row).collect();
    if is_in_force {
        return output::lines(lines);
    }
    if rows.is_empty() {
        lines.push("no counter is left to be changed".to_owned());
    } else {
        lines.push(String::new());
        lines.extend(output::table(&["key", "given", "last permitted", "first after", "fault"], &rows));
    }
    if let more @ 1.. = report.keys.len().saturating_sub(LISTED_MAX) {
        lines.push(format!("and {more} more: --json has them all"));
    }
    output::lines(lines)
}

fn said(state: &str) -> &str {
    match state {
        "new" | "planned" => "a plan; --go does it",
        "fenced" => "under way, and no numbers are given before it is done: --go finishes it",
        _ => "done",
    }
}

fn row(key: &sequent_admin::ResizedKey) -> Vec<String> {
    let none = |number: u64| if number == 0 { "-".to_owned() } else { number.to_string() };
    vec![
        key.key.clone(),
        none(key.before),
        none(key.last),
        key.next.map_or_else(|| "-".to_owned(), |next| format!("{next} or higher")),
        key.fault.clone().unwrap_or_default(),
    ]
}
