//! Which member is asked: whoever answers first what it has to ask a quorum for.
//!
//! Who answered last has a head start, then the next one is asked beside it, and so on. A member that refuses to be reached
//! costs no time, one that hangs the head start.

use std::sync::Arc;

use sequent_core::ErrorKind;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{link::Link, opening, options::Target};
use crate::wire::Fault;

/// What a connection is opened for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    /// To use the ledger, which is made where it may be.
    Use,
    /// To look: nothing is written.
    Look,
}

/// A connection to the first member that is ready.
pub(super) async fn any(target: &Arc<Target>, purpose: Purpose) -> Result<Link, Fault> {
    let (mut members, mut tries) = (target.members(), JoinSet::new());
    let mut last = Fault::refused("no member is named");
    loop {
        let next = members.next();
        if let Some(at) = next {
            tries.spawn(one(Arc::clone(target), at, purpose));
        }
        let ended = match next {
            Some(_) => timeout(target.head_start(), tries.join_next()).await,
            None => Ok(tries.join_next().await),
        };
        let Ok(ended) = ended else { continue };
        match ended {
            None => return Err(last),
            Some(Ok(Ok(Ok(link)))) => {
                target.note_answer(link.at());
                return Ok(link);
            }
            // What the cluster says, each of its members would say.
            Some(Ok(Ok(Err(fault)))) if !matches!(fault, Fault::Broken(ErrorKind::Unavailable, _)) => {
                return Err(fault);
            }
            Some(Ok(Ok(Err(fault)) | Err(fault))) => last = fault,
            Some(Err(error)) => last = Fault::away(error.to_string()),
        }
    }
}

/// Comes to an end once the member at this place is late with an answer, and another one is reached before it is reached
/// anew: why it is left.
pub(super) async fn another(target: &Arc<Target>, at: usize) -> Fault {
    sleep(target.head_start()).await;
    match any(target, Purpose::Look).await {
        Ok(link) if link.at() != at => Fault::away("a member is silent while others answer"),
        // Its answer may still come.
        _ => std::future::pending().await,
    }
}

/// One member: the outer fault is that it was not reached, the inner one what came after.
async fn one(target: Arc<Target>, at: usize, purpose: Purpose) -> Result<Result<Link, Fault>, Fault> {
    let link = Link::connect(&target, at).await?;
    Ok(prepared(link, &target, purpose).await)
}

async fn prepared(mut link: Link, target: &Target, purpose: Purpose) -> Result<Link, Fault> {
    link.log_in().await?;
    let token = match purpose {
        Purpose::Use => {
            let token = opening::settle(&mut link, target).await?;
            target.note_use();
            token
        }
        Purpose::Look => opening::found(&mut link, target).await?,
    };
    link.speaks_by(&token);
    Ok(link)
}
