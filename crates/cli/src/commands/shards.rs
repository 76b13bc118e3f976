//! `sequent shards`: the present state of each slot.

use std::time::{Duration, UNIX_EPOCH};

use clap::Args;
use sequent_core::{Layout, SlotIndex, ledger::SlotVerb};
use sequent_engine::{
    ClusterHandle, OpenError,
    report::{Cause, QuarantineReport, RestReport, ShardReport},
};

use super::slot_command;
use crate::{
    failure::Failure,
    open_cluster::Cluster,
    output,
    server_discovery::{Said, Servers},
};

const EXAMPLES: &str = "\
Examples:
  sequent shards
  sequent shards --json
  sequent shards --admin http://10.0.0.7:7423   and what that server sees
  sequent shards --config /etc/sequent.toml --data /var/lib/sequent
  watch -n1 sequent shards                      again every second; a server's console shows more

Opens the store of each slot itself, so it shows what this process finds now, whatever others have evicted; \
and the operators' words in force, from the ledger. It takes no number.

States: open (the store can serve), new (not used yet), evicted (it could serve; an operator's word keeps it out), \
draining, drained (the same by `sequent drain`; drained once no server can have an ask of it under way), \
unreachable, refused (a person must mend it), empty (no store in this slot).

Then the servers of this cluster that run on the data directory are asked for what they see: their slots out of the \
rotation with causes, and who of them did not answer. Servers on other machines are not looked for: name one with --admin.

While the ledger is away, or an empty one is in its place, the slots are those of the configuration, each looked at by itself; \
operators' words are then what servers still know of them.

Below the table: counters (a key in a slot) from which nothing is taken, because a process of this directory found \
a value that nothing follows, or one that goes back again and again; with what to do. `sequent rescue` clears them. \
And counters that rest: their slot can serve, and gives nothing of that key, since they began a new epoch above what \
the others have reached; they are asked again once the others come up to them, and nothing is to be done.

Where nothing may be given before `sequent recover`, or the ledger can't be read, it says so and exits with 3 or 4.";

/// Show each slot with its state and cause
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Shards {
    /// Ask the server with this admin listener [default: those of this cluster that run on the data directory]
    #[arg(long, value_name = "URL")]
    admin: Option<String>,
}

impl Shards {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let peers = Servers::of(cluster, self.admin.as_deref())?;
        let (looked, said) = tokio::join!(Looked::take(cluster), peers.ask());
        let looked = looked?;
        show(cluster, &looked, &peers, &said)?;
        // The result is shown even if the command then fails, because the cluster may give nothing.
        looked.trouble.map_or(Ok(()), Err)
    }
}

/// The state of the stores.
struct Looked {
    layout: Option<Layout>,
    slots: Vec<ShardReport>,
    /// Why the ledger can't be read, for the table.
    ledger: Option<String>,
    trouble: Option<Failure>,
}

impl Looked {
    /// The state of each store, according to the ledger. If the ledger is unavailable, the configuration
    /// alone is used. Empty if the stores belong to another ledger.
    async fn take(cluster: &Cluster) -> Result<Self, Failure> {
        let (config, options) = cluster.opening()?;
        let cluster = match ClusterHandle::open(&config, &options).await {
            Ok(cluster) => cluster,
            Err(away @ (OpenError::Unavailable(_) | OpenError::Recovery(_))) => {
                let slots = ClusterHandle::shards_without_ledger(&config, &options).await?;
                let ledger = Some(format!("{}: {away}", config.ledger.place));
                return Ok(Self { layout: None, slots, ledger, trouble: Some(away.into()) });
            }
            Err(other) => return Err(other.into()),
        };
        let mut slots = cluster.shards().await;
        slots.iter_mut().for_each(obey);
        let trouble = cluster.trouble().await;
        let ledger = trouble.as_ref().map(|error| format!("{}: {error}", config.ledger.place));
        Ok(Self { layout: Some(cluster.layout()), slots, ledger, trouble: trouble.map(Failure::from) })
    }
}

