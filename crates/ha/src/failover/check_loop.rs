//! The loop that checks endpoints that are out, when they are due, whether anybody calls or not.

use std::sync::{Arc, Weak};

use sequent_core::{ErrorKind, Reply, SlotIndex, SourceError};
use tokio::{sync::Notify, time::timeout};

use super::state::State;
use crate::{
    health::member::events::ProbeReason,
    membership::{probe_permit::ProbePermit, until_due},
};

/// Checks whether an endpoint would serve.
pub(super) type Check = Box<dyn Fn(SlotIndex) -> Reply<'static, ()> + Send>;

/// Performs due transitions, and checks endpoints on probation, until the failover is gone.
pub(super) async fn run(state: Weak<State>, changed: Arc<Notify>, check: Check) {
    loop {
        let Some(here) = state.upgrade() else { return };
        let (due, wait) = here.membership.tick();
        for endpoint in due {
            match ProbePermit::acquire(&here.membership, endpoint, ProbeReason::Due) {
                Some(permit) => {
                    let limit = here.membership.config().attempt_timeout;
                    let work = check(endpoint);
                    tokio::spawn(async move { report(permit, timeout(limit, work).await.ok()) });
                }
                None => here.membership.wait_for_probe(endpoint),
            }
        }
        drop(here);
        until_due(&changed, wait).await;
    }
}

fn report(mut permit: ProbePermit, result: Option<Result<(), SourceError>>) {
    let timed_out = || Err(SourceError::new(ErrorKind::Timeout, "the check was not answered"));
    permit.report(&result.unwrap_or_else(timed_out));
}
