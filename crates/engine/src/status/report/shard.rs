//! A slot's report: its store, state, slot command and probe.

use sequent_core::{SlotIndex, ledger::SlotCommand};
use serde::{Deserialize, Serialize};

/// A slot with its store and state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ShardReport {
    /// The slot.
    pub slot: SlotIndex,
    /// The kind of store, `empty` without one.
    pub store: &'static str,
    /// The address of the store, without secrets.
    pub place: String,
    /// The state. A probe finds `open`, `new`, `unreachable`, `refused` or `empty`; `draining` or `drained` for a
    /// store that could serve, but must not. A running engine reports the ring's state: `live`, `evicted`,
    /// `probation`, `quarantined`, `draining` or `drained`.
    pub state: String,
    /// Why the slot does not serve.
    pub cause: Option<Cause>,
    /// How long it has been in this state, in milliseconds; only of a running engine.
    pub since_ms: Option<u64>,
    /// How long it has been out of the rotation, through all attempts that failed, in milliseconds; only of a running
    /// engine.
    pub out_ms: Option<u64>,
    /// When it will be tried again, in milliseconds from now; only of a running engine.
    pub retry_in_ms: Option<u64>,
    /// The slot command in force.
    pub word: Option<SlotCommandReport>,
    /// The result of a probe of the store; absent if it could not be opened.
    pub found: Option<Found>,
    /// Counters of this slot in quarantine: they are not used before an operator has cleared them.
    pub quarantined: Vec<QuarantineReport>,
    /// Counters of this slot that rest until others have come up to them, the furthest ahead first; at most
    /// [`RESTING_SHOWN_MAX`].
    pub resting: Vec<RestReport>,
}

/// Why a slot does not serve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// The class.
    pub kind: &'static str,
    /// What was found, as a text.
    pub detail: String,
}

/// The result of a probe of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The engine's name and version.
    pub version: String,
    /// The instance of the store: which run of which data responded.
    pub instance: String,
    /// The stamp, if any.
    pub stamp: Option<String>,
    /// `durable`, `lossy` or `volatile`.
    pub durability: &'static str,
    /// The settings that decided the class.
    pub settings: Vec<(String, String)>,
}

/// A slot command of an operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SlotCommandReport {
    /// `evict`, `rescue` or `drain`.
    pub verb: &'static str,
    /// The operator who gave the command.
    pub who: String,
    /// The reason that the operator gave.
    pub why: String,
    /// The time of the command, in milliseconds since 1970.
    pub at_ms: u64,
    /// The end of the command's validity, in milliseconds since 1970; absent: until the next command.
    pub until_ms: Option<u64>,
}

/// A counter in quarantine, as a process of this data directory found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuarantineReport {
    /// The slot.
    pub slot: SlotIndex,
    /// The key.
    pub key: String,
    /// When it was last found, in milliseconds since 1970.
    pub at_ms: u64,
    /// The class of what was found.
    pub kind: String,
    /// What was found, and what is expected.
    pub detail: String,
    /// What to do.
    pub advice: String,
}

/// Upper limit of the resting counters shown for one slot.
pub const RESTING_SHOWN_MAX: usize = 16;

/// A counter that rests in a live slot: its epoch began above what other slots have reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestReport {
    /// The key.
    pub key: String,
    /// How many raw ids the lowest of the others is below it. It is used again once they have come up to it.
    pub raw_ids: u64,
}

impl RestReport {
    /// Whether the others can hardly come up to it: its row was set so far ahead by hand, or by a disk error.
    pub fn is_leap(&self) -> bool {
        self.raw_ids > sequent_guard::JUMP_MAX
    }
}

impl From<&SlotCommand> for SlotCommandReport {
    fn from(word: &SlotCommand) -> Self {
        let SlotCommand { verb, who, why, at_ms, until_ms, .. } = word;
        Self { verb: verb.as_str(), who: who.clone(), why: why.clone(), at_ms: *at_ms, until_ms: *until_ms }
    }
}
