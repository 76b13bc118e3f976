//! Status of the guard, for people.

use std::time::Duration;

use sequent_core::{DurabilityClass, Epoch, InstanceId, Key, SlotIndex, ledger::Counter};

use crate::{LedgerFault, counter::Guarded};

/// Status of the guard.
#[derive(Debug, Clone)]
pub struct GuardStatus {
    /// The ledger's instance in use.
    pub ledger: InstanceId,
    /// The last acknowledged version of the ledger.
    pub version: u64,
    /// How long the ledger has been away; `None` if it is available.
    pub away: Option<Duration>,
    /// Why nothing may be opened or raised; `None` if all is well.
    pub trouble: Option<LedgerFault>,
    /// How many versions could be marked on no other shard.
    pub unmarked: u64,
    /// Dense counters below what this process has given: the key, how many were given, how many the ledger says.
    pub dense_behind: Vec<(Key, u64, u64)>,
    /// Each slot's store: its instance while it is admitted, and the last known durability class.
    pub stores: Vec<(SlotIndex, Option<InstanceId>, DurabilityClass)>,
    /// Counters with changes for the next heartbeat.
    pub unsaid: usize,
    /// How many counters heartbeats and raises have visited so far. They visit counters with changes, not all live ones.
    pub looks: u64,
    /// The live counters, at most a thousand.
    pub counters: Vec<CounterStatus>,
}

/// Status of a counter.
#[derive(Debug, Clone)]
pub struct CounterStatus {
    /// The counter.
    pub counter: Counter,
    /// Its epoch and ceiling, while there is a grant.
    pub grant: Option<(Epoch, u64)>,
    /// The highest raw id seen.
    pub seen: u64,
    /// How many raw ids the ceiling should be ahead at the present rate; 0 if it need not be.
    pub ahead: u64,
}

impl CounterStatus {
    pub(crate) fn of(guarded: &Guarded) -> Self {
        let state = guarded.state();
        let grant = state.grant().map(|grant| (grant.row.epoch, grant.ceiling));
        let ahead = guarded.wanted_room(&state, guarded.shared.config.outage).full;
        Self { counter: guarded.counter.clone(), grant, seen: state.seen, ahead }
    }
}
