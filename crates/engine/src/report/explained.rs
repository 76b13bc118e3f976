//! A number: where it came from.

use sequent_core::{SequenceName, SlotIndex};
use serde::{Serialize, Serializer};

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

fn as_text<S: Serializer>(name: &SequenceName, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(name.as_str())
}
