//! What an operator is shown: plain data, the same for text and JSON.

use sequent_core::{SequenceName, SlotIndex};
use serde::{Deserialize, Serialize};

/// A sequence in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SequenceSummary {
    /// The name.
    pub sequence: String,
    /// The version in force.
    pub version: u32,
    /// Where it counts.
    pub placement: &'static str,
    /// The first number.
    pub start: u64,
    /// The distance between neighbours.
    pub step: u64,
    /// The highest number allowed.
    pub end: u64,
    /// The template of its texts, if it has one.
    pub template: Option<String>,
    /// Why it can't be used, if so.
    pub fault: Option<String>,
    /// Versions that take effect later, the next one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitingReport>,
}

/// A version that is not in effect yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitingReport {
    /// The version.
    pub version: u32,
    /// From when on it is in effect, RFC 3339.
    pub effective: String,
    /// The template of its texts, if it has one.
    pub template: Option<String>,
}

/// A sequence with its counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SequenceReport {
    /// The definition in force.
    #[serde(flatten)]
    pub summary: SequenceSummary,
    /// The definition as the ledger keeps it.
    pub definition: String,
    /// Its counters, as the ledger has them: at most [`COUNTERS_SHOWN_MAX`].
    pub counters: Vec<CounterReport>,
    /// Its dense counters, as the ledger has them: at most [`COUNTERS_SHOWN_MAX`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dense: Vec<DenseReport>,
    /// Those of them from which nothing is taken before an operator has cleared them.
    pub quarantined: Vec<QuarantineReport>,
}

/// A dense counter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DenseReport {
    /// The key.
    pub key: String,
    /// How many numbers it has given.
    pub given: u64,
    /// The last of them, 0 for none.
    pub number: u64,
    /// When it gave its first, in milliseconds since 1970.
    pub begun_at_ms: u64,
}

/// The most counters that one report shows.
pub const COUNTERS_SHOWN_MAX: usize = 4096;

/// A counter: one key in one slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CounterReport {
    /// The key.
    pub key: String,
    /// The slot.
    pub slot: SlotIndex,
    /// The life in force.
    pub life: String,
    /// The life's raw ids are above this.
    pub base: u64,
    /// No raw id above this may leave a server before the ledger has a higher ceiling.
    pub ceiling: u64,
    /// The highest raw id reported as taken.
    pub seen: u64,
    /// The highest number that the ceiling permits, as far as the layout goes.
    pub number_max: Option<u64>,
    /// When the life was opened, in milliseconds since 1970.
    pub opened_at_ms: u64,
}

/// Why a slot does not serve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// The class.
    pub kind: &'static str,
    /// What was found, for people.
    pub detail: String,
}

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
    pub word: Option<WordReport>,
    /// What a fresh look at the store found; absent where it could not be opened.
    pub found: Option<Found>,
    /// Counters of this slot from which nothing is taken before an operator has cleared them.
    pub quarantined: Vec<QuarantineReport>,
    /// Counters of this slot that rest until others have come up to them, the furthest ahead first; at most
    /// [`RESTING_SHOWN_MAX`].
    pub resting: Vec<RestReport>,
}

/// The most resting counters of one slot that are shown.
pub const RESTING_SHOWN_MAX: usize = 16;

/// A counter of a slot that is live and gives nothing: its life began above what other slots have reached.
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

/// What a fresh look at a store found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The engine's name and version.
    pub version: String,
    /// Which run of which data is speaking.
    pub incarnation: String,
    /// The stamp, if any.
    pub stamp: Option<String>,
    /// `durable`, `lossy` or `volatile`.
    pub durability: &'static str,
    /// The settings that decided the class.
    pub settings: Vec<(String, String)>,
}

/// An operator's word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WordReport {
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

/// Where a number came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// The sequence.
    #[serde(serialize_with = "as_text")]
    pub sequence: SequenceName,
    /// The number.
    pub number: u64,
    /// The encoded number.
    pub encoded: u64,
    /// The slot that it names.
    pub slot: SlotIndex,
    /// The raw id that the slot's counter gave.
    pub raw: u64,
    /// The low bits, added in memory.
    pub low: u64,
    /// The life that gave it, as far as the ledger has witnessed; absent: no life can have given it.
    pub life: Option<LifeReport>,
    /// The whole as one sentence.
    pub verdict: String,
}

