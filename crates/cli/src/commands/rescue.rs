//! `sequent rescue`: an operator brings a slot back.

use clap::Args;
use sequent_core::ledger::SlotVerb;

use super::slot_command::{self, SlotCommandArgs};
use crate::{failure::Failure, open_cluster::Cluster};

const EXAMPLES: &str = "\
Examples:
  sequent rescue 2 --why 'new disk is in'
  sequent rescue 2 --why 'new disk' --admin https://a:7423 --token-file ops.token    by a server

Ends an eviction or a quarantine: every process that uses the cluster hears of it within two seconds, and tries the slot by one \
real take through the guard; a counter that was put aside is tried at the next use of its key. The command says the word, \
and does not wait for that: what still can't serve goes out again, and `sequent shards` says why.";

/// Bring a slot back into the rotation
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Rescue {
    #[command(flatten)]
    pub(crate) speech: SlotCommandArgs,
}

impl Rescue {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        slot_command::say(cluster, SlotVerb::Rescue, self.speech, None).await
    }
}
