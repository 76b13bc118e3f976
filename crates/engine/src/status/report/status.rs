//! A running engine's report: its cluster, its slots, the keys in use, and recent events.

use sequent_core::SlotIndex;
use serde::Serialize;

use super::{ShardReport, as_text};

/// A running engine: its cluster, its slots, the keys in use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// When the report was begun (RFC 3339, UTC): nothing in it is older. A server's ring state is newer.
    pub as_of: String,
    /// The release of the bundled time zone data: servers with different releases may divide days differently.
    pub tzdb: &'static str,
    /// The cluster's name.
    pub cluster: String,
    /// n, the number of shard bits.
    pub shard_bits: u8,
    /// m, the number of memory bits.
    pub memory_bits: u8,
    /// The generation of the layout: one more with each resize.
    pub generation: u64,
    /// Why the ledger permits nothing, if it does not.
    pub trouble: Option<String>,
    /// The ledger's version, as last read.
    pub ledger_version: u64,
    /// How long the ledger has been unavailable, in milliseconds, if it is.
    pub ledger_away_ms: Option<u64>,
    /// How many seconds numbers last if the ledger becomes unavailable now: the least over all keys in demand; absent
    /// if no key is in demand.
    pub outage_left_s: Option<u64>,
    /// How often a version of the ledger could not be marked on any other shard.
    pub unmarked: u64,
    /// Callers that were given numbers which this cluster can't have issued. One entry a key, with the highest number,
    /// in the order of the keys' first report; at most 64.
    pub behind: Vec<BehindReport>,
    /// How many such reports concerned further keys.
    pub behind_more: u64,
    /// Dense counters of which the ledger has fewer numbers than this process has issued. They issue nothing before an
    /// operator has acted; at most 64.
    pub dense_behind: Vec<DenseBehindReport>,
    /// The slots, as the ring sees them.
    pub shards: Vec<ShardReport>,
    /// The keys in use.
    pub keys: Vec<KeyReport>,
    /// Recent events, newest first; at most fifty.
    pub events: Vec<EventReport>,
}

/// A key in use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeyReport {
    /// The key, as the ledger has it.
    pub key: String,
    /// The same in readable form: sequence, period and values, with spaces between them.
    pub shown: String,
    /// The placement: `spread` or `dense`.
    pub placement: &'static str,
    /// Numbers ready in memory; 0 for a dense key, which has none.
    #[serde(serialize_with = "as_text")]
    pub ready: u64,
    /// Numbers issued since the key was opened here.
    #[serde(serialize_with = "as_text")]
    pub given: u64,
    /// Recent rate, in numbers a second.
    pub rate: f64,
    /// Numbers left of the range, at most.
    #[serde(serialize_with = "as_text")]
    pub left: u64,
    /// The fraction of the range that is left.
    pub headroom: f64,
    /// How many seconds numbers last if the ledger becomes unavailable now, at the rate of the last two minutes. 0 for
    /// a dense key; absent without recent demand.
    pub outage_left_s: Option<u64>,
    /// When the range ends at the last minute's rate, in seconds from now; absent if that is not within a hundred
    /// years.
    pub ends_in_s: Option<u64>,
}

/// An event in readable form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EventReport {
    /// When it happened, in milliseconds since 1970.
    pub at_ms: u64,
    /// The event's stable name: `evicted`, `rescued`, `ledger_lost`. The page of events lists all.
    pub name: &'static str,
    /// `info`: no action needed; `warning`: the cluster handles it; `error`: an operator should look.
    pub severity: &'static str,
    /// The slot, if the event concerns one.
    pub slot: Option<SlotIndex>,
    /// The class of the cause, if there is one.
    pub kind: Option<&'static str>,
    /// The sentence, as in the log.
    pub text: String,
}

/// A caller that has a number which this cluster can't have issued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BehindReport {
    /// The key.
    pub key: String,
    /// The number that the caller was given.
    #[serde(serialize_with = "as_text")]
    pub above: u64,
    /// The highest number that this cluster can have issued.
    #[serde(serialize_with = "as_text")]
    pub permitted: u64,
    /// When the request came, in milliseconds since 1970.
    pub at_ms: u64,
}

/// A dense counter that is behind the numbers issued of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DenseBehindReport {
    /// The key.
    pub key: String,
    /// Numbers that this process knows to be issued.
    #[serde(serialize_with = "as_text")]
    pub given: u64,
    /// Numbers issued according to the ledger.
    pub found: u64,
}
