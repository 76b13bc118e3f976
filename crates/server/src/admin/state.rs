//! State of the handlers, and the latest status of the stores.

use std::{sync::Arc, time::Instant};

use sequent_engine::report::Status;
use tokio::sync::{Mutex, Semaphore};

use crate::{
    admin::{health::is_ready, operate::CHANGES_MAX},
    auth::Auth,
    limits::STATUS_MAX_AGE,
    service::NumberService,
    shutdown::{
        drain::DrainState,
        phase::{Phase, PhaseWatch},
    },
    telemetry::recorder::Recorder,
    tls::ServerTls,
};

/// Status of slots and keys, and when it was read.
type StatusSnapshot = (Instant, Arc<Status>);

/// State of the handlers. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Admin {
    pub(super) service: NumberService,
    pub(super) recorder: Recorder,
    pub(super) phases: PhaseWatch,
    pub(super) drain: DrainState,
    pub(super) auth: Auth,
    pub(super) tls: ServerTls,
    /// Changes of operators that run.
    pub(super) changes: Arc<Semaphore>,
    /// The latest status. Its lock is held while a new one is read, so concurrent requests cause one read.
    snapshot: Arc<Mutex<Option<StatusSnapshot>>>,
}

impl Admin {
    pub(crate) fn new(
        service: NumberService,
        recorder: Recorder,
        (phases, drain): (PhaseWatch, DrainState),
        (auth, tls): (Auth, ServerTls),
    ) -> Self {
        Self {
            service,
            recorder,
            phases,
            drain,
            auth,
            tls,
            changes: Arc::new(Semaphore::new(CHANGES_MAX)),
            snapshot: Arc::default(),
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        is_ready(&self.phases)
    }

    /// The latest snapshot, or a new one if that is too old. `None` if the engine is shutting down before the first
    /// snapshot: the engine has closed its stores, and they must not be opened again.
    pub(super) async fn snapshot(&self) -> Option<Arc<Status>> {
        let mut snapshot = self.snapshot.lock().await;
        let is_ending = self.phases.now() >= Phase::Ending;
        Some(match &*snapshot {
            None if is_ending => return None,
            Some((_, status)) if is_ending => Arc::clone(status),
            Some((at, status)) if self.service.now().saturating_duration_since(*at) < STATUS_MAX_AGE => {
                Arc::clone(status)
            }
            _ => {
                let status = Arc::new(self.service.engine().status().await);
                *snapshot = Some((self.service.now(), Arc::clone(&status)));
                status
            }
        })
    }
}
