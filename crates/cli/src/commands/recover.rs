//! `sequent recover`: an operator names what was lost, and the cluster goes on above it.

use std::{collections::BTreeSet, time::Duration};

use clap::Args;
use sequent_core::{SlotIndex, ledger::Loss};
use sequent_engine::{
    BUMP_MAX, CopyMade, Desk, LossEstimate, MarksReport, NamedLoss, PlannedKey, RecoveryPlan, Timestamp,
    config::Config, report::SequenceSummary,
};

use crate::{cluster::Cluster, failure::Failure, output, peers::Peers};

/// Servers call the ledger every two seconds.
const RAISED_WITHIN: Duration = Duration::from_secs(2);

const EXAMPLES: &str = "\
Examples:
  sequent recover --moved        it was copied or moved, and this is the newest state
  sequent recover --bump 100000  it is older: no counter has come more than 100000 raw ids further
  sequent recover --since 2026-11-20T03:00:00Z        it is a copy of then: works out a bump, prints it, does nothing
  sequent recover --since 2026-11-20T03:00:00Z --yes  and does it
  sequent recover --since 2026-11-20T03:00:00Z --at-most-per-second 500   no sequence was asked for more than that since
  sequent recover --bump 100000 --without 2           the store of slot 2 can't be read, and it is done all the same

What it does: adds the bump to the ceiling of each counter, raises the ledger's version above every mark that \
can be found, and makes the ledger speak as a new incarnation. Each counter then begins a new life above its \
ceiling at its next use. Nothing is lowered, and no number is taken.

One of the three flags must be given, for nothing inside the data can tell which is true. With --moved make sure \
that the place it was moved from is never started again. With --bump name more rather than less: numbers \
are skipped, never lost, and a repeated number can't be taken back.

N of --bump is a distance, not a count: at least the highest number of any sequence that anybody holds, less the highest \
number that the copy permits. `sequent show NAME` prints what it permits, slot by slot; where slots differ take the least \
of `highest number` (of a dense sequence, `last number`), and 0 for a slot, or a key, that is not listed. (As raw ids: the one that `sequent explain NAME \
NUMBER` says, less the least `ceiling`.) How many numbers were given since the copy is not enough: each restart of a shard's \
database, or of the ledger, began new lives above the ceilings, up to twice ledger.outage_s of consumption further on each, and what was \
left out counts. Where nobody knows the highest number, a safe N is the numbers given since the copy, and for each restart of a \
database since then twice ledger.outage_s x the highest rate; add what an earlier --bump, or `advance`, skipped since. When in doubt \
name ten times more. N less than a cell at hand is above its ceiling in the copy is refused, with the least that is not. An N that is named in a message of an error is the least that is known there, and may not be enough.

