//! Configuration of the guard, and the parts that it is opened with.

use std::{sync::Arc, time::Duration};

use sequent_core::{
    Env, MarkPlace, Rules, SlotIndex, Store,
    ledger::{LayoutRecord, Ledger},
};

/// Settings of the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardConfig {
    /// How long numbers continue while the ledger is away, at the rate of the last two minutes. Default 600 s.
    ///
    /// Ceilings are ahead by twice as much. The cost: a store or ledger that fails over skips up to twice as much.
    pub outage: Duration,
    /// The time limit of one ledger call. Default 1 s.
    pub attempt_timeout: Duration,
    /// How often a server sends the ledger a heartbeat. Default 2 s.
    pub heartbeat_every: Duration,
    /// Whether a ledger that may lose acknowledged writes may count dense numbers. Default: no.
    pub lossy_dense: bool,
    /// Whether a volatile ledger is trusted if every shard is volatile too. Default: yes.
    ///
    /// A caller that opens the guard should set it to false if needed: once all of them forget, nothing knows which numbers
    /// were given.
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
    /// The longest time until a raise that is due is acknowledged: a heartbeat interval, and the call.
    pub(crate) fn raise_within(&self) -> Duration {
        self.heartbeat_every + self.attempt_timeout
    }
}

/// The parts that a [`Guard`](crate::Guard) is opened with.
pub struct Opening {
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// The store of each slot that has one, ascending by slot. The caller has limited the time of their calls.
    pub shards: Vec<(SlotIndex, Arc<dyn Store>)>,
    /// The layout: written if the ledger has none, otherwise compared with the ledger's.
    pub first: LayoutRecord,
    /// A place for marks in addition to the shards: the server's data directory.
    pub home: Option<Arc<dyn MarkPlace>>,
    /// Whether ledger and shards are in one directory. If all of them change at once, the directory was copied.
    pub embedded: bool,
    /// Settings.
    pub config: GuardConfig,
    /// Clock, entropy and events.
    pub env: Env,
    /// The rules in force: all of them, except in mutation tests.
    pub rules: Rules,
}
