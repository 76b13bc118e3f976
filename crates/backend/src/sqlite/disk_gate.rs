//! One at a time before a disk that may hang, and nobody waits for it for ever.
//!
//! A call to a disk that hangs (a hard network mount, a dead device) never returns, and keeps its thread for as long.
//! Whoever gives up on it leaves the thread behind; were each verb to send another one, none would be left in the end for
//! the disks that are well. So a file has one turn: it goes with the thread, and who comes meanwhile waits without one.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use sequent_core::Clock;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// After so long without an answer a disk is said to hang. A look at a file takes microseconds; below an attempt's limit of
/// 1 s, so that the cause is said.
pub(super) const ANSWER_MAX: Duration = Duration::from_millis(900);

/// The turns at a file.
#[derive(Debug, Clone)]
pub(super) struct DiskGate(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    one: Arc<Semaphore>,
    /// Since when the turn has been somebody's.
    since: Mutex<Option<Instant>>,
    clock: Arc<dyn Clock>,
}

/// The turn, until it is dropped: by the thread that asks, never by who waits for it.
#[derive(Debug)]
pub(super) struct DiskPass {
    turns: DiskGate,
    _one: OwnedSemaphorePermit,
}

impl DiskGate {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Shared { one: Arc::new(Semaphore::new(1)), since: Mutex::default(), clock }))
    }

    /// The turn, once the one before has ended; `None` where that one has had no answer for [`ANSWER_MAX`].
    pub(super) async fn next(&self) -> Option<DiskPass> {
        let one = Arc::clone(&self.0.one);
        let one = match Arc::clone(&one).try_acquire_owned() {
            Ok(one) => one,
            Err(_) => timeout(self.patience()?, one.acquire_owned()).await.ok()?.ok()?,
        };
        *self.since() = Some(self.0.clock.now());
        Some(DiskPass { turns: self.clone(), _one: one })
    }

    /// How much longer the turn of now may last; `None` where it has lasted too long.
    pub(super) fn patience(&self) -> Option<Duration> {
        let since = *self.since();
        let lasting = since.map(|since| self.0.clock.now().saturating_duration_since(since));
        ANSWER_MAX.checked_sub(lasting.unwrap_or_default()).filter(|left| !left.is_zero())
    }

    fn since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for DiskPass {
    fn drop(&mut self) {
        *self.turns.since() = None;
    }
}
