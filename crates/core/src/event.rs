//! What happens in the rooms that an operator should know: one enum, so that engine and client can name and count it.

use std::{fmt, sync::Arc, time::Duration};

use crate::{Condition, Durability, DurabilityClass, Epoch, ErrorKind, InstanceId, Key, SlotIndex};

/// Something that happened once; never something that happens per number.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A slot left the rotation.
    Evicted {
        /// The slot.
        slot: SlotIndex,
        /// The class of the cause.
        kind: ErrorKind,
        /// The cause, for people.
        detail: String,
        /// When it will first be tried again; `None` for an operator's word and for a quarantine.
        retry_after: Option<Duration>,
    },
    /// A slot came back after one real take.
    Rescued {
        /// The slot.
        slot: SlotIndex,
        /// How long it was out.
        out: Duration,
    },
    /// On an operator's word a slot was asked no more, and now all that it had been asked for has come.
    Drained {
        /// The slot.
        slot: SlotIndex,
        /// How long that took.
        after: Duration,
    },
    /// A rescue was tried and failed.
    ProbeFailed {
        /// The slot.
        slot: SlotIndex,
        /// The class of the cause.
        kind: ErrorKind,
        /// When it will be tried again.
        retry_after: Duration,
    },
    /// What may repeat numbers is out until its guard, or a person, has cleared it.
    Quarantined {
        /// The slot.
        slot: SlotIndex,
        /// One counter of it, or the whole slot.
        key: Option<Key>,
        /// The class of the cause.
        kind: ErrorKind,
        /// What was found, as far as somebody decides by it.
        condition: Option<Condition>,
        /// The cause, for people.
        detail: String,
    },
    /// A counter reached the end of its range; its slot is never asked for that key again.
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
        /// Where it begins: its first id is above this.
        base: u64,
        /// How many raw ids between the last that anybody is known to have got and the base nobody will get.
        skipped: u64,
    },
    /// A counter was moved forward within its epoch, to where the ring's others are: after a rescue, mostly.
    Lifted {
        /// The slot.
        slot: SlotIndex,
        /// The key.
        key: Key,
        /// Its next id is above this.
        to: u64,
        /// How many raw ids nobody will get.
        skipped: u64,
    },
    /// A counter gave what it must not: lost its cell or its epoch, or went backwards.
    Regressed {
        /// The slot.
        slot: SlotIndex,
        /// The key.
        key: Key,
        /// What was found, for people.
        detail: String,
    },
    /// A store speaks as another instance than before.
    StoreReborn {
        /// The slot.
        slot: SlotIndex,
        /// What it was, if it was known.
        was: Option<InstanceId>,
        /// What it is.
        is: InstanceId,
    },
    /// A known store came back without stamp and cells, and was stamped again.
    StampedAgain {
        /// The slot.
        slot: SlotIndex,
    },
    /// The settings of a store were changed while it is in use: what it acknowledges outlives a crash otherwise than before.
    DurabilityChanged {
        /// The slot.
        slot: SlotIndex,
        /// What the latest look before had found.
        was: DurabilityClass,
        /// What it is now, and the settings that decide it.
        is: Durability,
    },
    /// A new ledger got its layout from this process: the cluster begins here.
    Founded,
    /// The ledger can't be used.
    LedgerLost {
        /// Whether it answers, and refuses this server: for the layout that it counts by, its login, a schema.
        refused: bool,
        /// What was found, as far as somebody decides by it.
        condition: Option<Condition>,
        /// The cause, for people.
        detail: String,
    },
    /// The ledger answers again.
    LedgerBack {
        /// How long it was away.
        away: Duration,
    },
    /// The ledger speaks as another instance than before.
    LedgerReborn {
        /// What it was.
        was: InstanceId,
        /// What it is.
        is: InstanceId,
    },
    /// The ledger went back: nothing is opened before an operator names the loss.
    LedgerBehind {
        /// What tells, for people.
        detail: String,
    },
    /// A caller was given a number that this cluster can't have given: it went back without a trace, or is another.
    ClusterBehind {
        /// The key.
        key: Key,
        /// The number that the caller was given.
        above: u64,
        /// The highest that this cluster can have given.
        permitted: u64,
    },
    /// A dense counter is behind what this process has given of it: its row was set back, or the ledger went back. It gives
    /// nothing before a person has acted.
    DenseBehind {
        /// The key.
        key: Key,
        /// How many numbers of it this process knows to be given.
        given: u64,
        /// How many the ledger says.
        found: u64,
    },
    /// A key has reached the number from which on its definition asks for a warning.
    NearEnd {
        /// The key.
        key: Key,
        /// The number that was given.
        number: u64,
        /// The last one.
        last: u64,
    },
    /// This server gave raw ids above the point where the next epoch of their counter began, as a ledger that lost what it
    /// acknowledged would let it: they may have been given twice. The next epoch is opened above them.
    GivenAbove {
        /// The slot.
        slot: SlotIndex,
        /// The key.
        key: Key,
        /// The highest raw id that this server gave under the epoch that has ended.
        given: u64,
        /// Where the epoch in force began.
        begun_at: u64,
    },
    /// A process ended, and could not tell the ledger how far its counters are: should a shard be set back in place
    /// now, its numbers may come twice.
    Unreported {
        /// How many counters.
        counters: usize,
    },
    /// A ledger version could not be left in every place where it belongs: a ledger older than it may go unnoticed.
    Unmarked {
        /// The version.
        version: u64,
        /// Whether a shard beside those that it concerns bears it.
        elsewhere: bool,
        /// Whether the data directory bears it, or there is none.
        home: bool,
    },
    /// Blocks were given up: their numbers are burnt.
    Dropped {
        /// The slot, where one is to blame.
        slot: Option<SlotIndex>,
        /// How many numbers, in the unit of the room that dropped them.
        count: u64,
        /// Why.
        why: &'static str,
    },
    /// An operator's word was obeyed.
    Obeyed {
        /// The slot.
        slot: SlotIndex,
        /// `evict`, `rescue` or `drain`.
        verb: &'static str,
        /// Who said it.
        who: String,
        /// Why.
        why: String,
    },
}

/// Where events go. Cheap to clone; the default drops them.
#[derive(Clone)]
pub struct Events(Arc<dyn Fn(Event) + Send + Sync>);

impl Events {
    /// Events go to `sink`, which must neither block nor take long.
    pub fn to(sink: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }

    /// Reports what happened.
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
