//! Options of opening a cluster, beyond its configuration.

use std::{fmt, sync::Arc};

use sequent_core::Env;

/// Whether opening may create a cluster that was never configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CreatePolicy {
    /// A new embedded cluster may be created in an empty or absent data directory; it is announced.
    #[default]
    Embedded,
    /// No cluster is created without a configuration file (`SEQUENT_EMBEDDED=never`).
    Never,
}

/// How long this process means to take numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// The process takes once and ends: nothing is kept ready, so that nothing is wasted.
    Once,
    /// The process keeps running: numbers are kept ready ahead of demand.
    #[default]
    Standing,
}

/// How to open a cluster.
#[derive(Clone)]
pub struct Options {
    /// Whether a new embedded cluster may be created.
    pub create: CreatePolicy,
    /// How long this process means to take numbers.
    pub pace: Pace,
    /// Clock, entropy, and where events go besides log, metrics and [`Engine::recent`](crate::engine::Engine::recent).
    pub env: Env,
    /// Receives messages for the operator, such as `new embedded cluster in ./sequent-data: its numbers start at 1`.
    pub say: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            create: CreatePolicy::default(),
            pace: Pace::default(),
            env: Env::default(),
            say: Arc::new(|_| ()),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("create", &self.create)
            .field("pace", &self.pace)
            .finish_non_exhaustive()
    }
}
