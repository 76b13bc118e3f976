//! Environment of a client: clocks, randomness, and the runtime of its background tasks. Tests replace it.

use std::sync::Arc;

use sequent_core::{Clock, Entropy, OsEntropy, SystemClock};
use tokio::runtime::Handle;

use crate::client::boot_clock::BootClock;

/// Where background work runs.
#[derive(Debug, Clone)]
pub(crate) struct Runtime(Option<Handle>);

impl Runtime {
    /// The one that this is called in; without one, that of whoever needs something done.
    pub(crate) fn here() -> Self {
        Self(Handle::try_current().ok())
    }

    /// Without any runtime the work is dropped, which its waiters hear of.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(handle) = self.0.clone().or_else(|| Handle::try_current().ok()) {
            handle.spawn(work);
        }
    }
}

/// Where time and chance come from: two clocks, for timers stand still while a machine sleeps, and leases age.
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
