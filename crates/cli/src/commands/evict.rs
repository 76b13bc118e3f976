//! `sequent evict`: an operator takes a slot out of the rotation.

use clap::Args;
use sequent_core::ledger::SlotVerb;

use super::slot_command::{self, SlotAbsence, SlotCommandArgs};
use crate::{failure::Failure, open_cluster::Cluster};

const EXAMPLES: &str = "\
Examples:
  sequent evict 2 --why 'disk to be replaced'
  sequent evict 2 --why 'kernel update' --for 30m
  sequent evict 2 --why 'disk to be replaced' --who ann@ops
  sequent evict 2 --why 'new disk' --admin https://a:7423 --token-file ops.token    by a server

The word is written to the ledger with who, when, why and until; every process that uses the cluster obeys \
within two seconds. Timed rescue does not undo it: `sequent rescue 2` does, or the end of --for. The last slot that can \
give goes with --leave-none alone.";

/// Take a slot out of the rotation
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Evict {
    #[command(flatten)]
    pub(crate) speech: SlotCommandArgs,
    #[command(flatten)]
    absence: SlotAbsence,
}

impl Evict {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        slot_command::say(cluster, SlotVerb::Evict, self.speech, Some(&self.absence)).await
    }
}
