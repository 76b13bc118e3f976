//! Arguments of commands that take a slot out: the duration, and whether it may be the last one.

use std::time::Duration;

use clap::Args;
use sequent_admin::Admin;
use sequent_core::{SlotIndex, ledger::SlotVerb};
use sequent_engine::report::ShardReport;

use crate::failure::Failure;

/// The arguments besides the slot command itself.
#[derive(Debug, Args)]
pub(super) struct SlotAbsence {
    /// How long it lasts: 90s, 30m, 2h, 1day [default: until another slot command]
    #[arg(long = "for", value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub(super) duration: Option<Duration>,
    /// Take it out even if no other slot can give: only dense sequences give numbers then, until a slot is
    /// back
    #[arg(long)]
    leave_none: bool,
}

impl SlotAbsence {
    /// Refuses to take `slot` out if it is the last that can give, unless the operator has confirmed it.
    /// Examines every store.
    ///
    /// # Errors
    ///
    /// An argument error that names the other slots, each with why it can't give. No slot command was given.
    pub(super) async fn is_meant(&self, admin: &Admin, slot: SlotIndex) -> Result<(), Failure> {
        if self.leave_none {
            return Ok(());
        }
        match others_away(&admin.cluster().shards().await, slot) {
            None => Ok(()),
            Some(others) => {
                let others = if others.is_empty() { "there is no other".to_owned() } else { others };
                let bound = format!(
                    "the last slot that can give ({others}): without it nobody is given a number, but of dense sequences; \
                     --leave-none says it all the same"
                );
                Err(Failure::argument("slot", slot, bound))
            }
        }
    }
}

/// Why none of the other slots can give; `None` if one can.
fn others_away(shards: &[ShardReport], slot: SlotIndex) -> Option<String> {
    let others: Vec<_> =
        shards.iter().filter(|shard| shard.slot != slot).map(|shard| (shard, state(shard))).collect();
    if others.iter().any(|(_, state)| matches!(*state, "open" | "new")) {
        return None;
    }
    let why = others.iter().map(|(shard, state)| format!("slot {} is {state}", shard.slot));
    Some(why.collect::<Vec<_>>().join(", "))
}

/// The result of the store's examination, or the slot command that keeps it out although it could give.
fn state(shard: &ShardReport) -> &str {
    let is_out = shard.word.as_ref().is_some_and(|word| word.verb == SlotVerb::Evict.as_str());
    if is_out && shard.cause.is_none() { "evicted" } else { &shard.state }
}
