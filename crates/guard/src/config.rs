//! What a guard is told, and what its keeper is opened with.

use std::{sync::Arc, time::Duration};

use sequent_core::{
    Env, MarkPlace, Rules, SlotIndex, Store,
    ledger::{LayoutRecord, Ledger},
};

/// What durable shards do while the ledger is away. Volatile ones always stay within their ceilings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LossPolicy {
    /// Go on under the permits held; what leaves above a ceiling is counted as unwitnessed.
    #[default]
    Continue,
    /// Stay within the ceilings.
    Stop,
}

/// Settings of the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardConfig {
    /// The consumption that a ceiling is raised ahead. Default 600 s.
    pub ahead: Duration,
    /// What durable shards do while the ledger is away. Default: continue.
    pub loss: LossPolicy,
    /// The time limit of one ledger call. Default 1 s.
    pub attempt_timeout: Duration,
    /// How often a server shows up at the ledger. Default 2 s.
    pub show_up_every: Duration,
    /// Whether a ledger that may lose what it acknowledged counts dense numbers: each is marked then. Default: no.
    pub lossy_dense: bool,
    /// Whether a volatile ledger is trusted where every shard is volatile, too. Default: yes, and it is for whoever opens the
    /// guard to say no: nothing would tell which numbers were given once all of them forget.
    pub volatile_alone: bool,
}

impl Default for GuardConfig {
    fn default() -> Self {
        Self {
            ahead: Duration::from_secs(600),
            loss: LossPolicy::Continue,
            attempt_timeout: Duration::from_secs(1),
            show_up_every: Duration::from_secs(2),
            lossy_dense: false,
            volatile_alone: true,
        }
    }
}

/// Everything a [`Keeper`](crate::Keeper) is opened with.
pub struct Opening {
    /// The durable book of record.
    pub ledger: Arc<dyn Ledger>,
    /// The store of each slot that has one, ascending by slot; time-limited by whoever hands them in.
    pub shards: Vec<(SlotIndex, Arc<dyn Store>)>,
    /// The layout: written if the ledger has none, compared if it has.
    pub first: LayoutRecord,
    /// A place for marks beside the shards: the server's data directory.
    pub home: Option<Arc<dyn MarkPlace>>,
    /// Whether ledger and shards lie in one directory, so that all of them changing at once means a copied directory.
    pub embedded: bool,
    /// Settings.
    pub config: GuardConfig,
    /// Clock, entropy and events.
    pub env: Env,
    /// The rules in force: all of them, except in mutation tests.
    pub rules: Rules,
}
