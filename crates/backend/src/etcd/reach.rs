//! Choice of the etcd member: the first one that answers a request that needs a quorum.
//!
//! The member that answered last has a head start. Then the next one is asked in parallel, and so on. A member that
//! refuses connections costs no time; one that hangs costs the head start.

use std::sync::Arc;

use sequent_core::ErrorKind;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{cluster::EtcdCluster, connect, connection::Connection};
use crate::net::{Fault, Purpose};

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
                cluster.note_answer(connection.at);
                return Ok(connection);
            }
            // An error of the cluster would be the same from each member.
            Some(Ok(Ok(Err(fault)))) if !matches!(fault, Fault::Broken(ErrorKind::Unavailable, _)) => {
                return Err(fault);
            }
            Some(Ok(Ok(Err(fault)) | Err(fault))) => last = fault,
            Some(Err(error)) => last = Fault::away(error.to_string()),
        }
    }
}

/// Waits until this member is late and another one was reached before it; returns the reason for leaving this one.
pub(super) async fn another(cluster: &Arc<EtcdCluster>, at: usize) -> Fault {
    sleep(cluster.head_start()).await;
    match any(cluster, Purpose::Look).await {
        Ok(connection) if connection.at != at => Fault::away("a member is silent while others answer"),
        // The answer may still come.
        _ => std::future::pending().await,
    }
}

/// Tries one member. The outer fault means that it was not reached; the inner one is an error after that.
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
        Purpose::Look => connect::found(&mut connection).await?,
        _ => connect::settle(&mut connection, &cluster.options, purpose).await?,
    };
    connection.set_run(&token);
    Ok(connection)
}
