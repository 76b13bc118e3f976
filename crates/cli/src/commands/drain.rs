//! `sequent drain`: a slot gets no new requests, and leaves the rotation once its requests in progress have
//! ended.

use clap::Args;
use sequent_core::ledger::SlotVerb;

use super::slot_command::{self, SlotAbsence, SlotCommandArgs};
use crate::{failure::Failure, open_cluster::Cluster};

const EXAMPLES: &str = "\
Examples:
  sequent drain 2 --why 'moves to another host'
  sequent drain 2 --why 'kernel update' --for 30m
  sequent drain 2 --why 'new disk' --admin https://a:7423 --token-file ops.token    by a server

The word is written to the ledger with who, when, why and until; every process that uses the cluster obeys \
within two seconds: it asks the slot for nothing new, awaits what it had asked before, and uses it, as it uses what \
came late. `sequent shards` and /v1/status show the slot as draining, then as drained: its store can then be taken \
away. `sequent rescue 2` brings it back, or the end of --for. The last slot that can give goes with --leave-none alone.";

/// Take a slot out of the rotation without losing its requests in progress
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Drain {
    #[command(flatten)]
    pub(crate) speech: SlotCommandArgs,
    #[command(flatten)]
    absence: SlotAbsence,
}

impl Drain {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        slot_command::say(cluster, SlotVerb::Drain, self.speech, Some(&self.absence)).await
    }
}
