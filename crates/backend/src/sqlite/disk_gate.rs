//! Disk gate: one access at a time to a disk that may hang, with a bounded wait.
//!
//! A call to a hanging disk (a hard network mount, a dead device) never returns and occupies its thread. A caller that
//! gives up leaves the thread behind. If each call started another thread, the healthy disks would soon have none. So a
//! file has one pass: it belongs to the thread, and later callers wait without a thread.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use sequent_core::Clock;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// Time without an answer after which a disk counts as hanging. A check of a file takes microseconds. The limit is
/// below the 1 s of an attempt, so that the cause is reported.
pub(super) const ANSWER_MAX: Duration = Duration::from_millis(900);

/// The gate of a file.
#[derive(Debug, Clone)]
pub(super) struct DiskGate(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    one: Arc<Semaphore>,
    /// Since when the pass has been taken.
    since: Mutex<Option<Instant>>,
    clock: Arc<dyn Clock>,
}

/// The pass, until it is dropped. The thread that accesses the disk holds it, never the task that waits for the thread.
#[derive(Debug)]
pub(super) struct DiskPass {
    turns: DiskGate,
    _one: OwnedSemaphorePermit,
}

impl DiskGate {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Shared { one: Arc::new(Semaphore::new(1)), since: Mutex::default(), clock }))
    }

    /// Takes the pass once it is free; `None` if its holder has had no answer for [`ANSWER_MAX`].
    pub(super) async fn next(&self) -> Option<DiskPass> {
        let one = Arc::clone(&self.0.one);
        let one = match Arc::clone(&one).try_acquire_owned() {
            Ok(one) => one,
            Err(_) => timeout(self.patience()?, one.acquire_owned()).await.ok()?.ok()?,
        };
        *self.since() = Some(self.0.clock.now());
        Some(DiskPass { turns: self.clone(), _one: one })
    }

    /// The time left to the current holder; `None` if it has held the pass for too long.
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
