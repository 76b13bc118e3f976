//! A block with an expiry time.

use std::time::Instant;

use sequent_core::Block;

/// A block of numbers, and the time at which they expire, if they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExpiringBlock {
    pub(crate) numbers: Block,
    pub(crate) expires_at: Option<Instant>,
}

impl ExpiringBlock {
    /// The first `count` numbers and the rest, each with the expiry time of the whole. `None` for an empty side.
    pub(crate) fn split_at(self, count: u64) -> (Option<Self>, Option<Self>) {
        let (head, rest) = self.numbers.split_at(count);
        let with_expiry = |numbers| Self { numbers, expires_at: self.expires_at };
        (head.map(with_expiry), rest.map(with_expiry))
    }
}

#[cfg(not(loom))]
impl ExpiringBlock {
    pub(crate) fn is_expired(&self, now: Instant) -> bool {
        self.expires_at.is_some_and(|expires_at| expires_at <= now)
    }
}

impl From<Block> for ExpiringBlock {
    fn from(numbers: Block) -> Self {
        Self { numbers, expires_at: None }
    }
}