With --since, name when the copy at hand was made, rather earlier than later. How fast a sequence was asked after that no copy \
knows, for one that was quiet before may have been busy ever since: so it assumes a rate, and prints it first. Say it, if you \
know it: --at-most-per-second N, N at least the numbers a second that the busiest sequence was asked for at any time since, by \
all callers together (the fastest rate, not a mean; leases count in full). Without it, it assumes 200000 numbers a second for \
each server (reservoir.servers), and never less than four times the highest rate that the copy has on record (the mean of a \
counter's life, or what its ceiling was raised ahead for), whatever N says. That rate x the time since then, and as much for 16 \
restarts of its databases, and one more for each hour of that time, of twice ledger.outage_s each, is the bump; 10000 at least. It prints \
what that uses up of the sequences that the ledger knows; where it would be more than 1 % of one and no rate was said, it is \
refused. A sequence that was asked faster than what is assumed repeats numbers. So do more restarts than that, of one \
shard's database and the ledger's together, and a recovery or an `advance` after the copy: then name --bump. (What the cells at \
hand prove it names all the same, and says so.) Where nothing on record gives a rate, one must be said.

Marks say how far the ledger has been: each store bears one, and each data directory. A store whose mark can't be read is \
named before anything is done, and the command is refused, unless --without names its slot. Data directories of servers on \
other hosts can't be read from here; where there may be any, that is said too. After --bump and --since no mark that was not read \
stops anything, however high it is: the version goes far above. (So let N count what was given under it, too.) After --moved \
a higher one that comes back stops everything again, for it says that the data was not the newest state.

Raw ids and numbers: a raw id is what the counter of one slot gives. It becomes 2^m numbers (m: memory_bits), and \
a sequence has a counter in each of the 2^n slots (n: shard_bits). So numbers D apart are D / (step * 2^(n+m)) raw ids \
apart, and N may be as little as that; of a dense sequence it is D / step. To count D itself is safe. Of numbers that were \
given, all may have come from one slot: N / 2^m.

Sequences that are defined later begin above the loss, too, since one of that name may have begun after the copy \
was made: with a bump of N their first number is not `start`, but start + step * N * 2^(n+m).

Where nothing shows a loss (the ledger is behind no mark at hand, and was neither copied nor emptied), or a server of this data \
directory runs, the plan is printed, for each key the last number before, the first after and what would be skipped, and nothing \
is done without --yes (exit code 2). --json has the plan, too.

Stop every process of the cluster first, suspended ones too. One that runs burns what it holds ready once it \
notices, which may take two seconds, and hands it out until then; what clients hold on lease it can't burn. If \
some must go on, add to N what they may hold of any one sequence: reservoir.at_risk_max and the leases, for each \
process.

Where the ledger is lost and no copy is left, put an empty one in its place (a fresh database with the grants, or \
nothing where it was a file) and name with --bump at least the highest raw id that any one counter has reached: the \
highest number of any sequence divided by 2^(n+m), and of a dense one the number itself. N below a cell that can be seen is \
refused, with the least that is not. How many were given is not enough where a resize, `advance` or an earlier bump let a counter begin high. The ledger then takes up the cluster from the stamps of its \
shards, all of which must answer. It knows no sequence: define each again.

Where the ledger is a copy from before a resize, or amid one, which its stores have gone through: give --bump N with the \
configuration of the layout after it; the ledger then takes that up from the stamps of its stores, all of which must answer, or \
from the mark in this data directory, where stores that forget were restarted. Count N in numbers there, the distance as above: raw \
ids of one layout are none of the other, and N of either are skipped. More than one resize later nobody can: then an empty ledger as above.

Definitions made after the copy are lost with it. The command ends with those that the ledger still knows: \
compare them, and define each one that is missing as it was, start, step and end, before anything is taken of \
it. A first use by a pattern of auto_create would define it with start 1 and step 1: what was given under another \
start may then come again.";

/// The most sequences that are listed in text: how many there are is said, and `sequent list` has them all.
const LISTED_MAX: usize = 20;

/// Go on after the ledger, or the whole directory, was copied or restored
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("loss").required(true))]
pub(crate) struct Recover {
    /// Nothing was lost: the data was moved, and is the newest state
    #[arg(long, group = "loss")]
    moved: bool,
    /// No counter has come further above the ceilings of the state at hand than so many raw ids, those left out included
    #[arg(long, group = "loss", value_name = "N", value_parser = clap::value_parser!(u64).range(1..=BUMP_MAX))]
    bump: Option<u64>,
    /// The state at hand is a copy of this instant (RFC 3339): works the bump out, prints it, and does nothing without --yes
    #[arg(long, group = "loss", value_name = "INSTANT")]
    since: Option<String>,
    /// With --since: the most numbers a second that the busiest sequence may have been asked for since the copy, by all callers
    /// together; without it 200000 for each server of reservoir.servers are assumed
    #[arg(long, value_name = "N", conflicts_with_all = ["moved", "bump"], value_parser = clap::value_parser!(u64).range(1..=BUMP_MAX))]
    at_most_per_second: Option<u64>,
    /// Do what was worked out by --since, or printed as a plan: where nothing shows a loss, or servers run
    #[arg(long, requires = "loss")]
    yes: bool,
    /// A slot whose store can't be read, and does not come back before this is done
    #[arg(long, value_name = "SLOT")]
    without: Vec<SlotIndex>,
}

impl Recover {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        if let Some(since) = &self.since {
            return self.work_out(cluster, since).await;
        }
        let loss = self.bump.map_or(Loss::Moved, Loss::Bump);
        if let Some(done) = cluster.catch_up(loss, &self.slots()).await? {
            return caught_up(cluster, &done).await;
        }
        let desk = match loss {
            Loss::Moved => cluster.desk().await?,
            Loss::Bump(bump) => {
                let (without, cautions) = (self.slots(), running(cluster).await?);
                let named = NamedLoss { bump, without, cautions, is_confirmed: self.yes };
                cluster.desk_after_loss(&named).await?
            }
        };
        self.go_on(cluster, &desk, loss, None).await
    }

    fn slots(&self) -> BTreeSet<SlotIndex> {
        self.without.iter().copied().collect()
    }

    async fn work_out(&self, cluster: &Cluster, since: &str) -> Result<(), Failure> {
        let expected = "an instant of RFC 3339 is expected, such as 2026-11-20T03:00:00Z";
        let instant: Timestamp = since.parse().map_err(|_| Failure::argument("since", since, expected))?;
        let since_ms = u64::try_from(instant.as_millisecond())
            .map_err(|_| Failure::argument("since", since, "an instant after 1970 is expected"))?;
        cluster.check_caught_up().await?;
        let config = cluster.config()?;
        let (ahead, servers) = (ceilings_ahead(&config), config.reservoir.servers);
        let desk = cluster.desk().await?;
        let copy = CopyMade { since_ms, ahead, servers, at_most_per_s: self.at_most_per_second };
        let estimate = desk.loss_since(copy).await?;
        if self.yes {
            return self.go_on(cluster, &desk, Loss::Bump(estimate.bump), Some(&estimate)).await;
        }
        let marks = desk.marks().await;
        if cluster.json() {
            let said = serde_json::json!({ "estimate": estimate, "marks": marks, "done": null });
            return output::json(&said);
        }
        let mut lines = estimate.lines();
        lines.extend(marks.lines(Loss::Bump(estimate.bump)));
        lines.push(format!(
            "nothing was done: `sequent recover --bump {}` does it, or the same command with --yes",
            estimate.bump
        ));
        output::lines(lines)
    }

    /// Names the loss, and lists what the ledger knows afterwards.
    async fn go_on(
        &self,
        cluster: &Cluster,
        desk: &Desk,
        loss: Loss,
        estimate: Option<&LossEstimate>,
    ) -> Result<(), Failure> {
        if let Some(estimate) = estimate.filter(|_| !cluster.json()) {
            // Before it is done: who reads it may want to know even if it breaks off.
            output::lines(estimate.lines())?;
        }
        let marks = desk.marks().await;
        foretell(cluster, &marks, loss);
        desk.check_loss(loss, &self.slots()).await?;
        let mut plan = desk.recovery_plan(loss).await?;
        plan.cautions.extend(running(cluster).await?);
        if !self.yes && !plan.cautions.is_empty() {
            return not_done(cluster, &plan, &marks);
        }
        let done = desk.recover_without(loss, &self.slots()).await?;
        let known = desk.list().await;
        if cluster.json() {
            let sequences = known.as_ref().ok();
            let mut said =
                serde_json::json!({ "done": done, "plan": plan, "marks": marks, "sequences": sequences });
            if let Some(estimate) = estimate {
                said["estimate"] = serde_json::json!(estimate);
            }
            output::json(&said)?;
        } else {
            output::lines([done])?;
            if let Ok(known) = &known {
                output::lines(listed(known))?;
            }
        }
        known.map(drop).map_err(Failure::from)
    }
}

