//! What every room that waits, draws or reports is given: one clock, one source of random bits, one place for events.

use std::sync::Arc;

use crate::{Clock, Entropy, Events, OsEntropy, SystemClock};

/// Clock, entropy and events of a cluster. Cheap to clone; the default is the machine's, with events dropped.
#[derive(Debug, Clone)]
pub struct Env {
    /// Where time is read.
    pub clock: Arc<dyn Clock>,
    /// Where tokens and jitter come from.
    pub entropy: Arc<dyn Entropy>,
    /// Where events go.
    pub events: Events,
}

impl Default for Env {
    fn default() -> Self {
        Self { clock: Arc::new(SystemClock), entropy: Arc::new(OsEntropy), events: Events::default() }
    }
}
