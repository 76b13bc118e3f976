//! A slot: what is in it, how it is, and what was said and found of it.

use sequent_core::{SlotIndex, ledger::SlotCommand};
use serde::{Deserialize, Serialize};

/// A slot: what is in it, and how it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShardReport {
    /// The slot.
    pub slot: SlotIndex,
    /// The kind of store, `empty` where there is none.
    pub store: &'static str,
    /// Where the store is; never a secret.
    pub place: String,
    /// What a fresh look finds: `open`, `new`, `unreachable`, `refused` or `empty`; of a store that could serve, and must
    /// not, `draining` and `drained`; or, of a running engine, where the ring has it: `live`, `evicted`, `probation`,
    /// `quarantined`, `draining` or `drained`.
    pub state: String,
    /// Why it does not serve.
    pub cause: Option<Cause>,
    /// How long it has been in this state, where a running engine knows.
    pub since_ms: Option<u64>,
    /// How long it has been out of the rotation, through all tries that failed, where a running engine knows.
    pub out_ms: Option<u64>,
    /// When it will be tried again, where a running engine knows.
    pub retry_in_ms: Option<u64>,
    /// The operator's word in force.
    pub word: Option<SlotCommandReport>,
    /// What a fresh look at the store found; absent where it could not be opened.
    pub found: Option<Found>,
    /// Counters of this slot from which nothing is taken before an operator has cleared them.
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
    /// What was found, for people.
    pub detail: String,
}

/// What a fresh look at a store found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The engine's name and version.
    pub version: String,
    /// Which run of which data is speaking.
    pub instance: String,
    /// The stamp, if any.
    pub stamp: Option<String>,
    /// `durable`, `lossy` or `volatile`.
    pub durability: &'static str,
    /// The settings that decided the class.
    pub settings: Vec<(String, String)>,
}

/// An operator's word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SlotCommandReport {
    /// `evict`, `rescue` or `drain`.
    pub verb: &'static str,
    /// Who said it.
    pub who: String,
    /// Why.
    pub why: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// Until when it counts; absent: until another word.
    pub until_ms: Option<u64>,
}

/// A counter in quarantine, as a process of this data directory found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuarantineReport {
    /// The slot.
    pub slot: SlotIndex,
    /// The key.
    pub key: String,
    /// When it was found last, in milliseconds since 1970.
    pub at_ms: u64,
    /// The class of what was found.
    pub kind: String,
    /// What was found, and what is expected.
    pub detail: String,
    /// What to do.
    pub advice: String,
}

/// The most resting counters of one slot that are shown.
pub const RESTING_SHOWN_MAX: usize = 16;

/// A counter of a slot that is live and gives nothing: its epoch began above what other slots have reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestReport {
    /// The key.
    pub key: String,
    /// How many raw ids the lowest of the others is below it: it is asked again once they have come up to it.
    pub raw_ids: u64,
}

impl RestReport {
    /// Whether the others can hardly come up to it: a hand, or a broken disk, has set its row so far ahead.
    pub fn is_leap(&self) -> bool {
        self.raw_ids > sequent_guard::LEAP_MAX
    }
}

impl From<&SlotCommand> for SlotCommandReport {
    fn from(word: &SlotCommand) -> Self {
        let SlotCommand { verb, who, why, at_ms, until_ms, .. } = word;
        Self { verb: verb.as_str(), who: who.clone(), why: why.clone(), at_ms: *at_ms, until_ms: *until_ms }
    }
}
