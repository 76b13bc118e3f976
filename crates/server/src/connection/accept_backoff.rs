//! Failures of `accept`: logged once when they begin and once when they have ended.

use std::{io, pin::Pin};

use tokio::time::{Sleep, sleep};

use crate::limits::ACCEPT_QUIET;

/// Whether a listener currently fails to accept.
pub(crate) struct AcceptBackoff {
    listener: &'static str,
    now: Option<Failing>,
}

struct Failing {
    times: u64,
    /// If this timer ends without another failure, the listener has recovered.
    quiet: Pin<Box<Sleep>>,
}

impl AcceptBackoff {
    pub(crate) fn new(listener: &'static str) -> Self {
        Self { listener, now: None }
    }

    /// Records a failed `accept`. Connections in the backlog are accepted once it is possible again.
    pub(crate) fn failed(&mut self, error: &io::Error) {
        let times = self.now.take().map_or(0, |failing| failing.times);
        if times == 0 {
            let listener = self.listener;
            tracing::warn!(listener, %error, "no connection can be taken: tried again until it is possible");
        }
        self.now = Some(Failing { times: times + 1, quiet: Box::pin(sleep(ACCEPT_QUIET)) });
    }

    /// Waits until the listener has recovered. Never ends if it does not fail.
    pub(crate) async fn recovered(&mut self) {
        let Some(failing) = &mut self.now else { return std::future::pending().await };
        failing.quiet.as_mut().await;
        tracing::info!(listener = self.listener, failures = failing.times, "connections are taken again");
        self.now = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::timeout;

    #[tokio::test(start_paused = true)]
    async fn an_outage_is_over_when_nothing_has_failed_for_a_while() {
        let (mut backoff, error) = (AcceptBackoff::new("test"), io::Error::other("too many open files"));
        let recovered =
            async |backoff: &mut AcceptBackoff| timeout(ACCEPT_QUIET * 2, backoff.recovered()).await.is_ok();
        assert!(!recovered(&mut backoff).await, "there is none");
        for times in 1..=100 {
            backoff.failed(&error);
            // As often as if failures alternated with successes.
            let soon = timeout(ACCEPT_QUIET.mul_f64(0.9), backoff.recovered()).await;
            assert!(soon.is_err());
            assert_eq!(backoff.now.as_ref().unwrap().times, times);
        }
        assert!(recovered(&mut backoff).await);
        assert!(backoff.now.is_none());
    }
}