fn show(cluster: &Cluster, looked: &Looked, peers: &Servers, said: &[Said]) -> Result<(), Failure> {
    let Looked { layout, slots, ledger, .. } = looked;
    if cluster.json() {
        return output::report(&serde_json::json!({
            "shard_bits": layout.map(Layout::shard_bits),
            "memory_bits": layout.map(Layout::memory_bits),
            "ledger": { "fault": ledger },
            "slots": slots,
            "servers": said.iter().map(Said::as_json).collect::<Vec<_>>(),
        }));
    }
    let rows: Vec<_> = slots.iter().map(row).collect();
    let mut lines = output::table(&["slot", "state", "store", "durability", "place", "cause"], &rows);
    if let Some(fault) = ledger {
        lines.extend([String::new(), format!("ledger  {fault}")]);
    }
    lines.extend(quarantined(slots.iter().flat_map(|slot| &slot.quarantined)));
    lines.extend(slots.iter().flat_map(resting));
    lines.push(String::new());
    lines.extend(peers.told(said));
    output::lines(lines)
}

/// The counters of an available slot that give nothing at present: those that rest for now, and those that
/// need an operator.
fn resting(slot: &ShardReport) -> Vec<String> {
    if slot.cause.is_some() { Vec::new() } else { resting_lines(slot.slot, &slot.resting) }
}

fn resting_lines(slot: SlotIndex, resting: &[RestReport]) -> Vec<String> {
    let named = |is_leap: bool, says: &str| {
        let of = resting.iter().filter(|rest| rest.is_leap() == is_leap);
        let keys: Vec<String> =
            of.map(|rest| format!("{} ({} raw ids ahead)", rest.key, rest.raw_ids)).collect();
        (!keys.is_empty()).then(|| format!("slot {slot} {says}: {}", keys.join(", ")))
    };
    let rests = named(false, "rests until the other slots come up to it (nothing to do)");
    let jumps = named(
        true,
        "gives nothing, its row is further ahead than anybody takes (`sequent doctor` says what to do)",
    );
    rests.into_iter().chain(jumps).collect()
}

/// Quarantined counters, with the finding and the repair.
pub(super) fn quarantined<'a>(counters: impl Iterator<Item = &'a QuarantineReport>) -> Vec<String> {
    let lines = counters.flat_map(|counter| {
        let QuarantineReport { slot, key, at_ms, kind, detail, advice } = counter;
        let at = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(*at_ms));
        let found = output::detail(kind, detail);
        [
            String::new(),
            format!("slot {slot} key {key}: quarantined, found {at}: {kind}: {found}"),
            format!("  what to do: {advice}"),
        ]
    });
    lines.collect()
}

/// Applies a slot command to a store that could serve: the command is then the state and the cause.
fn obey(slot: &mut ShardReport) {
    let Some(said) = &slot.word else { return };
    let out = SlotVerb::from_word(said.verb).is_some_and(|verb| verb != SlotVerb::Rescue);
    if out && slot.cause.is_none() {
        if said.verb != SlotVerb::Drain.as_str() {
            "evicted".clone_into(&mut slot.state);
        }
        slot.cause = Some(Cause { kind: "command", detail: slot_command::sentence(said) });
    }
}

fn row(slot: &ShardReport) -> Vec<String> {
    let out = [
        slot.out_ms.or(slot.since_ms).map(|ms| format!(" since {}", span(ms))),
        slot.retry_in_ms.map(|ms| format!(", next try in {}", span(ms))),
    ];
    let out: String = out.into_iter().flatten().collect();
    let cause = slot
        .cause
        .as_ref()
        .map(|cause| format!("{}: {}", cause.kind, output::detail(cause.kind, &cause.detail)));
    vec![
        slot.slot.to_string(),
        format!("{}{out}", slot.state),
        slot.store.to_owned(),
        slot.found.as_ref().map_or("-", |found| found.durability).to_owned(),
        slot.place.clone(),
        cause.unwrap_or_default(),
    ]
}

fn span(ms: u64) -> String {
    humantime::format_duration(Duration::from_millis(ms)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_hand_set_far_ahead_does_not_rest() {
        let rest = |key: &str, raw_ids| RestReport { key: key.to_owned(), raw_ids };
        let told = resting_lines(0, &[rest("order", 110_146), rest("bill", 1 << 62)]);
        assert_eq!(
            told[0],
            "slot 0 rests until the other slots come up to it (nothing to do): order (110146 raw ids ahead)"
        );
        assert!(told[1].contains("doctor") && told[1].contains("bill (4611686018427387904"), "{told:?}");
    }
}
