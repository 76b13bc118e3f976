//! The end of a connection.

use std::{pin::pin, time::Duration};

use hyper_util::server::graceful::GracefulConnection;
use sequent_core::{Entropy, OsEntropy};

use crate::{
    connection::poll_on_wake::Aside,
    limits::{AGE_GRACE, CONNECTION_AGE, response_budget::unread::Unread},
    shutdown::phase::{Phase, Phases},
};

/// Why a connection is to end.
enum End {
    /// The server closes, or is about to.
    Closing,
    /// It is as old as a connection may be.
    Aged,
    /// Its peer leaves answers unread.
    Unread,
}

/// Drives a connection until its peer leaves, it has aged, its peer leaves answers unread, or the server is at `ends` and its
/// requests are answered.
pub(crate) async fn until_closed<C: GracefulConnection>(
    connection: C,
    (phases, ends): (Phases, Phase),
    unread: Unread,
) -> Result<(), C::Error> {
    let mut connection = pin!(connection);
    let watch = unread.clone();
    let mut ending = Aside::new(async move {
        tokio::select! {
            () = phases.reach(ends) => End::Closing,
            () = tokio::time::sleep(age()) => End::Aged,
            () = watch.overdue() => End::Unread,
        }
    });
    let end = tokio::select! {
        biased;
        ended = connection.as_mut() => return ended,
        end = &mut ending => end,
    };
    let grace = match end {
        End::Unread => {
            tracing::debug!("a peer left its answers unread: it is hung up on");
            return Ok(());
        }
        // How long a closing server waits is its own affair: then it drops this future.
        End::Closing => None,
        End::Aged => Some(AGE_GRACE),
    };
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        biased;
        ended = connection => ended,
        () = unread.overdue() => Ok(()),
        () = tokio::time::sleep(grace.unwrap_or(Duration::MAX)), if grace.is_some() => Ok(()),
    }
}

/// Connections that began together do not end together.
fn age() -> Duration {
    CONNECTION_AGE.mul_f64(1.0 + OsEntropy.fraction() / 10.0)
}
