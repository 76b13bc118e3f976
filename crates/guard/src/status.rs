//! What the guard knows, for people.

use std::time::Duration;

use sequent_core::{DurabilityClass, Epoch, InstanceId, Key, SlotIndex, ledger::Counter};

use crate::{LedgerFault, counter::Guarded};

/// The guard at a glance.
#[derive(Debug, Clone)]
pub struct GuardStatus {
    /// The ledger's instance in force.
    pub ledger: InstanceId,
    /// The ledger's version acknowledged last.
    pub version: u64,
    /// For how long the ledger has been away; `None` while it is in reach.
    pub away: Option<Duration>,
    /// Why nothing may be opened or raised, if so.
    pub trouble: Option<LedgerFault>,
    /// How often a version could be left on no other shard.
    pub unmarked: u64,
    /// Dense counters that are behind what this process has given: key, how many were given, how many the ledger says.
    pub dense_behind: Vec<(Key, u64, u64)>,
    /// Each slot's store: its instance while it is admitted, and the durability class found last.
    pub stores: Vec<(SlotIndex, Option<InstanceId>, DurabilityClass)>,
    /// Counters with something to report, which the next heartbeat asks.
    pub unsaid: usize,
    /// How many counters heartbeats and raises have looked at so far: what has changed, and not what is alive.
    pub looks: u64,
    /// The live counters, at most a thousand.
    pub counters: Vec<CounterStatus>,
}

/// A counter at a glance.
#[derive(Debug, Clone)]
pub struct CounterStatus {
    /// The counter.
    pub counter: Counter,
    /// Its epoch and ceiling, while a grant is held.
    pub grant: Option<(Epoch, u64)>,
    /// The highest raw id seen.
    pub seen: u64,
    /// How many raw ids the ceiling should be ahead, as it is consumed now; 0 where nobody needs it.
    pub ahead: u64,
}

impl CounterStatus {
    pub(crate) fn of(guarded: &Guarded) -> Self {
        let state = guarded.state();
        let grant = state.grant.as_ref().map(|grant| (grant.row.epoch, grant.ceiling));
        let ahead = guarded.wanted_room(&state, guarded.shared.config.outage).full;
        Self { counter: guarded.counter.clone(), grant, seen: state.seen, ahead }
    }
}
