//! Stamp of a store: the ledger, cluster, layout and slot that it belongs to.

use std::{fmt, str::FromStr};

use crate::{Entropy, Layout, SequenceName, SlotIndex};

/// The random identity that a ledger creates once. No other ledger may use its shards.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LedgerId(u128);

impl LedgerId {
    /// A new identity, different from that of every other ledger.
    pub fn random(entropy: &dyn Entropy) -> Self {
        Self(u128::from(entropy.bits()) << 64 | u128::from(entropy.bits()))
    }
}

impl fmt::Display for LedgerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for LedgerId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u128::from_str_radix(text, 16).map(Self)
    }
}

/// Stamp of a store: written at first use and checked at every open. A mismatch is `Refused`.
///
/// Stores keep this text:
///
/// ```
/// use sequent_core::Stamp;
/// let text = "sequent/1 ledger=000000000000000000000000000000ab cluster=shop n=2 m=0 slot=1 generation=1";
/// assert_eq!(text.parse::<Stamp>()?.to_string(), text);
/// # Ok::<(), sequent_core::StampError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// The ledger that keeps this shard's ceilings.
    pub ledger: LedgerId,
    /// The cluster's name.
    pub cluster: SequenceName,
    /// The shard bits n and the memory bits m.
    pub layout: Layout,
    /// The slot in the ring.
    pub slot: SlotIndex,
    /// The layout's generation: one more with each resize.
    pub generation: u64,
}

/// Stamp text that this version cannot parse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("stamp {found:?} can't be read: expected `sequent/1 ledger=… cluster=… n=… m=… slot=… generation=…`")]
pub struct StampError {
    /// The text found.
    pub found: String,
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ledger, cluster, layout, slot, generation } = self;
        let (n, m) = (layout.shard_bits(), layout.memory_bits());
        write!(
            f,
            "sequent/1 ledger={ledger} cluster={cluster} n={n} m={m} slot={slot} generation={generation}"
        )
    }
}

impl FromStr for Stamp {
    type Err = StampError;

    fn from_str(text: &str) -> Result<Self, StampError> {
        parse(text).ok_or_else(|| StampError { found: text.to_owned() })
    }
}

fn parse(text: &str) -> Option<Stamp> {
    let mut words = text.split(' ');
    if words.next()? != "sequent/1" {
        return None;
    }
    let mut field = |name: &str| words.next()?.strip_prefix(name)?.strip_prefix('=').map(str::to_owned);
    let ledger = field("ledger")?.parse().ok()?;
    let cluster = field("cluster")?.parse().ok()?;
    let (n, m) = (field("n")?.parse().ok()?, field("m")?.parse().ok()?);
    let (slot, generation) = (field("slot")?.parse().ok()?, field("generation")?.parse().ok()?);
    Some(Stamp { ledger, cluster, layout: Layout::new(n, m).ok()?, slot, generation })
}