/// A stretch of a counter's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LifeReport {
    /// The life.
    pub life: String,
    /// Its raw ids are above this …
    pub base: u64,
    /// … and at most this, as far as the ledger has witnessed.
    pub ceiling: u64,
    /// Whether it is the one in force.
    pub in_force: bool,
    /// For the one in force: whether the id has been reported as taken.
    pub seen: Option<bool>,
}

/// A running engine: its cluster, its slots, the keys in use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// When the look was begun (RFC 3339, UTC): nothing here is older. What a server shows of its ring is newer.
    pub as_of: String,
    /// The release of the bundled time zone data: servers that differ in it may part days differently.
    pub tzdb: &'static str,
    /// The cluster's name.
    pub cluster: String,
    /// n.
    pub shard_bits: u8,
    /// m.
    pub memory_bits: u8,
    /// One more with each resize.
    pub epoch: u64,
    /// What keeps the ledger from permitting anything, if something does.
    pub trouble: Option<String>,
    /// The ledger's version, as last heard.
    pub ledger_version: u64,
    /// For how long the ledger has been away, if it is.
    pub ledger_away_ms: Option<u64>,
    /// How often a version of the ledger could be marked on no other shard.
    pub unmarked: u64,
    /// Callers that were given what this cluster can't have given: one a key, with the highest number, in the order in
    /// which the keys were first accused of; at most 64.
    pub behind: Vec<BehindReport>,
    /// How many accusations were of further keys.
    pub behind_more: u64,
    /// Dense counters of which the ledger knows of less than this process has given: they give nothing before a person has
    /// acted; at most 64.
    pub dense_behind: Vec<DenseBehindReport>,
    /// The slots, as the ring sees them.
    pub shards: Vec<ShardReport>,
    /// The keys in use.
    pub keys: Vec<KeyReport>,
    /// What happened lately, newest first; at most fifty.
    pub events: Vec<EventReport>,
}

/// Something that happened, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EventReport {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// What, in a word or two: `evicted`, `rescued`, `ledger lost`.
    pub kind: &'static str,
    /// `info`: all is well; `warning`: the cluster deals with it; `error`: a person should look.
    pub severity: &'static str,
    /// The slot, where one is concerned.
    pub slot: Option<SlotIndex>,
    /// The class of the cause, where there is one.
    pub cause: Option<&'static str>,
    /// What was found.
    pub text: String,
}

/// A caller that holds a number which this cluster can't have given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BehindReport {
    /// The key.
    pub key: String,
    /// The number that the caller was given.
    pub above: u64,
    /// The highest that this cluster can have given.
    pub permitted: u64,
    /// When it asked, in milliseconds since 1970.
    pub at_ms: u64,
}

/// A dense counter that is behind what was given of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DenseBehindReport {
    /// The key.
    pub key: String,
    /// How many numbers of it this process knows to be given.
    pub given: u64,
    /// How many the ledger says.
    pub found: u64,
}

/// A key in use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeyReport {
    /// The key, as the ledger has it.
    pub key: String,
    /// The same for people: sequence, period and values, with spaces between them.
    pub shown: String,
    /// Where it counts: `spread` or `dense`.
    pub placement: &'static str,
    /// Numbers ready in memory; 0 of a dense one, which has none.
    pub ready: u64,
    /// Numbers handed out since the key was opened here.
    pub given: u64,
    /// Numbers a second, lately.
    pub rate: f64,
    /// Numbers left of its range, at most.
    pub left: u64,
    /// What part of its range that is.
    pub headroom: f64,
    /// When its range ends at the last minute's consumption, in seconds from now; absent: not within a hundred years.
    pub ends_in_s: Option<u64>,
}

fn as_text<S: serde::Serializer>(name: &SequenceName, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(name.as_str())
}
