//! Graceful close of a connection: by age, by shutdown, or because its peer leaves responses unread.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use hyper_util::server::graceful::GracefulConnection;
use sequent_core::{Entropy, OsEntropy};
use tokio::time::Instant;

use crate::{
    connection::{ConnectionContext, activity::Activity, ended::EndReason, poll_on_wake::PollOnWake},
    limits::{AGE_GRACE, CONNECTION_AGE},
};

/// How a connection is closed.
enum Close {
    /// At once, on account of its peer.
    AtOnce(EndReason),
    /// Another connection needs the place: what is in work is broken off.
    MakeRoom,
    /// Once its requests are answered, within this time if there is one.
    Gracefully(Option<EndReason>, Option<Duration>),
}

/// Drives a connection until it is closed: by its peer, because of its peer, for another connection, at `max_age`, or in
/// the phase in which its listener closes once its requests are answered. Only a connection with a maximal age may be
/// too long idle; the head of a request limits the others. Returns why, if it ended on account of its peer.
pub(crate) async fn serve_until_closed<C: GracefulConnection>(
    connection: C,
    context: ConnectionContext,
    max_age: Option<Duration>,
) -> Result<Option<EndReason>, C::Error> {
    let mut connection = pin!(connection);
    let ConnectionContext { phases, closes_at, unread, activity, is_crowded, .. } = context;
    let (watch, watched) = (unread.clone(), Arc::clone(&activity));
    let mut close = PollOnWake::new(async move {
        tokio::select! {
            // There is no time limit here: the accept loop drops this future in its own time.
            () = phases.wait_until(closes_at) => Close::Gracefully(None, None),
            () = tokio::time::sleep(max_age.unwrap_or_default()), if max_age.is_some() => {
                Close::Gracefully(None, Some(AGE_GRACE))
            }
            () = watched.idle(&watch), if max_age.is_some() => {
                Close::Gracefully(Some(EndReason::Idle), Some(AGE_GRACE))
            }
            () = watch.clone().overdue() => Close::AtOnce(EndReason::Unread),
            () = watched.asked_to_end() => Close::MakeRoom,
            () = watched.without_request(), if is_crowded => Close::AtOnce(EndReason::Slow),
        }
    });
    let close = tokio::select! {
        biased;
        ended = in_turns(connection.as_mut(), &activity) => return ended.map(|()| None),
        close = &mut close => close,
    };
    let (ended, grace) = match close {
        Close::AtOnce(reason) => return Ok(Some(reason)),
        Close::MakeRoom => {
            connection.as_mut().graceful_shutdown();
            // One poll writes GOAWAY, which tells the peer that nothing was lost.
            poll_fn(|cx| {
                drop(connection.as_mut().poll(cx));
                Poll::Ready(())
            })
            .await;
            return Ok(Some(EndReason::MadeRoom));
        }
        Close::Gracefully(ended, grace) => (ended, grace),
    };
    connection.as_mut().graceful_shutdown();
    let closed = tokio::select! {
        biased;
        closed = in_turns(connection, &activity) => closed,
        () = unread.overdue() => Ok(()),
        () = activity.asked_to_end() => Ok(()),
        () = tokio::time::sleep(grace.unwrap_or(Duration::MAX)), if grace.is_some() => Ok(()),
    };
    match closed {
        // A peer may hang up on being told.
        Err(error) if ended.is_none() => Err(error),
        _ => Ok(ended),
    }
}

/// Drives a connection. Each poll is a turn of its own.
async fn in_turns<C: Future>(mut connection: Pin<&mut C>, activity: &Activity) -> C::Output {
    poll_fn(|cx| {
        activity.begin_turn();
        connection.as_mut().poll(cx)
    })
    .await
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
