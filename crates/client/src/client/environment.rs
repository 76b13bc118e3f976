//! Environment of a client: clocks, randomness, and the runtime of its background tasks. Tests replace it.

use std::sync::Arc;

use sequent_core::{Clock, Entropy, OsEntropy, SystemClock};
use tokio::runtime::Handle;

use crate::client::boot_clock::BootClock;

/// Runtime of background tasks.
#[derive(Debug, Clone)]
pub(crate) struct Runtime(Option<Handle>);

impl Runtime {
    /// The current runtime. If there is none, each task uses the runtime of whoever spawns it.
    pub(crate) fn here() -> Self {
        Self(Handle::try_current().ok())
    }

    /// Without any runtime the work is dropped, and its waiters get an error.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(handle) = self.0.clone().or_else(|| Handle::try_current().ok()) {
            handle.spawn(work);
        }
    }
}

/// Clocks and randomness. There are two clocks: timers stop while the machine is suspended, and leases age on.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    pub(crate) timers: Arc<dyn Clock>,
    pub(crate) ages: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
}

impl Default for Environment {
    fn default() -> Self {
        Self { timers: Arc::new(SystemClock), ages: Arc::new(BootClock::new()), entropy: Arc::new(OsEntropy) }
    }
}
