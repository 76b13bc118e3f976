//! A running engine: its cluster, its slots, the keys in use, and what happened.

use sequent_core::SlotIndex;
use serde::Serialize;

use super::ShardReport;

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
    pub generation: u64,
    /// What keeps the ledger from permitting anything, if something does.
    pub trouble: Option<String>,
    /// The ledger's version, as last heard.
    pub ledger_version: u64,
    /// For how long the ledger has been away, if it is.
    pub ledger_away_ms: Option<u64>,
    /// For how long numbers go on if the ledger is away from now on, in seconds: the least over all keys in demand; absent
    /// without any.
    pub outage_left_s: Option<u64>,
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
    /// For how long it goes on if the ledger is away from now on, at the rate of the last two minutes, in seconds; 0 of a dense one;
    /// absent where nobody asked for it lately.
    pub outage_left_s: Option<u64>,
    /// When its range ends at the last minute's consumption, in seconds from now; absent: not within a hundred years.
    pub ends_in_s: Option<u64>,
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
