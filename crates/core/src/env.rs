//! Env: the clock, entropy and event sink that components share.

use std::sync::Arc;

use crate::{Clock, Entropy, Events, OsEntropy, SystemClock};

/// Clock, entropy and events of a cluster. Cheap to clone. The default uses the machine's clock and entropy, and drops events.
#[derive(Debug, Clone)]
pub struct Env {
    /// Source of time.
    pub clock: Arc<dyn Clock>,
    /// Source of tokens and jitter.
    pub entropy: Arc<dyn Entropy>,
    /// Sink of events.
    pub events: Events,
}

impl Default for Env {
    fn default() -> Self {
        Self { clock: Arc::new(SystemClock), entropy: Arc::new(OsEntropy), events: Events::default() }
    }
}