/// How far ahead of what is given a ceiling is, at most, as a time: twice an outage, and what a raise may take.
fn ceilings_ahead(config: &Config) -> Duration {
    (config.ledger.outage + RAISED_WITHIN + config.ring.health.attempt_timeout) * 2
}

/// What was done to a ledger from before a resize. Where the resize is still to be finished, nobody can open it yet.
async fn caught_up(cluster: &Cluster, done: &str) -> Result<(), Failure> {
    let known = match cluster.desk().await {
        Ok(desk) => desk.list().await.ok(),
        Err(_) => None,
    };
    if cluster.json() {
        return output::json(&serde_json::json!({ "done": done, "sequences": known }));
    }
    output::lines([done.to_owned()])?;
    output::lines(known.iter().flat_map(|known| listed(known)))
}

/// The servers that run, each a reason to confirm what is to be done.
async fn running(cluster: &Cluster) -> Result<Vec<String>, Failure> {
    let said = Peers::of(cluster, None)?.ask().await;
    let live = said.iter().filter_map(|said| Some((said.admin(), said.status()?)));
    let caution = |(admin, status): (&str, &serde_json::Value)| {
        let trouble = status["trouble"].as_str().map(|trouble| format!(", and says {trouble}"));
        format!(
            "a server runs ({admin}{}): until it notices, which may take two seconds, it hands out what it holds ready; stop it \
             first, or add to N what it may hold of any one sequence",
            trouble.unwrap_or_default()
        )
    };
    Ok(live.map(caution).collect())
}

/// What would be done, and that it was not.
fn not_done(cluster: &Cluster, plan: &RecoveryPlan, marks: &MarksReport) -> Result<(), Failure> {
    if cluster.json() {
        output::json(&serde_json::json!({ "done": null, "plan": plan, "marks": marks }))?;
    } else {
        output::lines(plan_lines(plan))?;
    }
    Err(Failure::argument(
        "--yes",
        "absent",
        format!("nothing was done: {}; read the plan, and add --yes", plan.cautions[0]),
    ))
}

fn plan_lines(plan: &RecoveryPlan) -> Vec<String> {
    let mut lines: Vec<String> =
        plan.cautions.iter().map(|caution| format!("think twice: {caution}")).collect();
    let count = plan.keys.len();
    lines.extend(plan.keys.iter().take(LISTED_MAX).map(|planned| {
        let PlannedKey { key, last_before, first_after, skipped, .. } = planned;
        let last = last_before.map_or_else(|| "none".to_owned(), |last| last.to_string());
        let first = first_after.map_or_else(|| "none is left".to_owned(), |first| first.to_string());
        format!("  {key}  last number before {last}  first after {first}  skipped {skipped}")
    }));
    if let more @ 1.. = count.saturating_sub(LISTED_MAX) {
        lines.push(format!(
            "  and {more} more: --json has {}",
            if plan.is_partial { "most of them" } else { "them all" }
        ));
    }
    lines
}

/// What is not seen, before anything is done.
fn foretell(cluster: &Cluster, marks: &MarksReport, loss: Loss) {
    if !cluster.json() {
        marks.lines(loss).iter().for_each(|line| output::say(line));
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
