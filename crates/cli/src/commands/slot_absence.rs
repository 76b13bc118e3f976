//! Arguments of commands that take a slot out: for how long, and whether it may be the last one.

use std::time::Duration;

use clap::Args;
use sequent_admin::Admin;
use sequent_core::{SlotIndex, ledger::SlotVerb};
use sequent_engine::report::ShardReport;

use crate::failure::Failure;

/// What is said beside the word itself.
#[derive(Debug, Args)]
pub(super) struct SlotAbsence {
    /// Until when it counts: 90s, 30m, 2h, 1day [default: until another word]
    #[arg(long = "for", value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub(super) duration: Option<Duration>,
    /// Also where no other slot can give: nobody is given a number then, but of dense sequences, until one is back
    #[arg(long)]
    leave_none: bool,
}

impl SlotAbsence {
    /// Refuses to let `slot` go where it is the last that can give, unless somebody has said so. Looks at every store.
    ///
    /// # Errors
    ///
    /// An argument at fault: it names the other slots, each with why it can't give, and nothing was said.
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

/// Why none of the other slots can give; `None` where one can.
fn others_away(shards: &[ShardReport], slot: SlotIndex) -> Option<String> {
    let others: Vec<_> =
        shards.iter().filter(|shard| shard.slot != slot).map(|shard| (shard, state(shard))).collect();
    if others.iter().any(|(_, state)| matches!(*state, "open" | "new")) {
        return None;
    }
    let why = others.iter().map(|(shard, state)| format!("slot {} is {state}", shard.slot));
    Some(why.collect::<Vec<_>>().join(", "))
}

/// What a look at its store found, or that a word has it out, though it could give.
fn state(shard: &ShardReport) -> &str {
    let is_out = shard.word.as_ref().is_some_and(|word| word.verb == SlotVerb::Evict.as_str());
    if is_out && shard.cause.is_none() { "evicted" } else { &shard.state }
}
