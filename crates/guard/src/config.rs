//! What a guard is told, and what its guard is opened with.

use std::{sync::Arc, time::Duration};

use sequent_core::{
    Env, MarkPlace, Rules, SlotIndex, Store,
    ledger::{LayoutRecord, Ledger},
};

/// Settings of the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardConfig {
    /// For how long numbers go on while the ledger is away, at the rate of the last two minutes. Ceilings are ahead
    /// by twice as much; what it costs: a store or ledger that fails over skips up to
    /// twice as much. Default 600 s.
    pub outage: Duration,
    /// The time limit of one ledger call. Default 1 s.
    pub attempt_timeout: Duration,
    /// How often a server sends the ledger a heartbeat. Default 2 s.
    pub heartbeat_every: Duration,
    /// Whether a ledger that may lose what it acknowledged counts dense numbers: each is marked then. Default: no.
    pub lossy_dense: bool,
    /// Whether a volatile ledger is trusted where every shard is volatile, too. Default: yes, and it is for whoever opens the
    /// guard to say no: nothing would tell which numbers were given once all of them forget.
    pub volatile_alone: bool,
}

impl Default for GuardConfig {
    fn default() -> Self {
        Self {
            outage: Duration::from_secs(600),
            attempt_timeout: Duration::from_secs(1),
            heartbeat_every: Duration::from_secs(2),
            lossy_dense: false,
            volatile_alone: true,
        }
    }
}

impl GuardConfig {
    /// How long it may take until a raise that is due has been acknowledged: a heartbeat, and the call.
    pub(crate) fn raise_within(&self) -> Duration {
        self.heartbeat_every + self.attempt_timeout
    }
}

/// Everything a [`Guard`](crate::Guard) is opened with.
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
