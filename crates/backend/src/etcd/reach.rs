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

use super::{cluster::EtcdCluster, connection::Connection, opening};
use crate::net::Fault;

/// What a connection is opened for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    /// To use the ledger, which is made where it may be.
    Use {
        /// This process has used it before, so that it is not made.
        is_known: bool,
    },
    /// To look: nothing is written.
    Look,
}

/// A connection to the first member that is ready.
pub(super) async fn any(cluster: &Arc<EtcdCluster>, purpose: Purpose) -> Result<Connection, Fault> {
    let (mut members, mut tries) = (cluster.members(), JoinSet::new());
    let mut last = Fault::refused("no member is named");
    loop {
        let next = members.next();
        if let Some(at) = next {
            tries.spawn(one(Arc::clone(cluster), at, purpose));
        }
        let ended = match next {
            Some(_) => timeout(cluster.head_start(), tries.join_next()).await,
            None => Ok(tries.join_next().await),
        };
        let Ok(ended) = ended else { continue };
        match ended {
            None => return Err(last),
            Some(Ok(Ok(Ok(connection)))) => {
                cluster.note_answer(connection.at());
                return Ok(connection);
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
pub(super) async fn another(cluster: &Arc<EtcdCluster>, at: usize) -> Fault {
    sleep(cluster.head_start()).await;
    match any(cluster, Purpose::Look).await {
        Ok(connection) if connection.at() != at => Fault::away("a member is silent while others answer"),
        // Its answer may still come.
        _ => std::future::pending().await,
    }
}

/// One member: the outer fault is that it was not reached, the inner one what came after.
async fn one(
    cluster: Arc<EtcdCluster>,
    at: usize,
    purpose: Purpose,
) -> Result<Result<Connection, Fault>, Fault> {
    let connection = Connection::open(&cluster, at).await?;
    Ok(prepared(connection, &cluster, purpose).await)
}

async fn prepared(
    mut connection: Connection,
    cluster: &EtcdCluster,
    purpose: Purpose,
) -> Result<Connection, Fault> {
    connection.log_in().await?;
    let token = match purpose {
        Purpose::Use { is_known } => {
            opening::settle(&mut connection, cluster.options.create, is_known).await?
        }
        Purpose::Look => opening::found(&mut connection).await?,
    };
    connection.set_run(&token);
    Ok(connection)
}
