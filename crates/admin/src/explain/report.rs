//! Report of a number's origin.

use sequent_core::{SequenceName, SlotIndex};
use serde::{Serialize, Serializer};

/// The origin of a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// The sequence.
    #[serde(serialize_with = "as_text")]
    pub sequence: SequenceName,
    /// The number.
    pub number: u64,
    /// Its place in the ring or in the ledger.
    #[serde(flatten)]
    pub origin: Origin,
    /// The origin as one sentence.
    pub verdict: String,
}

/// The place of a number, by the placement of its sequence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Origin {
    /// On the ring.
    Spread(SpreadOrigin),
    /// In one counter of the ledger.
    Dense(DenseOrigin),
}

impl Origin {
    /// The place of a number on the ring.
    pub fn spread(&self) -> Option<&SpreadOrigin> {
        match self {
            Self::Spread(origin) => Some(origin),
            Self::Dense(_) => None,
        }
    }
}

/// The place of a number over the ring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpreadOrigin {
    /// The encoded number.
    pub encoded: u64,
    /// The slot that is encoded in it.
    pub slot: SlotIndex,
    /// The raw id that the slot's counter gave.
    pub raw: u64,
    /// The low bits, added in memory.
    pub low: u64,
    /// The epoch that gave it, as far as the ledger has witnessed. Absent if no epoch can have given it.
    pub epoch: Option<EpochReport>,
}

/// The place of a number of a dense sequence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DenseOrigin {
    /// Its position among the counter's numbers, from 1 on.
    pub ordinal: u64,
    /// How many of the counter's numbers are given. Absent if the ledger has no such counter.
    pub given: Option<u64>,
}

/// An epoch in a counter's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EpochReport {
    /// The epoch.
    pub epoch: String,
    /// Its raw ids are above this …
    pub base: u64,
    /// … and at most this, as far as the ledger has witnessed.
    pub ceiling: u64,
    /// Whether it is the one in force.
    pub in_force: bool,
    /// For the epoch in force: whether the id has been reported as taken.
    pub seen: Option<bool>,
}

fn as_text<S: Serializer>(name: &SequenceName, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(name.as_str())
}
