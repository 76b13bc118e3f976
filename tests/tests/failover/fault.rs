//! What befalls a store, and how it comes back.

use std::time::Duration;

use sequent_testkit::{proxy::Mode, servers::DataCopy};

use crate::ring::Store;

/// Ways of a store to be away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `kill -9`.
    Killed,
    /// SIGSTOP.
    Hung,
    /// Answers 300 ms late.
    Slow,
    /// Half-open: to the server as if it were there, to itself as if the server had gone.
    CutOff,
    /// Stopped and started in order.
    Restarted,
    /// Stopped, put back to an older copy of its data, started.
    Restored,
}

impl Fault {
    pub(crate) const ALL: [Self; 6] =
        [Self::Killed, Self::Hung, Self::Slow, Self::CutOff, Self::Restarted, Self::Restored];

    /// It happens.
    pub(crate) async fn strike(self, store: &Store) {
        match self {
            Self::Killed => store.db.kill().await,
            Self::Hung => store.db.suspend().await,
            Self::Slow => store.slow_down().await,
            Self::CutOff => store.wire.set(Mode::HalfOpen).await,
            Self::Restarted | Self::Restored => store.db.stop().await,
        }
    }

    /// It is over when this returns. Only what is restored needs an old copy.
    pub(crate) async fn end(self, store: &Store, old: Option<&DataCopy>) {
        match self {
            Self::Killed | Self::Restarted => store.db.restart().await,
            Self::Hung => store.db.resume().await,
            Self::Slow | Self::CutOff => store.wire.set(Mode::Pass).await,
            Self::Restored => store.db.restore_from(old.expect("a copy was made")).await,
        }
    }

    /// How soon after it happened both servers have taken the slot out of use.
    pub(crate) fn noticed_within(self) -> Duration {
        match self {
            Self::Killed | Self::Restarted | Self::Restored => Duration::from_secs(1),
            // Three slow takes, one after the other, each with the refill that goes on without it.
            Self::Slow => Duration::from_secs(3),
            // Three attempts, each to its limit, and the refills between them.
            Self::Hung | Self::CutOff => Duration::from_millis(4500),
        }
    }
}
