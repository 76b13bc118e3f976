//! Phases of a server, from serving to its end.

use tokio::sync::watch;

/// Phase of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Requests are accepted.
    Serving,
    /// Requests are accepted, and load balancers are told to send no more.
    Draining,
    /// No connection is accepted. Open ones are closed once their requests are answered.
    Closing,
    /// The listeners are closed, and the engine is being shut down. Remaining connections are dropped.
    Ending,
    /// The engine is shut down.
    Ended,
}

/// Receiver of the phase. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct PhaseWatch(watch::Receiver<Phase>);

impl PhaseWatch {
    /// Makes a phase: its sender and a receiver.
    pub(crate) fn new() -> (watch::Sender<Phase>, Self) {
        let (sender, receiver) = watch::channel(Phase::Serving);
        (sender, Self(receiver))
    }

    /// The current phase.
    pub(crate) fn now(&self) -> Phase {
        *self.0.borrow()
    }

    /// Whether the server is in `phase` or a later one. It is called for every response: without a change it reads
    /// one atomic.
    pub(crate) fn has_reached(&self, phase: Phase) -> bool {
        phase == Phase::Serving || (!matches!(self.0.has_changed(), Ok(false)) && self.now() >= phase)
    }

    /// Waits for `phase` or a later one. Ends as well if the sender is dropped.
    pub(crate) async fn wait_until(mut self, phase: Phase) {
        // A dropped sender means that the server has ended.
        let _gone = self.0.wait_for(|now| *now >= phase).await.is_err();
    }
}
