//! Graceful close of a connection: by age, by shutdown, or because its peer leaves responses unread.

use std::{pin::pin, time::Duration};

use hyper_util::server::graceful::GracefulConnection;
use sequent_core::{Entropy, OsEntropy};
use tokio::time::Instant;

use crate::{
    connection::poll_on_wake::PollOnWake,
    limits::{AGE_GRACE, CONNECTION_AGE, response_budget::unread::ConnectionUnread},
    shutdown::phase::{Phase, PhaseWatch},
};

/// Why a connection is closed.
enum CloseReason {
    /// The server closes or drains.
    ServerClosing,
    /// The connection has reached its maximal age.
    MaxAge,
    /// The peer leaves responses unread.
    ResponsesUnread,
}

/// Drives a connection until it is closed: by its peer, at `max_age` if there is one, because its peer leaves responses unread,
/// or in the phase `closes_at` once its requests are answered.
pub(crate) async fn serve_until_closed<C: GracefulConnection>(
    connection: C,
    (phases, closes_at): (PhaseWatch, Phase),
    (max_age, unread): (Option<Duration>, ConnectionUnread),
) -> Result<(), C::Error> {
    let mut connection = pin!(connection);
    let watch = unread.clone();
    let mut reason = PollOnWake::new(async move {
        tokio::select! {
            () = phases.wait_until(closes_at) => CloseReason::ServerClosing,
            () = tokio::time::sleep(max_age.unwrap_or_default()), if max_age.is_some() => CloseReason::MaxAge,
            () = watch.overdue() => CloseReason::ResponsesUnread,
        }
    });
    let reason = tokio::select! {
        biased;
        ended = connection.as_mut() => return ended,
        reason = &mut reason => reason,
    };
    let grace = match reason {
        CloseReason::ResponsesUnread => {
            tracing::debug!("a peer left its responses unread: disconnected");
            return Ok(());
        }
        // There is no time limit here: the accept loop drops this future in its own time.
        CloseReason::ServerClosing => None,
        CloseReason::MaxAge => Some(AGE_GRACE),
    };
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        biased;
        ended = connection => ended,
        () = unread.overdue() => Ok(()),
        () = tokio::time::sleep(grace.unwrap_or(Duration::MAX)), if grace.is_some() => Ok(()),
    }
}

/// Maximal age with jitter, so that connections that were opened together are not closed together.
pub(crate) fn max_age() -> Duration {
    CONNECTION_AGE.mul_f64(1.0 + OsEntropy.fraction() / 10.0)
}

/// The time by the runtime, which the connection's other limits go by, too.
#[allow(clippy::disallowed_methods, reason = "the clock of the timers of this connection")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
