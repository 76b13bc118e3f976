//! Events for the operator: one enum, so that engine and client can name and count them.

use std::{fmt, sync::Arc, time::Duration};

use crate::{Condition, Durability, DurabilityClass, Epoch, ErrorKind, InstanceId, Key, SlotIndex};

/// Event that happens once; nothing here happens per number.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A slot left the rotation.
    Evicted {
        /// The slot.
        slot: SlotIndex,
        /// The class of the cause.
        kind: ErrorKind,
        /// The cause, as text for people.
        detail: String,
        /// The delay before the first retry; `None` after a slot command and for a quarantine.
        retry_after: Option<Duration>,
    },
    /// A slot returned to the rotation after one successful take.
    Rescued {
        /// The slot.
        slot: SlotIndex,
        /// How long it was out.
        out: Duration,
    },
    /// A slot drained by an operator has returned the last of its pending requests.
    Drained {
        /// The slot.
        slot: SlotIndex,
        /// How long the drain took.
        after: Duration,
    },
    /// A rescue probe failed.
    ProbeFailed {
        /// The slot.
        slot: SlotIndex,
        /// The class of the cause.
        kind: ErrorKind,
        /// The delay before the next probe.
        retry_after: Duration,
    },
    /// A counter or slot that may repeat numbers is out until its guard or an operator clears it.
    Quarantined {
        /// The slot.
        slot: SlotIndex,
        /// The counter's key; `None` for the whole slot.
        key: Option<Key>,
        /// The class of the cause.
        kind: ErrorKind,
        /// What was found, in a form that code can decide by.
        condition: Option<Condition>,
        /// The cause, as text for people.
        detail: String,
    },
    /// A counter reached the end of its range. Its slot is never asked for that key again.
    Retired {
        /// The slot.
        slot: SlotIndex,
        /// The key.
        key: Key,
    },
    /// A counter began a new epoch.
    EpochOpened {
        /// The slot.
        slot: SlotIndex,
        /// The key.
        key: Key,
        /// The new epoch.
        epoch: Epoch,
        /// The epoch's base: its first id is above this.
        base: u64,
        /// How many raw ids between the last one known to be given and the base will never be given.
        skipped: u64,
    },
    /// A counter was raised within its epoch to the level of the ring's other slots, usually after a rescue.
    Lifted {
        /// The slot.
        slot: SlotIndex,
        /// The key.
        key: Key,
        /// Its next id is above this.
        to: u64,
        /// How many raw ids will never be given.
        skipped: u64,
    },
    /// A counter failed its checks: it lost its cell or its epoch, or went backwards.
    Regressed {
        /// The slot.
        slot: SlotIndex,
        /// The key.
        key: Key,
        /// What was found, as text for people.
        detail: String,
    },
    /// A store has another instance id than before.
    StoreInstanceChanged {
        /// The slot.
        slot: SlotIndex,
        /// The instance before, if known.
        was: Option<InstanceId>,
        /// The instance now.
        is: InstanceId,
    },
    /// A known store came back without stamp and cells, and was stamped again.
    StampedAgain {
        /// The slot.
        slot: SlotIndex,
    },
    /// A store's settings changed during use, and with them how much survives a crash.
    DurabilityChanged {
        /// The slot.
        slot: SlotIndex,
        /// The class at the previous look.
        was: DurabilityClass,
        /// The class now, and the settings that decide it.
        is: Durability,
    },
    /// This process wrote the layout of a new ledger: the cluster starts here.
    ClusterCreated,
    /// The ledger cannot be used.
    LedgerLost {
        /// Whether the ledger answers but refuses this server, because of the layout, the login or the schema.
        refused: bool,
        /// What was found, in a form that code can decide by.
        condition: Option<Condition>,
        /// The cause, as text for people.
        detail: String,
    },
    /// The ledger answers again.
    LedgerBack {
        /// How long it was away.
        away: Duration,
    },
    /// The ledger has another instance id than before.
    LedgerInstanceChanged {
        /// The instance before.
        was: InstanceId,
        /// The instance now.
        is: InstanceId,
    },
    /// The ledger went back. No epoch is opened before an operator names the loss.
    LedgerBehind {
        /// The evidence, as text for people.
        detail: String,
    },
    /// A caller reports a number that this cluster cannot have given. The cluster lost data unnoticed, or it is another
    /// cluster.
    ClusterBehind {
        /// The key.
        key: Key,
        /// The number that the caller reports.
        above: u64,
        /// The highest number that this cluster can have given.
        permitted: u64,
    },
    /// A dense counter is below what this process has given of it: its row was set back, or the ledger went back. It gives
    /// nothing until an operator has acted.
    DenseBehind {
        /// The key.
        key: Key,
        /// How many numbers of it this process knows to be given.
        given: u64,
        /// How many numbers the ledger says were given.
        found: u64,
    },
    /// A key reached the number at which its definition asks for a warning.
    NearEnd {
        /// The key.
        key: Key,
        /// The number given.
        number: u64,
        /// The last number of the key.
        last: u64,
    },
    /// A request was refused, since the key would be used up too soon.
    BurnLimited {
        /// The key.
        key: Key,
        /// How many numbers are left of it.
        left: u64,
        /// The limit, as text for people.
        limit: String,
    },
    /// This server gave raw ids above the base of the counter's next epoch; they may have been given twice. A ledger that lost
    /// acknowledged writes permits this. The next epoch is opened above them.
    GivenAbove {
        /// The slot.
        slot: SlotIndex,
        /// The key.
        key: Key,
        /// The highest raw id that this server gave under the ended epoch.
        given: u64,
        /// The base of the current epoch.
        begun_at: u64,
    },
    /// A process ended without reporting its counters to the ledger. If a shard is set back in place now, its numbers may
    /// repeat.
    Unreported {
        /// How many counters were not reported.
        counters: usize,
    },
    /// A ledger version could not be marked in every required place. A ledger restored from before this version may go
    /// unnoticed.
    Unmarked {
        /// The version.
        version: u64,
        /// Whether a shard other than those concerned holds the mark.
        elsewhere: bool,
        /// Whether the data directory holds the mark, or there is no data directory.
        home: bool,
    },
    /// Counters were removed from ledger and stores: their periods are over, and the sequence keeps none so old.
    Forgotten {
        /// The sequence.
        sequence: String,
        /// How many counters.
        counters: usize,
        /// The last of these periods.
        period: String,
    },
    /// Blocks were dropped; their numbers are burnt.
    Dropped {
        /// The slot at fault, if any.
        slot: Option<SlotIndex>,
        /// How many numbers, in the unit of the component that dropped them.
        count: u64,
        /// Why.
        why: &'static str,
    },
    /// A slot command was carried out.
    SlotCommandDone {
        /// The slot.
        slot: SlotIndex,
        /// `evict`, `rescue` or `drain`.
        verb: &'static str,
        /// Who gave the command.
        who: String,
        /// The reason given.
        why: String,
    },
}

/// Sink of events. Cheap to clone; the default drops them.
#[derive(Clone)]
pub struct Events(Arc<dyn Fn(Event) + Send + Sync>);

impl Events {
    /// Sends events to `sink`, which must neither block nor take long.
    pub fn to(sink: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }

    /// Reports an event.
    pub fn emit(&self, event: Event) {
        (self.0)(event);
    }
}

impl Default for Events {
    fn default() -> Self {
        Self::to(drop)
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Events")
    }
}
