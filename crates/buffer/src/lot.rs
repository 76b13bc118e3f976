//! A block as the reservoir keeps it.

use std::time::Instant;

use sequent_core::Block;

/// A block, and when it must have been used, if it ages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lot {
    pub(crate) block: Block,
    pub(crate) until: Option<Instant>,
}

impl Lot {
    /// The first `count` numbers and the rest, each ageing like the whole. `None` for an empty side.
    pub(crate) fn split_at(self, count: u64) -> (Option<Self>, Option<Self>) {
        let (head, rest) = self.block.split_at(count);
        let lot = |block| Self { block, until: self.until };
        (head.map(lot), rest.map(lot))
    }
}

#[cfg(not(loom))]
impl Lot {
    pub(crate) fn expired(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}

impl From<Block> for Lot {
    fn from(block: Block) -> Self {
        Self { block, until: None }
    }
}
