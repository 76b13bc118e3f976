//! The failover's own clockwork: who is out is checked when it is due, whether anybody asks or not.

use std::sync::{Arc, Weak};

use sequent_core::{BoxFuture, ErrorKind, SlotIndex, SourceError};
use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};

use super::Failover;
use crate::{health::Claim, ring::probe::Probe};

/// Looks whether a member would serve.
pub(super) type Check = Box<dyn Fn(SlotIndex) -> BoxFuture<'static, Result<(), SourceError>> + Send>;

/// Flips what is due, and checks those on probation, until the failover is gone.
pub(super) async fn run(failover: Weak<Failover>, changed: Arc<Notify>, check: Check) {
    loop {
        let Some(here) = failover.upgrade() else { return };
        let (due, wait) = here.roster.tick();
        for member in due {
            match Probe::claim(&here.roster, member, Claim::Due) {
                Some(probe) => {
                    let limit = here.roster.config().attempt_timeout;
                    let work = check(member);
                    tokio::spawn(async move { settle(probe, timeout(limit, work).await.ok()) });
                }
                None => here.roster.wait_for_probe(member),
            }
        }
        drop(here);
        match wait {
            None => changed.notified().await,
            Some(wait) => tokio::select! {
                () = changed.notified() => {}
                () = sleep(wait) => {}
            },
        }
    }
}

fn settle(mut probe: Probe, found: Option<Result<(), SourceError>>) {
    probe.settle(
        &found.unwrap_or_else(|| Err(SourceError::new(ErrorKind::Timeout, "the check was not answered"))),
    );
}
