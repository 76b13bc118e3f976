//! Where a server is between its start and its end.

use tokio::sync::watch;

/// Where a server is between its start and its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// It takes requests.
    Serving,
    /// It still takes requests, and tells balancers to send no more.
    Draining,
    /// It takes no connection; connections end when their requests are answered.
    Closing,
    /// It ends with what is left: its doors are shut, and its engine is being shut down.
    Ending,
    /// Its engine is shut down: nobody has anything to ask any more.
    Ended,
}

/// What everybody reads the phase from.
#[derive(Debug, Clone)]
pub(crate) struct PhaseWatch(watch::Receiver<Phase>);

impl PhaseWatch {
    /// A phase that its sender moves forward.
    pub(crate) fn new() -> (watch::Sender<Phase>, Self) {
        let (sender, receiver) = watch::channel(Phase::Serving);
        (sender, Self(receiver))
    }

    /// Where the server is now.
    pub(crate) fn now(&self) -> Phase {
        *self.0.borrow()
    }

    /// Whether the server is at `phase`, or a later one. Asked at every answer: as long as nothing moved it looks at one number.
    pub(crate) fn has_reached(&self, phase: Phase) -> bool {
        phase == Phase::Serving || (!matches!(self.0.has_changed(), Ok(false)) && self.now() >= phase)
    }

    /// Waits for `phase`, or a later one; also over if nobody is left to move it.
    pub(crate) async fn wait_until(mut self, phase: Phase) {
        // A sender that is gone has ended the server.
        let _gone = self.0.wait_for(|now| *now >= phase).await.is_err();
    }
}
